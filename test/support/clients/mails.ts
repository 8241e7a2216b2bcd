import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '../../../src/store/database.ts'
import type { System } from '../../../src/system.ts'
import { eventually, eventuallyIs } from '../eventually.ts'

/** A mail as it was written to a file. */
export interface Letter {
  date: string
  from: string
  to: string
  subject: string
  text: string
}

/** The mails that were written for an address so far, oldest first. */
export function lettersTo(system: System, address: string): Letter[] {
  return readFolder(system.mailer.destination)
    .map(parseLetter)
    .filter(({ to }) => to === address)
}

/** The mails to an address, oldest first, when none of those that answered requests have caused waits to be sent. */
export async function allLettersTo(system: System, address: string): Promise<Letter[]> {
  await eventuallyIs(() => query(system.db, `select from work where payload ->> 'to' = :address`, { address }), [])
  return lettersTo(system, address)
}

/** The latest mail to an address, once `count` have arrived. */
export async function letterTo(system: System, address: string, count = 1): Promise<Letter> {
  await eventually(async () => lettersTo(system, address).length >= count)
  return lettersTo(system, address).at(-1)!
}

function readFolder(folder: string): string[] {
  try {
    const complete = readdirSync(folder).filter((name) => name.endsWith('.txt'))
    return complete.sort().map((name) => readFileSync(join(folder, name), 'utf8'))
  } catch (error) {
    // The service makes the folder when it writes the first mail.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function parseLetter(file: string): Letter {
  const match = /^Date: (.*)\nFrom: (.*)\nTo: (.*)\nSubject: (.*)\n\n([^]*)$/.exec(file)
  if (match === null) throw new Error(`not a mail: ${file}`)
  const [, date, from, to, subject, text] = match as unknown as string[]
  return { date: date!, from: from!, to: to!, subject: subject!, text: text! }
}
