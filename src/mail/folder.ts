import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { MailFailure } from '../errors.ts'
import type { Mail, Mailer } from './mailer.ts'

/** Writes mails as files that only the process's user can read. Used if no mail server is configured. */
export function createFolderMailer(path: string, from: string): Mailer {
  const folder = resolve(path)
  return {
    destination: folder,
    async send(mail) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        // The file gets its final name when it is complete. A second attempt replaces it.
        const name = `${mail.created.replace(/[-:]/g, '').replace('.', '-')}-${mail.id}`
        await writeFile(join(folder, `.${name}`), format(mail, from), { mode: 0o600 })
        await rename(join(folder, `.${name}`), join(folder, `${name}.txt`))
      } catch (error) {
        throw new MailFailure((error as Error).message)
      }
    },
  }
}

function format({ created, to, subject, text }: Mail, from: string): string {
  return [`Date: ${created}`, `From: ${from}`, `To: ${to}`, `Subject: ${subject}`, '', text].join('\n')
}
