import { DnsClient } from '../../src/nameserver/wire/client.ts'
import { currentTime, later } from '../../src/time.ts'
import type { Account } from '../support/clients/accounts.ts'
import { domainOf, newDomain, succeeded } from '../support/clients/api.ts'
import { hardenedUnbound, validateByBoth } from '../support/dns/validators.ts'
import { startWorld, type World } from '../support/dns/world.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §15.9: what the service says of a delegation, beside what validators say of the domain. The parent zones are
// domains of the service, too.

const OURS = ['ns1.zoneplane.test', 'ns2.zoneplane.test']
const PARENT = 'parent.example'
const BROKEN = 'broken.example'
/** Of no key. */
const ELSEWHERE = `1 13 2 ${'ab'.repeat(32)}`

const service = useService({ PRIVATE_TRANSFERS: 'on', THROTTLE: 'off' })
let account: Account
let world: World
let anchor: string[]

test.before('a world above', async () => {
  account = await service().account({ limitDomains: null })
  // The resolver trusts a key that has not signed the second parent zone.
  world = await startWorld(service().powerDns, { [BROKEN]: ELSEWHERE })
  Object.assign(service().system, { parents: world.parents() })
  for (const zone of [PARENT, BROKEN]) await newDomain(account.api, zone)
  anchor = await dsOf(PARENT)
  await world.delegate([PARENT, BROKEN].flatMap((zone) => OURS.map((host) => `${zone}. NS ${host}.`)))
})

test.after.always(async () => {
  await (world as World | undefined)?.close()
})

async function dsOf(domain: string): Promise<string[]> {
  return (await domainOf(account.api, domain)).keys[0]!.ds
}

interface Shown {
  state: string
  parent: string | null
  problems: string[]
}

async function check(domain: string): Promise<Shown> {
  return succeeded(await account.api.post(`/domains/${domain}/delegation/`), 200).json as Shown
}

/** Creates a domain, and gives its parent zone these NS and DS. */
async function delegated(domain: string, ns: string[], ds: string[]): Promise<void> {
  const [subname] = domain.split('.')
  const path = `/domains/${domain.slice(subname!.length + 1)}/rrsets/`
  for (const [type, records] of Object.entries({ NS: ns.map((host) => `${host}.`), DS: ds })) {
    if (records.length > 0) succeeded(await account.api.post(path, { subname, type, ttl: 3600, records }), 201)
  }
}

/** A DS with another digest. */
const wrong = (ds: string) => ds.replace(/[0-9a-f]+$/i, (hex) => 'ab'.repeat(hex.length / 2))

interface Row {
  what: string
  ns?: string[]
  ds: (own: string[]) => string[]
  state: string
  /** Pieces of the sentences, in their order. */
  problems: RegExp[]
  /** What Unbound and delv say of the domain, which both say. */
  verdict: RegExp
  /** What Unbound says with `harden-algo-downgrade`, if it differs. */
  hardened?: RegExp
}

const WHERE = 'in the zone parent\\.example, which this service has, too'
const UNPROTECTED = new RegExp(`^Add the DS record ".* 13 2 .*" ${WHERE}: until then, the domain is not protected`)
const REJECTED = new RegExp(`^Add the DS record ".* 13 2 .*" ${WHERE}: until then, validating resolvers reject`)
const REMOVE = new RegExp(`^Remove the DS record ".*" ${WHERE}: the domain has no such key`)

