import test from 'ava'
import { query } from '../../src/store/database.ts'
import { readiness } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { useService, useZone } from '../support/harness.ts'
import { stored } from '../support/state/snapshot.ts'

// Contract §§2.2, 2.3 and 15.2: failures of the service itself, and RETRY_AFTER. Those of PowerDNS and Postgres are in
// test/faults/powerdns-away.test.ts, powerdns-fails.test.ts and postgres.test.ts.

const service = useService({ RETRY_AFTER: '7' })

const BUSY = '{"detail":"The request waited too long for its turn. Nothing was changed; please retry."}'
const INTERNAL = '{"detail":"Internal Server Error."}'

const zone = useZone(service, { ttl: 60 })

const rrsets = (rest = '') => `${zone().rrsets}${rest}`
const isUnavailable = ({ status, text, headers }: Answer, body: string) =>
  status === 503 && text === body && headers['retry-after'] === '7' && headers['content-type'] === 'application/json'

test.serial('a write that waits too long for the lock of its domain is 503 and changes nothing', async (t) => {
  const before = await stored(service().system.db)
  const other = await service().system.db.connect()
  await other.query('begin')
  await other.query('select from domains where name = $1 for update', [zone().domain])
  const answers = await Promise.all([
    zone().api.patch(rrsets('www/A/'), { ttl: 999 }),
    zone().api.delete(rrsets('www/A/')),
    zone().api.get(rrsets('www/A/')),
  ])
  await other.query('rollback')
  other.release()
  t.true(isUnavailable(answers[0], BUSY), answers[0].text)
  t.true(isUnavailable(answers[1], BUSY), answers[1].text)
  t.is(answers[2].status, 200)
  t.is(await stored(service().system.db), before)
  t.is((await zone().api.patch(rrsets('www/A/'), { ttl: 998 })).status, 200)
})

for (const [what, damage, repair] of [
  ['a table is missing', 'alter table rrsets rename to rrsets_away', 'alter table rrsets_away rename to rrsets'],
  ['a column is missing', 'alter table rrsets rename ttl to tt', 'alter table rrsets rename tt to ttl'],
] as const) {
  test.serial(`when ${what}, the answer is 500 without details, and the log has them once`, async (t) => {
    await query(service().system.db, damage)
    const logged = service().logged().length
    const answers = [
      await zone().api.get(rrsets(), { headers: { 'x-request-id': 'broken-1' } }),
      await zone().api.post(rrsets(), { subname: 'x', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
      await zone().api.delete(rrsets('www/A/')),
    ]
    await query(service().system.db, repair)
    for (const { status, text, headers } of answers) {
      t.deepEqual([status, text], [500, INTERNAL])
      t.is(headers['content-type'], 'application/json')
      t.is(headers['vary'], 'origin')
      t.is(headers['retry-after'], undefined)
      t.truthy(headers['allow'])
    }
    const lines = service().logged().slice(logged).trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const told = entries.filter(({ message, request }) => message === 'unexpected error' && request === 'broken-1')
    t.is(told.length, 1)
    t.regex(String(told[0]!['error']), /does not exist[^]*\n +at /)
    t.is((await zone().api.get(rrsets())).status, 200)
  })
}

test.serial('when migrations are missing, the service is not ready', async (t) => {
  const rename = (from: string, to: string) =>
    query(service().system.db, 'update knex_migrations set name = :to where name = :from', { from, to })
  await rename('01_accounts', '01_others')
  const { status, text, headers } = await readiness(service(), service().anonymous)
  await rename('01_others', '01_accounts')
  const checks = '{"database":"ok","migrations":"unavailable","powerdns":"ok"}'
  t.deepEqual([status, text], [503, `{"status":"unavailable","checks":${checks}}`])
  t.is(headers['retry-after'], '7')
})
