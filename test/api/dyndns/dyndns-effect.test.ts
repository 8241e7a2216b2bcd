import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { begin, query } from '../../../src/store/database.ts'
import {
  domainOf,
  freshName,
  newDomain,
  newRRset,
  setMinimumTtl,
  type ShownRRset,
  succeeded,
} from '../../support/clients/api.ts'
import { addresses, served, told, update } from '../../support/clients/dyndns.ts'
import { hold, plainRequest } from '../../support/clients/raw.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import type { Call } from '../../support/servers/proxy.ts'
import { waitingForLocks } from '../../support/state/transactions.ts'

// Contract §10.5: what an update changes, which tokens may send it, and its errors. The caller's address is
// 127.0.0.1 unless a test sets another.

const service = useService()
const account = useAccount(service)

async function get(domain: string, subname: string, type: string): Promise<ShownRRset> {
  return succeeded(await account().api.get(`/domains/${domain}/rrsets/${subname}/${type}/`), 200).json as ShownRRset
}

for (const minimumTtl of [1, 60, 3600]) {
  test(`the TTL is 60 where the minimum is ${minimumTtl}, even for RRsets that had another`, async (t) => {
    const domain = await newDomain(account().api)
    await newRRset(account().api, domain, { subname: 'old', ttl: 7200 })
    await newRRset(account().api, domain, { subname: 'same', ttl: 7200, records: ['192.0.2.2'] })
    await newRRset(account().api, domain, { subname: 'moved', ttl: 7200, type: 'AAAA', records: ['2001:db8::1'] })
    await newRRset(account().api, domain, { subname: 'kept', ttl: 7200 })
    await setMinimumTtl(service(), domain, minimumTtl)
    const hostname = ['new', 'old', 'same'].map((subname) => `${subname}.${domain}`).join()
    const own = { [`myipv6:moved.${domain}`]: 'fd00::/64', [`myipv4:kept.${domain}`]: 'preserve' }
    const answer = await update(account().api, { hostname, myip: '192.0.2.2', ...own })
    t.deepEqual(told(answer), [200, 'good\ngood\ngood\ngood\ngood'])
    for (const subname of ['new', 'old', 'same']) t.is((await get(domain, subname, 'A')).ttl, 60)
    t.is((await get(domain, 'moved', 'AAAA')).ttl, 60)
    t.is((await get(domain, 'kept', 'A')).ttl, 7200)
    t.is(await served(service(), `moved.${domain}`), ' fd00::1')
    // An update that changes nothing else sets the TTL, too.
    await setMinimumTtl(service(), domain, 60)
    succeeded(await account().api.patch(`/domains/${domain}/rrsets/same/A/`, { ttl: 7200 }), 200)
    t.deepEqual(told(await update(account().api, { hostname: `same.${domain}`, myip: '192.0.2.2' })), [200, 'good'])
    t.is((await get(domain, 'same', 'A')).ttl, 60)
  })
}

test('an update that shall be a dry run is refused, before its hosts are looked at', async (t) => {
  const domain = await newDomain(account().api)
  for (const hostname of [domain, 'foreign.test']) {
    const answer = await update(account().api, { hostname, myip: '192.0.2.9', dry_run: 'true' })
    t.deepEqual(told(answer), [400, 'Not supported here.'])
  }
  t.is(await addresses(account().api, domain, ''), ' ')
})

/** Parameters that do not change a name with an A, and whether they nevertheless write that A. */
for (const [title, parameters, isWritten] of [
  ['the same addresses', { myip: '192.0.2.1' }, true],
  ['only preserve', { myip: 'preserve' }, false],
  ['deleting an absent family', { myipv4: 'preserve', myipv6: '' }, false],
  ['a network for a family without addresses', { myipv4: 'preserve', myipv6: 'fd00::/64' }, false],
  ['the network of its address', { myip: '192.0.2.0/24', myipv6: 'preserve' }, true],
] as [string, Record<string, string>, boolean][]) {
  test(`an update without changes may update \`touched\`, but publishes nothing: ${title}`, async (t) => {
    const domain = await newDomain(account().api)
    const shown = await newRRset(account().api, domain, { subname: 'www', ttl: 60 })
    const before = await domainOf(account().api, domain)
    const calls = publications(domain)
    const answer = await update(account().api, { hostname: `www.${domain}`, ...parameters })
    t.deepEqual(told(answer), [200, 'good'])
    t.is(publications(domain), calls)
    const after = await domainOf(account().api, domain)
    t.true(after.touched > before.touched)
    t.deepEqual({ ...after, touched: '' }, { ...before, touched: '' })
    const kept = await get(domain, 'www', 'A')
    t.deepEqual({ ...kept, touched: '' }, { ...shown, touched: '' })
    t.is(kept.touched, isWritten ? after.touched : shown.touched)
    t.is(await addresses(account().api, domain, 'www'), '192.0.2.1 ')
  })
}

