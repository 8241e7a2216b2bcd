import { query } from '../../src/store/database.ts'
import * as marks from '../../src/store/zone/marks.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { validate } from '../support/dns/validators.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { type Program, startOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// PowerDNS' data folder is lost, and `zoneplane rebuild` fills a new one from the database, while no service runs.

const servers = useServers()
const ZONES = Array.from({ length: 30 }, (_, i) => `zone${i}.example`)
const ds = new Map<string, string[]>()

const rebuild = (more: Record<string, string> = {}): Program =>
  startOurs(['rebuild'], environmentFor(servers().backends, more))

async function losePowerDns(): Promise<void> {
  await servers().powerDns.stop()
  await servers().restartPowerDns({ empty: true })
}

test.before('there are zones', async () => {
  const service = await servers().serve()
  for (const name of ZONES) {
    const { json } = await service.api.post('/domains/', { name })
    ds.set(
      name,
      (json as { keys: { ds: string[] }[] }).keys.flatMap((key) => key.ds),
    )
    await service.api.post(`/domains/${name}/rrsets/`, { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] })
  }
  await service.stop()
})

test('with nothing lost, rebuild changes nothing', async (t) => {
  servers().proxy.calls.length = 0
  const { ended, output } = rebuild({ LOG_LEVEL: 'error' })
  t.is(await ended, 0)
  t.is(output(), 'No zone had to be made.\n')
  // The probe uses zones of its own.
  const changing = servers().proxy.calls.filter(({ method }) => method !== 'GET')
  const others = changing.filter(({ path, body }) => !`${path} ${body}`.includes('probe-'))
  t.deepEqual(others, [])
})

test('killed in the middle and begun again, it makes the zones that are missing, and tells its progress', async (t) => {
  await losePowerDns()
  servers().proxy.calls.length = 0
  const made = () =>
    servers().proxy.calls.filter(
      ({ method, path, body }) => method === 'POST' && /^\/zones\?/.test(path) && !/probe-/.test(body),
    )
  const middle = servers().proxy.stop(({ method }) => method === 'PATCH' && made().length > ZONES.length / 2)
  const first = rebuild()
  await middle.arrived
  first.child.kill('SIGKILL')
  await first.ended
  middle.release('pass')
  const before = made().length
  t.true(before > ZONES.length / 2 && before < ZONES.length)
  const second = rebuild()
  t.is(await second.ended, 0)
  t.regex(second.output(), /^zoneplane: 0 of \d+ zones\n/m)
  t.regex(second.output(), /^\d+ zones are as the database says again\.$/m)
  // At most those that the first had begun are made twice.
  t.true(made().length <= ZONES.length + 4)
  t.deepEqual(await discrepancies(servers()), [])
  t.deepEqual(await query(servers().system.db, 'select from marks where not settled'), [])
  for (const name of ZONES.slice(0, 3)) {
    t.is(await validate(servers().powerDns, name, ds.get(name)!, `www.${name}`, 'A'), 'fully validated')
  }
})

test('it waits for the zones that it has to make, not for those that are only written', async (t) => {
  const service = await servers().serve()
  const [lost, written, other] = ZONES as [string, string, string]
  const hold = (method: string, zone: string) =>
    servers().proxy.stop((call) => call.method === method && `${call.path} ${call.body}`.includes(`${zone}.`))
  const write = async (zone: string) => {
    const push = hold('PATCH', zone)
    const rrset = { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.2'] }
    const answer = service.api.put(`/domains/${zone}/rrsets/www/A/`, rrset)
    await push.arrived
    return { push, answer }
  }
  const writes = [await write(other)]
  for (const zone of [lost, written]) await servers().pdns('DELETE', `/zones/${zone}.`)
  const creation = hold('POST', lost)
  const { ended, output } = rebuild({ LOG_LEVEL: 'error' })
  await creation.arrived
  await eventually(async () => (await marks.list(servers().system.db, [written])).length === 0)
  writes.push(await write(written))
  creation.release('pass')
  t.is(await ended, 0, output())
  t.regex(output(), /^[12] zones are as the database says again\.$/m)
  for (const { push } of writes) push.release('pass')
  for (const { answer } of writes) t.is((await answer).status, 200)
  await service.stop()
  t.deepEqual(await discrepancies(servers()), [])
})

test('it tells which zones could not be made, and fails; the next one makes them', async (t) => {
  await losePowerDns()
  servers().proxy.fail(({ method, path }) =>
    method === 'POST' && path === '/zones/zone7.example./cryptokeys' ? { refuse: 500 } : 'pass',
  )
  const first = rebuild({ LOG_LEVEL: 'error' })
  t.is(await first.ended, 1)
  t.regex(first.output(), /^29 zones are as the database says again\.\nzone7\.example: not repaired: injected$/m)
  servers().proxy.heal()
  const second = rebuild()
  t.is(await second.ended, 0)
  t.regex(second.output(), /^1 zones are/m)
  t.deepEqual(await discrepancies(servers()), [])
})
