import { alternating, percentile, state } from './measure.ts'
import type { Service, World } from './world.ts'
import { rrset, zone } from './zones.ts'

const ROUNDS = 40
const BATCH = 250
const RUNS = 1_000

/** As many windows as by default, and none that is ever full. */
const RATES = 'dns_api_cheap=1000000/s, 1000000/min; user=1000000/d'

/** What throttling adds to a GET of one RRset: CPU, time and statements, with either store of counts. */
export async function throttle(world: World): Promise<void> {
  const on = { THROTTLE: 'on', THROTTLE_RATES: RATES }
  const services: [string, Service][] = [
    ['off', world],
    ['in memory', await world.another(on)],
    ['in Postgres', await world.another({ ...on, THROTTLE_STORE: 'postgres' })],
  ]
  await world.api('POST', '/domains/', { name: zone('throttle') })
  await world.api('POST', `/domains/${zone('throttle')}/rrsets/`, rrset('host', 1))
  const get = ({ api }: Service) => api('GET', `/domains/${zone('throttle')}/rrsets/host/A/`)

  for (const [, service] of services) await spend(service, get, RUNS)
  // Round by round, so that whatever else the machine does is shared fairly.
  const cpu: number[][] = services.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [which, [, service]] of services.entries()) cpu[which]!.push((await spend(service, get, BATCH)).cpu)
  }
  const medians = cpu.map((each) =>
    percentile(
      each.sort((a, b) => a - b),
      0.5,
    ),
  )
  for (const [which, [name]] of services.entries()) {
    const more = which === 0 ? '' : `, ${((medians[which]! / medians[0]! - 1) * 100).toFixed(1)} % more`
    state(`GET of one RRset, throttling ${name}`, `${(medians[which]! * 1000).toFixed(0)} µs CPU${more}`)
  }

  const times = await alternating(
    RUNS,
    ...services.map(
      ([, service]) =>
        () =>
          get(service),
    ),
  )
  for (const [which, [name]] of services.entries()) {
    const { statements } = await spend(services[which]![1], get, RUNS)
    state(
      `GET of one RRset, throttling ${name}, p50`,
      `${percentile(times[which]!, 0.5).toFixed(2)} ms, ${statements.toFixed(2)} statements`,
    )
  }
}

/** Milliseconds of CPU and statements to Postgres that the service spends on one request. */
async function spend(service: Service, request: (service: Service) => Promise<unknown>, requests: number) {
  const before = await service.inside()
  for (let i = 0; i < requests; i++) await request(service)
  const after = await service.inside()
  return { cpu: (after.cpu - before.cpu) / requests, statements: (after.statements - before.statements) / requests }
}
