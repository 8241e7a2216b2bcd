import type { Command } from 'commander'
import { keepStrangers } from '../service/adoption/strangers.ts'
import { backUp, type Contents, restoreDatabase } from '../service/operation/backup.ts'
import type { System } from '../system.ts'
import type { AddCommand, Outcome } from './command.ts'
import { rebuild } from './reconcile.ts'

/** The names of the counts that a summary shows, and their tables. */
const COUNTED = { domains: 'domains', RRsets: 'rrsets', keys: 'keys', accounts: 'accounts', tokens: 'tokens' }

export function addBackup(program: Command, add: AddCommand): void {
  add(program, 'backup <file>', { schema: false }, (system, file: string) =>
    untilStopped((signal) => makeBackup(system, file, signal)),
  ).description('write the whole database to a new file, and check it; the service can run meanwhile')
  add(program, 'restore <file>', { nameserver: true, schema: false }, restore).description(
    'fill an empty database from a backup, then repair the zones at PowerDNS; stop the service first',
  )
}

async function makeBackup(system: System, file: string, signal: AbortSignal): Promise<Outcome> {
  const { contents, size, problem } = await backUp(system, file, signal)
  return {
    lines: [
      `${file}: ${summary(contents)}; ${Math.ceil(size / 1000)} kB`,
      'It was read again: each table has as many rows as in the database.',
      problem === undefined
        ? 'KEY_ENCRYPTION_KEYS, which fits it, is not in it: keep a copy of the keys apart from it.'
        : `KEY_ENCRYPTION_KEYS does not fit it: ${problem}.`,
    ],
    json: {
      file,
      size,
      schema: contents.schema,
      counts: Object.fromEntries(contents.counts),
      problem: problem ?? null,
    },
    succeeded: problem === undefined,
  }
}

async function restore(system: System, file: string): Promise<Outcome> {
  const contents = await restoreDatabase(system, file)
  process.stderr.write(`zoneplane: restored ${summary(contents)}\n`)
  const { lines, json, succeeded } = await rebuild(system)
  const strangers = await keepStrangers(system)
  return {
    lines: [
      `The database is as it was when ${file} was made.`,
      ...lines,
      ...strangers.map((name) => `${name}: at PowerDNS, but not in the backup; left alone`),
      ...(strangers.length === 0 ? [] : ['`zoneplane adopt` makes domains of such zones.']),
    ],
    json: { schema: contents.schema, counts: Object.fromEntries(contents.counts), zones: json, strangers },
    succeeded: succeeded ?? true,
  }
}

/** Summarises a backup: `2 domains, 7 RRsets, …; schema 14_adoption`. */
function summary({ counts, schema }: Contents): string {
  const parts = Object.entries(COUNTED).map(([what, table]) => `${counts.get(`public.${table}`) ?? 0} ${what}`)
  return `${parts.join(', ')}; schema ${schema}`
}

/** Runs `work`, and aborts its signal on SIGINT or SIGTERM, so that it can clean up. */
async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController()
  const stop = () => {
    stopping.abort()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work(stopping.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