const TABLE: Row[] = [
  {
    what: 'neither NS nor DS',
    ns: [],
    ds: () => [],
    state: 'not-delegated',
    problems: [/^The parent zone parent\.example, which this service has, too, .*validating resolvers reject it\. Add these record sets/],
    verdict: /^failed: /,
  },
  { what: 'no DS', ds: () => [], state: 'insecure', problems: [UNPROTECTED], verdict: /^unsigned answer$/ },
  { what: 'the right DS', ds: (own) => own, state: 'secure', problems: [], verdict: /^fully validated$/ },
  { what: 'a DS of no key', ds: () => [ELSEWHERE], state: 'mismatch', problems: [REJECTED, REMOVE], verdict: /^failed: / },
  {
    what: 'a DS of an unknown algorithm',
    ds: () => [`4711 200 2 ${'ab'.repeat(32)}`],
    state: 'mismatch',
    problems: [UNPROTECTED, REMOVE],
    verdict: /^unsigned answer$/,
  },
  {
    what: 'a DS of an unknown digest type',
    ds: () => [`4711 13 99 ${'ab'.repeat(32)}`],
    state: 'mismatch',
    problems: [UNPROTECTED, REMOVE],
    verdict: /^unsigned answer$/,
  },
  {
    what: 'a DS of an unknown algorithm, and one of no key',
    ds: () => [`4711 200 2 ${'ab'.repeat(32)}`, ELSEWHERE],
    state: 'mismatch',
    problems: [REJECTED, REMOVE, REMOVE],
    verdict: /^failed: /,
  },
  {
    what: 'a right DS of digest type 2, and a wrong one of type 4 with the same key tag',
    ds: ([two, four]) => [two!, wrong(four!)],
    state: 'stale',
    problems: [REMOVE, /digest type 4, and some resolvers then ignore the other types/],
    verdict: /^fully validated$/,
    hardened: /^failed: /,
  },
] // prettier-ignore

for (const [i, { what, ns = OURS, ds, state, problems, verdict, hardened = verdict }] of TABLE.entries()) {
  test(`a parent hosted here has ${what}: ${state}, and validators say ${verdict.source}`, async (t) => {
    const domain = await newDomain(account.api, `row${i}.${PARENT}`)
    await delegated(domain, ns, ds(await dsOf(domain)))
    const shown = await check(domain)
    t.like(shown, { state, parent: PARENT })
    t.is(shown.problems.length, problems.length, shown.problems.join('\n'))
    for (const [n, problem] of problems.entries()) t.regex(shown.problems[n]!, problem)
    const question = [service().powerDns, PARENT, anchor, domain, 'SOA'] as const
    t.regex(await validateByBoth(...question), verdict)
    t.regex(await hardenedUnbound(...question), hardened)
  })
}

test('the record sets that the service names make the domain secure', async (t) => {
  const domain = await newDomain(account.api, `copied.${PARENT}`)
  const { problems } = await check(domain)
  const lines = [...problems[0]!.matchAll(/"(\S+) (\d+) (NS|DS) ([^"]+)"/g)]
  const of = (type: string) => lines.flatMap((line) => (line[3] === type ? [line[4]!] : []))
  await delegated(domain, of('NS').map((host) => host.slice(0, -1)), of('DS')) // prettier-ignore
  // A check answers for some seconds.
  Object.assign(service().system, { now: () => later(currentTime(), 60) })
  t.like(await check(domain), { state: 'secure', problems: [] })
  t.is(await validateByBoth(service().powerDns, PARENT, anchor, domain, 'SOA'), 'fully validated')
})

test('validators reject the parent zone: the sentence says so, and asks for no DS', async (t) => {
  const domain = await newDomain(account.api, `child.${BROKEN}`)
  await delegated(domain, OURS, [])
  const { state, problems } = await check(domain)
  t.is(state, 'insecure')
  t.is(problems.length, 1)
  t.regex(problems[0]!, /^The signatures of the parent zone broken\.example are broken/)
  t.regex(await validateByBoth(service().powerDns, BROKEN, [ELSEWHERE], domain, 'SOA'), /^failed: /)
})

test('NS of a wildcard delegate nothing, and a resolver does not follow them', async (t) => {
  const domain = await newDomain(account.api, 'any.example')
  await world.delegate(OURS.map((host) => `*.example. NS ${host}.`))
  const { state, problems } = await check(domain)
  t.is(state, 'not-delegated')
  t.regex(
    problems[0]!,
    /^The parent zone example does not delegate the domain: enter these nameservers at your registrar/,
  )
  const [address, port] = world.resolvers.split(':')
  const resolver = new DnsClient({ address: address!, port: Number(port) })
  const resolved = async () => {
    const reply = await resolver.query({ name: domain, type: 'SOA', recursive: true }, 10_000)
    return `${reply?.rcode} ${reply?.answers.map(({ type }) => type).join()}`
  }
  t.is(await resolved(), 'SERVFAIL ')
  await world.delegate(OURS.flatMap((host) => [`*.example. NS ${host}.`, `${domain}. NS ${host}.`]))
  await eventuallyIs(resolved, 'NOERROR SOA')
  await resolver.close()
})
