import test, { type ExecutionContext } from 'ava'
import { isBusy, newDomain, patiently } from '../support/clients/api.ts'
import { type Answer, Client } from '../support/clients/client.ts'
import { addresses, served, told, update } from '../support/clients/dyndns.ts'
import { depth } from '../support/depth.ts'
import { query, rrsetsOf } from '../support/dns/wire.ts'
import { isConsistent, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'
import { type LocalService, startService } from '../support/servers/service.ts'

// Writers side by side. Half of them use one process of the service, half another. Both processes share the connections
// that PowerDNS can handle.

const ENVIRONMENT = { THROTTLE: 'off', PDNS_CONNECTIONS: '4' }
const service = useService(ENVIRONMENT)
let second: LocalService

/** Contract §10 when many routers get new addresses at once, as after a power cut. */
const ROUTERS = 50

let pair: [Client, Client]

test.before('two processes', async () => {
  second = await startService(service().backends, ENVIRONMENT)
  const { api, secret } = await service().account()
  pair = [api, second.clientOf(secret)]
})

test.after.always('the second process stops', () => second.stop())

interface RRsetBody {
  records: string[]
  touched: string
}

const WRITERS = 16
const WRITES = depth(128, 512)

/** A router's IPv4 and IPv6 address. */
function both(router: number): string {
  return `192.0.2.${router} 2001:db8::${router.toString(16)}`
}

/** Updates all routers at once, each under the name that `nameOf` returns, through these clients in turn. */
function updateAtOnce(through: Client[], nameOf: (router: number) => string, attempt = patiently): Promise<Answer[]> {
  const routers = Array.from({ length: ROUTERS }, (_, i) => i + 1)
  return Promise.all(
    routers.map((router) => {
      const parameters = { hostname: nameOf(router), myip: both(router).replace(' ', ',') }
      return attempt(() => update(through[router % through.length]!, parameters))
    }),
  )
}

/** The addresses in the last PATCH that was sent to PowerDNS for a domain. */
function publishedLast(domain: string): string {
  const matches = ({ method, path }: { method: string; path: string }) =>
    method === 'PATCH' && path.includes(`${domain}.`)
  const { body } = service().proxy.calls.findLast(matches)!
  return [/192\.0\.2\.\d+/, /2001:db8::[0-9a-f]+/].map((address) => address.exec(body)![0]).join(' ')
}

test.serial('16 writers on one zone lose no update', async (t) => {
  await writeSideBySide(t, ['one.test'])
})

test.serial('16 writers on 16 zones lose no update', async (t) => {
  await writeSideBySide(
    t,
    Array.from({ length: 16 }, (_, i) => `z${i}.test`),
  )
})

test.serial(`${ROUTERS} routers each update their own name at once, three times`, async (t) => {
  const domain = await newDomain(pair[0])
  for (const shift of [0, 1, 2]) {
    const nameOf = (router: number) => `r${(router + shift) % ROUTERS}.${domain}`
    for (const answer of await updateAtOnce(pair, nameOf)) t.deepEqual(told(answer), [200, 'good'])
    for (let router = 1; router <= ROUTERS; router++) t.is(await served(service(), nameOf(router)), both(router))
  }
})

test.serial(`${ROUTERS} routers update the same name at once: the last update wins, with both addresses`, async (t) => {
  const domain = await newDomain(pair[0])
  for (const answer of await updateAtOnce(pair, () => domain)) t.deepEqual(told(answer), [200, 'good'])
  const shown = await served(service(), domain)
  t.is(shown, publishedLast(domain))
  t.is(await addresses(pair[0], domain, ''), shown)
})

test.serial('with throttling, 20 updates are accepted, and the others are answered 429 with Retry-After', async (t) => {
  const { api, secret } = await service().account()
  const domain = await newDomain(api)
  const { clientOf, stop } = await startService(service().backends, { THROTTLE: 'on' })
  const answers = await updateAtOnce(
    [clientOf(secret)],
    () => domain,
    (request) => request(),
  )
  await stop()
  const throttled = answers.filter(({ status }) => status === 429)
  const accepted = answers.flatMap(({ status }, i) => (status === 200 ? [both(i + 1)] : []))
  t.is(throttled.length, ROUTERS - 20)
  t.is(accepted.length + answers.filter(isBusy).length, 20)
  for (const { headers } of throttled) t.regex(String(headers['retry-after']), /^1?[0-9]{2}$/)
  const shown = await served(service(), domain)
  t.is(shown, publishedLast(domain))
  t.true(accepted.includes(shown))
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})

/**
 * 16 writers make `WRITES` writes in total. Each writes to one of the zones: to its own RRset, and to one that all
 * writers of the zone share. Half of them use one process of the service, half another.
 */
async function writeSideBySide(t: ExecutionContext, names: string[]): Promise<void> {
  const zones = await Promise.all(names.map((name) => Zone.create(service(), pair[0], name)))
  for (const zone of zones) await zone.put('shared', 'TXT', ['"nobody"'])
  const shared = new Map<Zone, RRsetBody[]>(zones.map((zone) => [zone, []]))

  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const zone = zones[writer % zones.length]!
    const api = pair[writer % 2]!
    let own: string[] | undefined
    for (let i = 0; i < WRITES / WRITERS; i++) {
      const records = [`"writer ${writer}, write ${i}"`]
      if (i % 3 === 2) {
        const body = acknowledged(t, await api.patch(path(zone, 'shared'), { records }), 200)
        shared.get(zone)!.push(body)
      } else if (own === undefined) {
        const rrset = { subname: `own${writer}`, type: 'TXT', ttl: 60, records }
        own = acknowledged(t, await api.post(`/domains/${zone.name}/rrsets/`, rrset), 201).records
      } else {
        own = acknowledged(
          t,
          await api.put(path(zone, `own${writer}`), { ...ownKey(writer), ttl: 60, records }),
          200,
        ).records
      }
      if (i % 7 === 6) {
        t.is((await api.delete(path(zone, `own${writer}`))).status, 204)
        own = undefined
      }
    }
    await isStored(t, api, zone, `own${writer}`, own)
  })
  await Promise.all(writers)

  for (const [zone, bodies] of shared) {
    const last = bodies.reduce((latest, body) => (body.touched > latest.touched ? body : latest))
    t.is(new Set(bodies.map((body) => body.touched)).size, bodies.length, 'each write has a time of its own')
    await isStored(t, pair[0], zone, 'shared', last.records)
  }
}

const ownKey = (writer: number) => ({ subname: `own${writer}`, type: 'TXT' })

function acknowledged(t: ExecutionContext, { status, text, json }: Answer, expected: number): RRsetBody {
  t.is(status, expected, text)
  return json as RRsetBody
}

/** Asserts that the API and DNS have these records, or no RRset at all. */
async function isStored(
  t: ExecutionContext,
  api: Client,
  zone: Zone,
  subname: string,
  records: string[] | undefined,
): Promise<void> {
  const { status, json } = await api.get(path(zone, subname))
  t.is(status, records === undefined ? 404 : 200)
  if (records !== undefined) t.deepEqual((json as RRsetBody).records, records)
  const { answers } = await query(service().powerDns, zone.at(subname), 'TXT')
  const served = rrsetsOf(answers).flatMap((rrset) => rrset.records)
  t.deepEqual(served, records ?? [])
}

function path(zone: Zone, subname: string): string {
  return `/domains/${zone.name}/rrsets/${subname}/TXT/`
}
