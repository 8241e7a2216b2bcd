import { Parents } from '../../src/nameserver/parents/parents.ts'
import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { isUnchanged, type Observation, observe } from '../../src/service/delegation/observation.ts'
import { currentTime, later } from '../../src/time.ts'
import type { Account } from '../support/clients/accounts.ts'
import { domainOf, newDomain, succeeded } from '../support/clients/api.ts'
import { startSignedRoot } from '../support/dns/signed-root.ts'
import { hardenedUnbound, validateByBoth } from '../support/dns/validators.ts'
import { FAST, useWorld } from '../support/dns/world.ts'
import { useService } from '../support/harness.ts'
import { type Breakage, type SignedParent, startParent } from '../support/rollovers/parent.ts'
import { test } from '../support/serial.ts'

// Contract §15.9: what the service says of a delegation, beside what validators say of the domain. The parent zone is
// a domain of the service, too, or a signed zone of somebody else.

const OURS = ['ns1.zoneplane.test', 'ns2.zoneplane.test']
const PARENT = 'parent.example'
/** Of no key. */
const ELSEWHERE = `1 13 2 ${'ab'.repeat(32)}`

const service = useService({ PRIVATE_TRANSFERS: 'on', THROTTLE: 'off' })
let account: Account
const world = useWorld(service)
let anchor: string[]

