import { eraseRetiredKeys } from '../../src/service/domains/retention.ts'
import { accessOfOperator, begin, cancel } from '../../src/service/rollovers/rollovers.ts'
import { delegationsOf } from '../../src/service/secrets/signing-keys.ts'
import { query } from '../../src/store/database.ts'
import { currentTime, later } from '../../src/time.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { commandsOn } from '../support/command-line.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// A key that retired is kept for as long as somebody may need it: architecture.md, "Keys".

const servers = useServers()
const DAY = 86_400
const START = currentTime()

/** A domain with a retired key: that of a rollover that was taken back. */
async function withRetiredKey(name: string): Promise<{ name: string; ds: string }> {
  const { system, owner } = servers()
  const account = await emailOf(system, owner.id)
  await commandsOn(() => system)('domain', 'create', name, '--account', account)
  await begin(await accessOfOperator(system, name), { algorithm: 'ecdsa256', emergency: false })
  await cancel(await accessOfOperator(system, name))
  await query(
    system.db,
    `update keys set retired = :START
     where retired is not null and domain_id = (select id from domains where name = :name)`,
    { START, name },
  )
  const [dnskey] = await retiredKeys(name)
  return { name, ds: delegationsOf(name, dnskey!)[0]! }
}

async function retiredKeys(name: string): Promise<string[]> {
  const sql = `select dnskey from keys join domains on id = domain_id where name = :name and retired is not null`
  return (await query<{ dnskey: string }>(servers().system.db, sql, { name })).map(({ dnskey }) => dnskey)
}

/** Stores what a check found so many days after the key retired. */
async function see(name: string, days: number, ds: string[], state = 'secure'): Promise<void> {
  await query(
    servers().system.db,
    `insert into delegations (domain_id, state, checked, observation, due)
       select id, :state, :checked, :observation, now() from domains where name = :name
     on conflict (domain_id) do update set state = excluded.state, checked = excluded.checked,
       observation = excluded.observation`,
    {
      ...{ name, state, checked: later(START, days * DAY) },
      observation: JSON.stringify({ parent: 'example', servers: [{ ds: [] }, { ds }], nameservers: [] }),
    },
  )
}

/** Erases what is due so many days after the keys retired; returns whether the domain still has its retired key. */
async function keeps(name: string, days: number): Promise<boolean> {
  const { system } = servers()
  await eraseRetiredKeys({ ...system, now: () => later(START, days * DAY) })
  return (await retiredKeys(name)).length > 0
}

test('a retired key goes after a week if its DS is not at the parent', async (t) => {
  const { name } = await withRetiredKey('checked.example')
  await see(name, 1, [`4711 13 2 ${'ab'.repeat(32)}`])
  t.true(await keeps(name, 7))
  t.false(await keeps(name, 7.01))
  t.is((await lookUp(servers().powerDns, name, 'DNSKEY')).length, 1)
})

test('a retired key stays for as long as a server of the parent has its DS, with whatever digest', async (t) => {
  const { name, ds } = await withRetiredKey('seen.example')
  await see(name, 1, [ds.replace(/ [0-9a-f]+$/, ` ${'ab'.repeat(20)}`).replace(/ \d (?=[0-9a-f]+$)/, ' 1 ')])
  t.true(await keeps(name, 365))
  await see(name, 365, [])
  t.false(await keeps(name, 365))
})

test('without a check since it retired, it stays for 30 days', async (t) => {
  const never = (await withRetiredKey('never.example')).name
  const before = (await withRetiredKey('before.example')).name
  const unknown = (await withRetiredKey('unknown.example')).name
  await see(before, -1, [])
  await see(unknown, 1, [], 'unknown')
  for (const name of [never, before, unknown]) t.true(await keeps(name, 30), name)
  for (const name of [never, before, unknown]) t.false(await keeps(name, 30.01), name)
})
