import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unprivilegedAccount } from '../../../dev/account.ts'
import { giveTo } from '../../../dev/instance-folder.ts'
import { newFolder } from './folders.ts'
import { SQLITE_SCHEMA } from './packages.ts'

/** The settings of PowerDNS' SQLite backend with a new, empty database. */
export function sqliteBackend(): string[] {
  const folder = newFolder()
  const file = join(folder, 'zones')
  execFileSync('sqlite3', [file], { input: readFileSync(SQLITE_SCHEMA) })
  const account = unprivilegedAccount('pdns')
  giveTo(account, folder)
  return [
    'launch=gsqlite3',
    `gsqlite3-database=${file}`,
    'gsqlite3-dnssec=yes',
    'gsqlite3-pragma-foreign-keys=yes',
    'gsqlite3-pragma-synchronous=0',
  ]
}
