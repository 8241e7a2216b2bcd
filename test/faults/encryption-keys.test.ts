import { randomBytes } from 'node:crypto'
import test from 'ava'
import { reconcileAll } from '../../src/service/domains/reconcile.ts'
import { query } from '../../src/store/database.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import { ENCRYPTION_KEY, environmentFor } from '../support/servers/service.ts'

// KEY_ENCRYPTION_KEYS, with which the keys of the zones are encrypted.

const servers = useServers()
const NEW = randomBytes(32).toString('base64')

async function run(keys: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = environmentFor(servers().backends, { KEY_ENCRYPTION_KEYS: keys, LOG_LEVEL: 'error' })
  const { ended, output } = startOurs(args, env)
  return { code: await ended, output: output() }
}

const stored = () => query<{ dnskey: string; secret: Buffer }>(servers().system.db, 'select * from keys order by 1, 2')

test.serial('with a wrong key neither the service nor a command starts, and nothing is lost', async (t) => {
  const service = await servers().start()
  for (const name of ['a.example', 'b.example']) t.is((await service.api.post('/domains/', { name })).status, 201)
  await service.kill()
  const before = await stored()
  const text =
    'zoneplane: no key of KEY_ENCRYPTION_KEYS decrypts the secret of zone a.example. Set the keys with which this ' +
    'database was used before; with a private Postgres, the key is in the file key-encryption-key of the data folder. ' +
    'Nothing was changed\n'
  for (const command of ['start', 'reconcile', 'encrypt-again', 'migrate']) {
    const { code, output } = await run(NEW, command)
    t.is(code, 1)
    t.true(output.endsWith(text), output)
  }
  t.deepEqual(await stored(), before)
  t.is((await servers().start()).output().includes('error'), false)
  t.deepEqual(await discrepancies(servers()), [])
  await servers().killServices()
})

test.serial('after encrypt-again, the old key is of no more use', async (t) => {
  const before = await stored()
  const { code, output } = await run(`${NEW},${ENCRYPTION_KEY}`, 'encrypt-again')
  t.is(output, 'second factors: 0 secrets encrypted\nDNSSEC keys: 2 encrypted\ntransfer keys: 0 encrypted\n')
  t.is(code, 0)
  const after = await stored()
  t.deepEqual(
    after.map(({ dnskey }) => dnskey),
    before.map(({ dnskey }) => dnskey),
  )
  for (const [i, { secret }] of after.entries()) t.notDeepEqual(secret, before[i]!.secret)
  await servers().pdns('DELETE', '/zones/a.example.')
  t.is((await run(ENCRYPTION_KEY, 'reconcile')).code, 1)
  t.deepEqual(await run(NEW, 'reconcile'), { code: 0, output: 'a.example: repaired\n' })
  const [key] = (await servers().pdns('GET', '/zones/a.example./cryptokeys')).json as { dnskey: string }[]
  t.true(before.some(({ dnskey }) => dnskey === key!.dnskey))
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial(
  'a key that was moved to another domain is of no use, and the zone is not made with a new one',
  async (t) => {
    await run(`${ENCRYPTION_KEY},${NEW}`, 'encrypt-again')
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
  },
)

test.serial('with the key lost, PowerDNS still has the keys of the zones, which a new one encrypts', async (t) => {
  const { db } = servers().system
  await query(db, `delete from domains where name = 'a.example'`)
  await query(db, 'delete from marks')
  const before = await stored()
  t.is(before.length, 1)
  await query(db, 'delete from keys')
  const newest = randomBytes(32).toString('base64')
  t.deepEqual(await run(newest, 'reconcile'), { code: 0, output: 'All zones are as the database says.\n' })
  t.deepEqual(
    (await stored()).map(({ dnskey }) => dnskey),
    before.map(({ dnskey }) => dnskey),
  )
  t.is((await run(newest, 'migrate')).code, 0)
})
