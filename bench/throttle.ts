import { openDatabase, query } from '../src/store/database.ts'
import { median, medians, state } from './support/measure.ts'
import type { Service, Setup } from './support/setup.ts'
import { rrset, zone } from './support/zones.ts'

const ROUNDS = 20
const BATCH = 250
const RUNS = 1_000

/** As many windows as by default, with limits that are never reached. */
const ON = {
  THROTTLE: 'on',
  THROTTLE_RATES: 'dns_api_cheap=1000000/s, 1000000/min; user=1000000/d',
}
const KINDS: [string, Record<string, string>][] = [
  ['off', {}],
  ['in memory', ON],
  ['in Postgres', { ...ON, THROTTLE_STORE: 'postgres' }],
]

/** Settings with which all writes but the first are refused. */
const FULL = {
  THROTTLE: 'on',
  THROTTLE_RATES: 'dns_api_per_domain_expensive=1000000/s, 1000000/min, 1000000/h, 1/d; user=1000000/d',
}
const RESTRICTED = 'the-secret-of-a-restricted-token'

/** The CPU time, time and statements that throttling adds to a GET of one RRset, with each store of counters. */
export async function throttle(setup: Setup): Promise<void> {
  await setup.api('POST', '/domains/', { name: zone('throttle') })
  await setup.api('POST', `/domains/${zone('throttle')}/rrsets/`, rrset('host', 1))
  const get = ({ api }: Service) => api('GET', `/domains/${zone('throttle')}/rrsets/host/A/`)

  // Two of each kind, because even equal processes differ by some percent.
  const pairs: Service[][] = KINDS.map(() => [])
  for (let i = 0; i < 2; i++) {
    for (const [kind, [, settings]] of KINDS.entries()) pairs[kind]!.push(await setup.another(settings))
  }
  for (const service of pairs.flat()) await spend(service, get, RUNS)

  // Alternating, and compared within a round, so that other load on the machine affects all alike.
  const cpu: number[][] = KINDS.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < KINDS.length; turn++) {
      const kind = (round + turn) % KINDS.length
      const [one, other] = pairs[kind] as [Service, Service]
      cpu[kind]!.push(((await spend(one, get, BATCH)).cpu + (await spend(other, get, BATCH)).cpu) / 2)
    }
  }
  for (const [kind, [name]] of KINDS.entries()) {
    const more = median(cpu[kind]!.map((each, round) => each / cpu[0]![round]! - 1))
    state(
      `GET of one RRset, throttling ${name}`,
      `${(median(cpu[kind]!) * 1000).toFixed(0)} µs CPU, ${(more * 100).toFixed(1)} % more`,
    )
  }

  const gets = pairs.map(
    ([service]) =>
      async () =>
        get(service!),
  )
  const times = await medians(RUNS, ...gets)
  for (const [kind, [name]] of KINDS.entries()) {
    const { statements } = await spend(pairs[kind]![0]!, get, RUNS)
    state(`  its p50 ${name}`, `${times[kind]!.toFixed(2)} ms, ${statements.toFixed(2)} statements`)
  }
  await refused(setup)
}

/** The cost of writes that get 429: of a token without policies, and of one that may write nothing. */
async function refused({ another, databaseUrl, secret }: Setup): Promise<void> {
  const db = openDatabase(databaseUrl, 1)
  await query(
    db,
    `with token as (
       insert into tokens (created, owner_id, secret_hash)
       select now(), owner_id, sha256(convert_to(:secret, 'UTF8')) from tokens limit 1 returning id
     ) insert into policies (created, token_id) select now(), id from token`,
    { secret: RESTRICTED },
  )
  await db.end()
  const write = (sender: string) => async (service: Service) =>
    service.send('DELETE', `/domains/${zone('throttle')}/rrsets/absent/A/`, '', sender)
  const kinds = [
    ['token without policies', write(secret)],
    ['token with policies', write(RESTRICTED)],
  ] as const
  for (const [name, settings] of [
    ['in memory', FULL],
    ['in Postgres', { ...FULL, THROTTLE_STORE: 'postgres' }],
  ] as const) {
    const service = await another(settings)
    for (const [, request] of kinds) await spend(service, request, 2 * RUNS)
    const spent: { cpu: number; statements: number }[][] = kinds.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [kind, [, request]] of kinds.entries()) spent[kind]!.push(await spend(service, request, BATCH))
    }
    for (const [kind, [what]] of kinds.entries()) {
      const cpu = median(spent[kind]!.map((each) => each.cpu))
      const statements = median(spent[kind]!.map((each) => each.statements))
      const figures = `${(cpu * 1000).toFixed(0)} µs CPU, ${statements.toFixed(2)} statements`
      state(`429, ${name}, ${what}`, figures)
    }
  }
}

/** The CPU time in milliseconds and the statements to Postgres that the service needs for one request. */
async function spend(service: Service, request: (service: Service) => Promise<unknown>, requests: number) {
  const before = await service.inside()
  for (let i = 0; i < requests; i++) await request(service)
  const after = await service.inside()
  return { cpu: (after.cpu - before.cpu) / requests, statements: (after.statements - before.statements) / requests }
}