function isPublication({ method }: Call): boolean {
  return method === 'PATCH'
}

function publications(domain: string): number {
  return service().proxy.calls.filter((call) => isPublication(call) && call.path.includes(`${domain}.`)).length
}

test('an update of several names and families is one publication', async (t) => {
  const domain = await newDomain(account().api)
  const names = Array.from({ length: 20 }, (_, i) => `n${i}.${domain}`)
  const before = publications(domain)
  const hostname = names.join()
  const answer = await update(account().api, { hostname, myip: '192.0.2.1,2001:db8::1' })
  t.deepEqual(told(answer), [200, names.map(() => 'good').join('\n')])
  t.is(publications(domain), before + 1)
  for (const name of names) t.is(await served(service(), name), '192.0.2.1 2001:db8::1')
})

/** The parameters with the domain's name in place of `D`. */
function inDomain(parameters: Record<string, string>, domain: string): Record<string, string> {
  return JSON.parse(JSON.stringify(parameters).replaceAll('D', domain)) as Record<string, string>
}

test('one refused name refuses the whole update; a CNAME conflicts with either family, and not with deletions', async (t) => {
  const domain = await newDomain(account().api)
  await newRRset(account().api, domain, { subname: 'a', records: ['192.0.2.1'] })
  await newRRset(account().api, domain, { subname: 'alias', type: 'CNAME', records: ['a.test.'] })
  const before = await domainOf(account().api, domain)
  const conflict =
    'RRset with conflicting type present at same subname: database (CNAME). (No other RRsets are allowed alongside CNAME.)'
  const hostname = `a.${domain},alias.${domain}`
  t.deepEqual(told(await update(account().api, { hostname, myip: '192.0.2.2' })), [400, conflict])
  t.deepEqual(told(await update(account().api, { hostname, myip: '192.0.2.2,::1' })), [400, `${conflict}\n${conflict}`])
  t.is(await served(service(), `a.${domain}`), '192.0.2.1 ')
  t.deepEqual(await domainOf(account().api, domain), before)
  for (const myip of ['', 'preserve'])
    t.deepEqual(told(await update(account().api, { hostname: `alias.${domain}`, myip })), [200, 'good'])
  t.deepEqual((await get(domain, 'alias', 'CNAME')).records, ['a.test.'])
})

const FORBIDDEN = [403, 'Insufficient token permissions.'] as const
const GOOD = [200, 'good'] as const