test.before('a parent', async () => {
  account = await service().account({ limitDomains: null })
  Object.assign(service().system, { parents: world().parents() })
  await newDomain(account.api, PARENT)
  anchor = await dsOf(PARENT)
  await world().delegate(OURS.map((host) => `${PARENT}. NS ${host}.`))
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
  /** Whether the parent zone has a name below that of the domain. */
  below?: boolean
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
  {
    what: 'neither NS nor DS, but a name below',
    ns: [],
    ds: () => [],
    below: true,
    state: 'not-delegated',
    problems: [/^The parent zone parent\.example, which this service has, too, .*validating resolvers reject it\. Add these record sets/],
    verdict: /^failed: /,
  },
  {
    what: 'other NS',
    ns: ['ns.elsewhere.test'],
    ds: () => [],
    state: 'elsewhere',
    problems: [/^Replace the nameservers ns\.elsewhere\.test in the zone parent\.example/, /^The nameserver ns\.elsewhere\.test does not serve/],
    verdict: /^unsigned answer$/,
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

for (const [
  i,
  { what, ns = OURS, ds, below = false, state, problems, verdict, hardened = verdict },
] of TABLE.entries()) {
  test(`a parent hosted here has ${what}: ${state}, and validators say ${verdict.source}`, async (t) => {
    const domain = await newDomain(account.api, `row${i}.${PARENT}`)
    await delegated(domain, ns, ds(await dsOf(domain)))
    const txt = { subname: `below.row${i}`, type: 'TXT', ttl: 3600, records: ['""'] }
    if (below) succeeded(await account.api.post(`/domains/${PARENT}/rrsets/`, txt), 201)
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

interface SignedRow {
  what: string
  broken?: Breakage
  /** What `example` has for the domain of this name. */
  delegate: (parent: SignedParent, name: string, ds: string[]) => Promise<void>
  state: string
  problems: RegExp[]
  /** What Unbound and delv say of the domain, which both say. */
  verdict: RegExp
}

const byName = (ds?: string[]): SignedRow['delegate'] => {
  return (parent, name, own) => parent.delegate(name, ds ?? own, OURS)
}
const BROKEN =
  /^The signatures of the parent zone example are broken: validating resolvers reject it, and all domains below it/

/** The parent is a signed zone of somebody else. */
const SIGNED: SignedRow[] = [
  {
    what: 'no DS',
    delegate: byName([]),
    state: 'insecure',
    problems: [/^Add the DS record ".* 13 2 .*" at your registrar: until then, the domain is not protected/],
    verdict: /^unsigned answer$/,
  },
  { what: 'the right DS', delegate: byName(), state: 'secure', problems: [], verdict: /^fully validated$/ },
  ...(['expired', 'altered'] as const).flatMap((broken): SignedRow[] => [
    { what: 'no DS', broken, delegate: byName([]), state: 'insecure', problems: [BROKEN], verdict: /^failed: / },
    { what: 'the right DS', broken, delegate: byName(), state: 'secure', problems: [BROKEN], verdict: /^failed: / },
  ]),
  {
    what: 'NS of a wildcard alone',
    delegate: (parent) => parent.delegate('*.example', [], OURS),
    state: 'not-delegated',
    problems: [/^The parent zone example does not delegate the domain: enter these nameservers at your registrar/],
    verdict: /^failed: /,
  },
  {
    what: 'NS of a wildcard, and its own',
    delegate: async (parent, name, own) => {
      await parent.delegate('*.example', [], OURS)
      await parent.delegate(name, own, OURS)
    },
    state: 'secure',
    problems: [],
    verdict: /^fully validated$/,
  },
] // prettier-ignore

for (const [i, { what, broken, delegate, state, problems, verdict }] of SIGNED.entries()) {
  const signatures = broken === undefined ? 'with good signatures' : `whose signatures are ${broken}`
  test(`a parent ${signatures} has ${what}: ${state}, and validators say ${verdict.source}`, async (t) => {
    const { dnsHost, dnsPort: port } = service().powerDns
    const parent = await startParent(port, { broken })
    const root = await startSignedRoot(parent, port, OURS.map((host) => `${host}. A ${dnsHost}`)) // prettier-ignore
    const { parents } = service().system
    try {
      const resolvers = [{ address: root.resolver.dnsHost, port: root.resolver.dnsPort }]
      service().system.parents = new Parents({ resolvers, isAllowed: () => true, port, clock: FAST })
      const domain = await newDomain(account.api, `signed${i}.example`)
      await delegate(parent, domain, await dsOf(domain))
      const shown = await check(domain)
      t.like(shown, { state, parent: 'example' })
      t.is(shown.problems.length, problems.length, shown.problems.join('\n'))
      for (const [n, problem] of problems.entries()) t.regex(shown.problems[n]!, problem)
      t.regex(await validateByBoth(root.resolver, 'example', [parent.ds], domain, 'SOA'), verdict)
    } finally {
      service().system.parents = parents
      await Promise.all([root.close(), parent.close()])
    }
  })
}

test('of a parent that is paused here, another program may have changed the NS: DNS says which', async (t) => {
  const domain = await newDomain(account.api, `paused.${PARENT}`)
  await delegated(domain, OURS, [])
  await pause(service().system, PARENT)
  t.teardown(() => resume(service().system, PARENT))
  const { state, problems } = await check(domain)
  t.is(state, 'insecure')
  t.regex(problems[0]!, /^Add the DS record ".* 13 2 .*" at your registrar/)
})

test('resolvers that do not answer do not show that a parent is bogus; what they show counts at the next check', async (t) => {
  const [address, port] = world().resolvers.split(':')
  const resolvers = [{ address: address!, port: Number(port) }]
  const parents = new Parents({ resolvers, isAllowed: () => true, port: world().port, clock: FAST })
  const domain = await newDomain(account.api, 'known.example')
  await world().delegate(OURS.flatMap((host) => [`${PARENT}. NS ${host}.`, `${domain}. NS ${host}.`]))
  const home = { nameServers: OURS, hosted: () => Promise.resolve(undefined) }
  const seen = await observe(parents, domain, home, parents.begin())
  t.like(seen, { parent: 'example', isParentBogus: false })
  const isStill = (last: Observation) => isUnchanged(parents, domain, last, home, parents.begin())
  t.true(await isStill(seen))
  t.false(await isStill({ ...seen, isParentBogus: true }))
  // The servers of the parent zone are known by now.
  resolvers[0] = { address: '127.0.0.1', port: 9 }
  t.like(await observe(parents, domain, home, parents.begin()), { parent: 'example', isParentBogus: false })
})
