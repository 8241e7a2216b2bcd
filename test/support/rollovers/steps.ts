import { carryOut } from '../../../src/service/rollovers/transitions.ts'
import { openPublication } from '../../../src/service/zone/publication.ts'
import { one, query } from '../../../src/store/database.ts'
import * as domains from '../../../src/store/domains/domains.ts'
import * as store from '../../../src/store/domains/rollovers.ts'
import { eventually } from '../eventually.ts'
import type { TestServers } from '../harness.ts'

// Rollovers with the waits of earnest: tests say in the database that they are over.

const PASS = `update rollovers set seen = 1, waited = 1000000000, confirmed = phase = 'await-ds', forced = phase = 'await-ds-ttl',
    check_at = now()
  where domain_id = (select id from domains where name = :name)`

/** Lets all time pass that a rollover waits for, and lets the parent do its part. */
export async function passTime({ system }: Pick<TestServers, 'system'>, name: string): Promise<void> {
  await query(system.db, PASS, { name })
}

/**
 * Lets the time of a phase pass until the next one, given as phaseOf() says it, and that is published. A look that began
 * before can end after the time has passed, and begin the wait anew: so time passes until no such look is left.
 */
export async function passTo(servers: Pick<TestServers, 'system'>, name: string, next: string): Promise<void> {
  const sql = 'select phase from rollovers join domains on id = domain_id where name = :name'
  await eventually(async () => {
    const phase = (await query<{ phase: string }>(servers.system.db, sql, { name }))[0]?.phase ?? 'done'
    if (phase === next.replace('back: ', '')) return true
    await query(servers.system.db, `${PASS} and phase = :phase`, { name, phase })
    return false
  })
  await published(servers, name)
}

/** Lets an hour pass for a rollover, as if a process of the service saw it pass, and then a look at it. */
export async function passHour({ system: { db } }: Pick<TestServers, 'system'>, name: string): Promise<void> {
  const { due } = await one<{ due: string }>(
    db,
    `update rollovers set counted = counted - interval '1 hour', check_at = now()
     where domain_id = (select id from domains where name = :name) returning cast(check_at as text) as due`,
    { name },
  )
  await store.addWaited(db, 3_600)
  const sql = `select from rollovers join domains on id = domain_id
    where name = :name and check_at = cast(:due as timestamptz)`
  await eventually(async () => (await query(db, sql, { name, due })).length === 0)
}

/** Takes a rollover to a phase, with the keys of that phase; undefined: to its end. */
export async function enter({ system }: Pick<TestServers, 'system'>, name: string, phase: store.Phase | undefined) {
  const rollover = (await store.all(system.db)).find((each) => each.name === name)!
  await using publication = await openPublication(system, 'test')
  const domain = (await domains.lock(publication.trx, name))!
  await carryOut(publication, domain, { ...rollover, phase, action: 'advance' })
}

/** The phase of a rollover to algorithm 15, `back: …` on the way back from it; `done`: there is none. */
export async function phaseOf({ system }: Pick<TestServers, 'system'>, name: string): Promise<string> {
  const sql = `select case when incoming[1] like '% 15 %' then phase else 'back: ' || phase end as phase
    from rollovers join domains on id = domain_id where name = :name`
  return (await query<{ phase: string }>(system.db, sql, { name }))[0]?.phase ?? 'done'
}

/** Resolves when PowerDNS has what the database says, and no request to it is in doubt. */
export async function published({ system }: Pick<TestServers, 'system'>, name: string): Promise<void> {
  await eventually(async () => (await query(system.db, 'select from marks where zone = :name', { name })).length === 0)
}

interface Key {
  dnskey: string
  active: boolean
  published: boolean
}

/** The keys of a zone as PowerDNS and the database have them, with their states. */
export async function keysOf(
  { system, pdns }: Pick<TestServers, 'system' | 'pdns'>,
  name: string,
): Promise<{ served: string[]; stored: string[] }> {
  const served = (await pdns('GET', `/zones/${name}./cryptokeys`)).json as Key[]
  const sql = `select dnskey, active, keys.published from keys join domains on id = domain_id
    where name = :name and retired is null`
  const stored = await query<Key>(system.db, sql, { name })
  const texts = (keys: Key[]) => keys.map(({ dnskey, active, published }) => `${dnskey} ${active} ${published}`).sort()
  return { served: texts(served), stored: texts(stored) }
}
