import test from 'ava'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../src/errors.ts'
import { defaultDataFolder } from '../../src/private-servers/instance-folder.ts'
import { startPostgres } from '../../src/private-servers/postgres.ts'
import { startPowerDns } from '../../src/private-servers/powerdns.ts'
import { newFolder } from '../support/servers/folders.ts'
import { quietly } from './processes.ts'

// The servers of an ordinary user run as that user, and so reach each of his folders.
const asRoot = process.getuid?.() === 0 ? test : test.skip

/** A folder below one that only root may enter. */
function closedFolder(): string {
  const closed = join(newFolder(), 'closed')
  mkdirSync(closed, { mode: 0o700 })
  return join(closed, 'open')
}

asRoot('Postgres and PowerDNS are not started below a folder that only root may enter', async (t) => {
  const message = /do not run as root, and user "\w+" cannot reach .* Set ZONEPLANE_DATA to a folder/
  const options = { durable: false, progress: quietly }
  await t.throwsAsync(startPostgres(closedFolder(), options), { instanceOf: StartError, message })
  await t.throwsAsync(startPowerDns(closedFolder(), { ...options, dnsPort: 0 }), { instanceOf: StartError, message })
})

asRoot('the data of a project in such a folder are in /var/lib/zoneplane', (t) => {
  const project = closedFolder()
  mkdirSync(project)
  t.is(defaultDataFolder(project), '/var/lib/zoneplane')
})

test('the data of other projects are beside them', (t) => {
  t.is(defaultDataFolder(newFolder()), '.zoneplane')
})