/** The types that a token may write at `www`, an update, and its answer. `www` has an A and no AAAA. */
for (const [types, parameters, outcome] of [
  [[], { myip: '192.0.2.2' }, FORBIDDEN],
  [[], { myip: 'preserve' }, GOOD],
  [['A'], { myip: '192.0.2.2' }, FORBIDDEN],
  [['A'], { myip: '192.0.2.2', myipv6: '' }, FORBIDDEN],
  [['A'], { myip: '192.0.2.2', myipv6: 'fd00::/64' }, FORBIDDEN],
  [['A'], { myip: '192.0.2.1', myipv6: '' }, FORBIDDEN],
  [['A'], { myip: '192.0.2.2', myipv6: '::x' }, FORBIDDEN],
  [['A'], { myip: '192.0.2.2', myipv6: 'preserve' }, GOOD],
  [['AAAA'], { myip: '192.0.2.2,::2' }, FORBIDDEN],
  [['AAAA'], { myipv6: '::2' }, FORBIDDEN],
  [['AAAA'], { myipv6: '::2', myipv4: '' }, FORBIDDEN],
  [['AAAA'], { myipv6: '::2', myipv4: 'preserve' }, GOOD],
  [['A', 'AAAA'], { myip: '192.0.2.2' }, GOOD],
  [['A', 'AAAA'], { myip: '192.0.2.2', 'myipv6:other.D': '::2' }, FORBIDDEN],
  [['A', 'AAAA'], { myip: '192.0.2.2', 'myipv6:other.D': 'preserve' }, [200, 'good\ngood']],
] as [string[], Record<string, string>, [number, string]][]) {
  const given = types.join(' and ') || 'nothing'
  test(`a token that may write ${given}: ${JSON.stringify(parameters)}`, async (t) => {
    const domain = await newDomain(account().api)
    await newRRset(account().api, domain, { subname: 'www' })
    const before = await domainOf(account().api, domain)
    const token = await addToken(service(), account().id)
    const rows = types.map((type) => ({ domain, subname: 'www', type, write: true }))
    await addPolicies(service(), token.id, { write: false }, ...rows)
    const answer = await update(token.api, { hostname: `www.${domain}`, ...inDomain(parameters, domain) })
    t.deepEqual(told(answer), outcome)
    t.is(answer.headers['content-type'], 'text/plain')
    if (outcome[0] !== 200) {
      t.is(await addresses(account().api, domain, 'www'), '192.0.2.1 ')
      t.deepEqual(await domainOf(account().api, domain), before)
    }
  })
}

test('a refusal by PowerDNS is reported with its reason, one line for each RRset, and nothing is applied', async (t) => {
  const domain = await newDomain(account().api)
  await newRRset(account().api, domain, { subname: 'www' })
  const before = await domainOf(account().api, domain)
  service().proxy.fail((call) => (isPublication(call) ? { refuse: 422, error: 'Not today' } : 'pass'))
  const one = await update(account().api, { hostname: `www.${domain}`, myip: '192.0.2.2' })
  const two = await update(account().api, { hostname: `www.${domain}`, myip: '192.0.2.2,::2' })
  service().proxy.heal()
  t.deepEqual(told(one), [400, 'The DNS backend refused this RRset: Not today'])
  const line = 'The DNS backend refused one of these RRsets: Not today'
  t.deepEqual(told(two), [400, `${line}\n${line}`])
  t.deepEqual(await domainOf(account().api, domain), before)
  t.is(await addresses(account().api, domain, 'www'), '192.0.2.1 ')
  t.is(await served(service(), `www.${domain}`), '192.0.2.1 ')
})

test('an unexpected error is 500 without details', async (t) => {
  const domain = await newDomain(account().api, freshName())
  const { system } = service()
  const { now } = system
  const calls = { left: 1 }
  system.now = () => {
    if (calls.left-- > 0) return now()
    throw new Error('the clock is broken')
  }
  const answer = await update(account().api, { hostname: `www.${domain}`, myip: '192.0.2.1' })
  system.now = now
  t.deepEqual(told(answer), [500, 'Internal Server Error.'])
  t.is(answer.headers['content-type'], 'text/plain')
  t.true(service().logged().includes('the clock is broken'))
})

test('a client that is gone is known by the address that it had', async (t) => {
  const { api, secret } = account()
  const domain = await newDomain(api)
  const update = plainRequest(`GET /update?hostname=gone.${domain}`, [`Authorization: Token ${secret}`])
  await using trx = await begin(service().system.db)
  await query(trx.db, 'lock tokens')
  const sockets: Socket[] = []
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  subscribe('http.server.request.start', note)
  const { socket } = await hold(service().url, update)
  await eventuallyIs(() => waitingForLocks(trx.db), 1)
  unsubscribe('http.server.request.start', note)
  socket.resetAndDestroy()
  await eventuallyIs(() => sockets.map(({ destroyed }) => destroyed), [true])
  await trx.commit()
  await eventually(async () => (await addresses(api, domain, 'gone')) !== ' ')
  t.is(await addresses(api, domain, 'gone'), '127.0.0.1 ')
})
