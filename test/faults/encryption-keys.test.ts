import { randomBytes } from 'node:crypto'
import { StartError } from '../../src/errors.ts'
import { createLog } from '../../src/log.ts'
import { createSystem, prepare, requireNameserver } from '../../src/process/create-system.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { readConfig } from '../../src/settings/config.ts'
import { query } from '../../src/store/database.ts'
import { commandsOn } from '../support/command-line.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { runOurs } from '../support/servers/programs.ts'
import { ENCRYPTION_KEY, environmentFor } from '../support/servers/service.ts'

// KEY_ENCRYPTION_KEYS, with which the keys of the zones are encrypted.

const servers = useServers()
const NEW = randomBytes(32).toString('base64')

/** Runs a command in this process. @throws StartError if the keys do not fit */
async function runHere(keys: string, ...args: string[]): Promise<[boolean, string]> {
  const { backends } = servers()
  const config = readConfig(environmentFor(backends, { KEY_ENCRYPTION_KEYS: keys }))
  await using system = createSystem(config, backends, createLog('error'))
  await prepare(system, backends)
  await requireNameserver(system)
  return await commandsOn(() => system)(...args)
}

const dnskeys = (keys: { dnskey: string }[]) => keys.map(({ dnskey }) => dnskey)
const stored = () => query<{ dnskey: string; secret: Buffer }>(servers().system.db, 'select * from keys order by 1, 2')

test('with a wrong key neither the service nor a command starts, and nothing is lost', async (t) => {
  const service = await servers().serve()
  for (const name of ['a.example', 'b.example']) t.is((await service.api.post('/domains/', { name })).status, 201)
  await service.stop()
  const before = await stored()
  const text =
    'zoneplane: no key of KEY_ENCRYPTION_KEYS decrypts the secret of zone a.example. Set the keys with which this ' +
    'database was used before; with a private Postgres, the key is in the file key-encryption-key of the data folder. ' +
    'Nothing was changed\n'
  const env = environmentFor(servers().backends, { KEY_ENCRYPTION_KEYS: NEW, LOG_LEVEL: 'error' })
  for (const command of ['start', 'reconcile', 'encrypt-again', 'migrate']) {
    const [code, output] = await runOurs([command], env)
    t.is(code, 1)
    t.true(output.endsWith(text), output)
  }
  t.deepEqual(await stored(), before)
  t.is((await servers().serve()).logged().includes('error'), false)
  t.deepEqual(await discrepancies(servers()), [])
  await servers().killServices()
})

test('after encrypt-again, the old key is of no more use', async (t) => {
  const before = await stored()
  const [succeeded, output] = await runHere(`${NEW},${ENCRYPTION_KEY}`, 'encrypt-again')
  const counts = [
    ...['second factors: 0 secrets', 'DNSSEC keys: 2', 'transfer keys: 0', 'TSIG keys of tokens: 0'],
    'secrets of webhooks: 0',
  ]
  t.is(output, counts.map((count) => `${count} encrypted\n`).join(''))
  t.true(succeeded)
  const after = await stored()
  t.deepEqual(dnskeys(after), dnskeys(before))
  for (const [i, { secret }] of after.entries()) t.notDeepEqual(secret, before[i]!.secret)
  await servers().pdns('DELETE', '/zones/a.example.')
  await t.throwsAsync(runHere(ENCRYPTION_KEY, 'reconcile'), { instanceOf: StartError })
  t.deepEqual(await runHere(NEW, 'reconcile'), [true, 'a.example: repaired\n'])
  const [key] = (await servers().pdns('GET', '/zones/a.example./cryptokeys')).json as { dnskey: string }[]
  t.true(before.some(({ dnskey }) => dnskey === key!.dnskey))
  t.deepEqual(await discrepancies(servers()), [])
})

test('a key that was moved to another domain is of no use, and the zone is not made with a new one', async (t) => {
  t.true((await runHere(`${ENCRYPTION_KEY},${NEW}`, 'encrypt-again'))[0])
  await query(
    servers().system.db,
    `update keys set secret = (select secret from keys where domain_id = (select id from domains where name = 'b.example'))
     where domain_id = (select id from domains where name = 'a.example')`,
  )
  await servers().pdns('DELETE', '/zones/a.example.')
  const { left } = await reconcileAll(servers().system, { contents: false })
  t.deepEqual(
    left.map(({ zone, lastError }) => ({ zone, lastError })),
    [{ zone: 'a.example', lastError: 'no key of KEY_ENCRYPTION_KEYS decrypts the secret of zone a.example' }],
  )
  t.is((await servers().pdns('GET', '/zones/a.example.')).status, 404)
})

test('with the key lost, PowerDNS still has the keys of the zones, which a new one encrypts', async (t) => {
  const { db } = servers().system
  await query(db, `delete from domains where name = 'a.example'`)
  await query(db, 'delete from marks')
  const before = await stored()
  t.is(before.length, 1)
  await query(db, 'delete from keys')
  const newest = randomBytes(32).toString('base64')
  t.deepEqual(await runHere(newest, 'reconcile'), [true, 'All zones are as the database says.\n'])
  t.deepEqual(dnskeys(await stored()), dnskeys(before))
  t.true((await runHere(newest, 'migrate'))[0])
})
