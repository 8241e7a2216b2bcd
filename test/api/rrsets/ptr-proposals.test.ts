import { pause } from '../../../src/service/adoption/pausing.ts'
import { suspend } from '../../../src/service/operation/suspension.ts'
import { newDomain, newRRset, newZone, rrset, setMinimumTtl, succeeded, type Zone } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { amend, amendment, newDoors } from '../../support/clients/powerdns.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf, restore, type ShownChange, undo } from '../../support/state/history.ts'
import { snapshot } from '../../support/state/snapshot.ts'
import { statementsOf } from '../../support/statements.ts'

// PTR proposals of dry runs (contract §15.3).

const service = useService()

const PROPOSE = '?dry_run=true&ptr=propose'

interface Proposal extends ShownChange {
  domain: string
  etag: string
  replaces: string[]
}

const proposals = (answer: Answer) => (succeeded(answer, 200).json as { ptr: Proposal[] }).ptr

/** The proposals of an answer, as `domain: subname before → after`, with what they replace in brackets. */
function shown(answer: Answer): string[] {
  return proposals(answer).map(({ domain, subname, before, after, replaces }) => {
    const [old, next] = [before, after].map((state) => state?.records.join(' ') ?? '-')
    return `${domain}: ${subname} ${old} → ${next}${replaces.length === 0 ? '' : ` (${replaces.join(' ')})`}`
  })
}

/** A network of 256 addresses that no other test has: the text before their last octet, and the name for its PTR. */
let networks = 0
function newNetwork() {
  const n = ++networks
  return { net: `10.7.${n}`, reverse: `${n}.7.10.in-addr.arpa` }
}

const ptr = (subname: string, ...records: string[]) => ({ subname, type: 'PTR', records })

/** A zone with these RRsets, and the reverse domain of a new network in the same account, with the others. */
async function prepare(
  make: (place: { net: string; domain: string }) => { own?: object[]; other?: object[] } = () => ({}),
) {
  const site = await newZone(service())
  const { net, reverse } = newNetwork()
  await newDomain(site.api, reverse)
  const { own = [], other = [] } = make({ net, domain: site.domain })
  for (const each of own) await newRRset(site.api, site.domain, each)
  for (const each of other) await newRRset(site.api, reverse, each)
  return { ...site, net, reverse }
}

const ask = (api: Client, { rrsets }: Pick<Zone, 'rrsets'>, ...items: object[]) =>
  api.patch(
    rrsets + PROPOSE,
    items.map((item) => rrset(item)),
  )

test('a proposal can be carried out with the tag of its domain, once; the dry run itself writes nothing', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare()
  const before = await snapshot(service().system.db)
  const answer = succeeded(
    await api.post(rrsets + PROPOSE, rrset({ ttl: 4000, records: [`${net}.9`, `${net}.8`] })),
    200,
  )
  t.is(await snapshot(service().system.db), before)
  const after = { ttl: 4000, records: [`www.${domain}.`] }
  const { etag } = (await api.get(`/domains/${reverse}/`)).headers
  const common = { type: 'PTR', before: null, after, replaces: [] }
  t.deepEqual(answer.json, {
    changes: [{ subname: 'www', type: 'A', before: null, after: { ttl: 4000, records: [`${net}.9`, `${net}.8`] } }],
    ptr: ['9', '8'].map((subname) => ({ domain: reverse, etag, subname, ...common })),
  })
  const items = proposals(answer).map(({ subname, type }) => ({ subname, type, ...after }))
  const carryOut = () =>
    api.send('PATCH', `/domains/${reverse}/rrsets/`, items, { headers: { 'if-match': etag as string } })
  t.is((await carryOut()).status, 200)
  t.deepEqual(await lookUp(service().powerDns, `8.${reverse}`, 'PTR'), [`www.${domain}.`])
  t.is((await carryOut()).status, 412)
  t.deepEqual(shown(await api.post(rrsets + PROPOSE, rrset({ records: [`${net}.8`] }))), [])
})

test('every way to write RRsets proposes for what it changes', async (t) => {
  const site = await prepare(({ net }) => ({ own: [{ records: [`${net}.1`] }] }))
  const { api, rrsets, one, domain, net, reverse } = site
  const www = `www.${domain}.`
  const comes = [`${reverse}: 2 - → ${www}`]
  const body = rrset({ records: [`${net}.1`, `${net}.2`] })
  const x = rrset({ subname: 'x', records: [`${net}.2`] })
  t.deepEqual(shown(await api.post(rrsets + PROPOSE, x)), [`${reverse}: 2 - → x.${domain}.`])
  t.deepEqual(shown(await api.post(rrsets + PROPOSE, [x])), [`${reverse}: 2 - → x.${domain}.`])
  t.deepEqual(shown(await api.put(rrsets + PROPOSE, [body])), comes)
  t.deepEqual(shown(await api.patch(rrsets + PROPOSE, [body])), comes)
  t.deepEqual(shown(await api.put(one + PROPOSE, body)), comes)
  t.deepEqual(shown(await api.patch(one + PROPOSE, { records: body.records })), comes)
  const file = { headers: { 'content-type': 'text/dns' }, body: `www 60 A ${net}.2\n` }
  t.deepEqual(shown(await api.send('PUT', `/domains/${domain}/zonefile/${PROPOSE}`, undefined, file)), comes)
  await newRRset(api, reverse, ptr('1', www))
  t.deepEqual(shown(await api.delete(one + PROPOSE)), [`${reverse}: 1 ${www} → -`])
  const [entry] = await entriesOf(api, domain)
  t.deepEqual(shown(await undo(api, domain, entry!, PROPOSE)), [`${reverse}: 1 ${www} → -`])
  const { version } = entry!
  succeeded(await api.delete(one), 204)
  t.deepEqual(shown(await restore(api, domain, { version }, PROPOSE)), [])
  succeeded(await api.delete(`/domains/${reverse}/rrsets/1/PTR/`), 204)
  t.deepEqual(shown(await restore(api, domain, { version }, PROPOSE)), [`${reverse}: 1 - → ${www}`])
})

test("so does a change by PowerDNS' API", async (t) => {
  const { api, door, zone, domain } = await newDoors(service())
  const { net, reverse } = newNetwork()
  await newDomain(api, reverse)
  const change = amendment(domain, { records: [{ content: `${net}.1` }] })
  t.deepEqual(shown(await amend(door, zone + PROPOSE, change)), [`${reverse}: 1 - → www.${domain}.`])
})

test('IPv6 addresses have their PTR below ip6.arpa, in the longest domain', async (t) => {
  const { api, rrsets, domain } = await newZone(service())
  const outer = '1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'
  const inner = `0.0.0.a.${outer}`
  for (const name of [outer, inner]) await newDomain(api, name)
  const records = ['2001:db8:1::ab', '2001:db8:1:a000::cd', '2001:db8:2::1']
  t.deepEqual(shown(await ask(api, { rrsets }, { type: 'AAAA', records })), [
    `${outer}: b.a${'.0'.repeat(18)} - → www.${domain}.`,
    `${inner}: d.c${'.0'.repeat(14)} - → www.${domain}.`,
  ])
})

test('an RRset that has the name stays; one with other names is replaced only in so many words', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare(({ domain: name }) => ({
    other: [ptr('1', `WWW.${name}.`), ptr('2', 'a.test.', `www.${name}.`), ptr('3', 'a.test.', 'b.test.')],
  }))
  const answer = await ask(api, { rrsets }, { records: [1, 2, 3].map((n) => `${net}.${n}`) })
  t.deepEqual(shown(answer), [`${reverse}: 3 a.test. b.test. → www.${domain}. (a.test. b.test.)`])
})

test('with an address, its name leaves the RRset, and the last name takes the RRset along', async (t) => {
  const site = await prepare(({ net, domain: name }) => ({
    own: [{ records: [1, 2, 3, 4, 5].map((n) => `${net}.${n}`) }],
    other: [
      ptr('1', `Www.${name}.`),
      ptr('2', 'a.test.', `www.${name}.`),
      ptr('3', 'a.test.'),
      ptr('5', `www.${name}.`),
    ],
  }))
  const { api, rrsets, net, reverse, domain } = site
  const www = `www.${domain}.`
  t.deepEqual(shown(await ask(api, { rrsets }, { records: [`${net}.5`] })), [
    `${reverse}: 1 Www.${domain}. → -`,
    `${reverse}: 2 a.test. ${www} → a.test.`,
  ])
  t.deepEqual(shown(await api.patch(rrsets + PROPOSE, [{ subname: 'www', type: 'A', ttl: 60 }])), [])
})

test('an address that goes from one name to another is one change, which replaces only others', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare(({ net: network, domain: name }) => ({
    own: [{ records: [`${network}.1`, `${network}.2`] }],
    other: [ptr('1', `www.${name}.`), ptr('2', `www.${name}.`, 'a.test.')],
  }))
  const moves = [{ records: [] }, { subname: 'x', records: [`${net}.1`, `${net}.2`] }]
  for (const items of [moves, moves.toReversed()]) {
    t.deepEqual(shown(await ask(api, { rrsets }, ...items)).sort(), [
      `${reverse}: 1 www.${domain}. → x.${domain}.`,
      `${reverse}: 2 www.${domain}. a.test. → x.${domain}. (a.test.)`,
    ])
  }
})

test('of several names that get an address, the first one gets the PTR; wildcards get and lose none', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare(({ net: network, domain: name }) => ({
    own: [{ subname: '*.old', records: [`${network}.2`] }],
    other: [ptr('2', `*.old.${name}.`)],
  }))
  const named = ['*', '*.a', 'b', 'a', ''].map((subname) => ({ subname, records: [`${net}.1`] }))
  const answer = await ask(api, { rrsets }, { subname: '*.old', records: [] }, ...named)
  t.deepEqual(shown(answer), [`${reverse}: 1 - → b.${domain}.`])
})

test('the TTL is that of the address, or that of the PTR, but at least the minimum of its domain', async (t) => {
  const { api, rrsets, net, reverse } = await prepare(() => ({ other: [{ ...ptr('2', 'a.test.'), ttl: 5000 }] }))
  await setMinimumTtl(service(), reverse, 4000)
  const items = [
    { subname: 'a', ttl: 3600, records: [`${net}.1`, `${net}.2`] },
    { subname: 'b', ttl: 7200, records: [`${net}.3`] },
  ]
  const answer = await ask(api, { rrsets }, ...items)
  t.deepEqual(
    proposals(answer).map(({ after }) => after?.ttl),
    [4000, 5000, 7200],
  )
})

test('classless domains are found by the CNAMEs of the domain above', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare()
  const elsewhere = await newDomain(api)
  const block = await newDomain(api, `0-26.${reverse}`)
  const foreign = await newDomain((await service().account()).api)
  const cname = (subname: string, target: string) =>
    newRRset(api, reverse, { subname, type: 'CNAME', records: [`${target}.`] })
  await cname('1', `1.${block}`)
  await cname('2', `2.Rev.${elsewhere}`)
  await cname('3', `3.32-28.${reverse}`)
  // Nothing follows from these: the names are not there, or not the account's, or lead on, or to where it all began.
  await cname('4', `4.${foreign}`)
  await cname('5', `5.absent.test`)
  await cname('6', `1.${reverse}`)
  await cname('7', `7.${domain}`)
  await cname('8', `*.${elsewhere}`)
  // A second address with the target of the first.
  await cname('9', `1.${block}`)
  const records = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => `${net}.${n}`)
  t.deepEqual(shown(await ask(api, { rrsets }, { records })), [
    `${block}: 1 - → www.${domain}.`,
    `${elsewhere}: 2.rev - → www.${domain}.`,
    `${reverse}: 3.32-28 - → www.${domain}.`,
    `${reverse}: 10 - → www.${domain}.`,
  ])
})

test('and by their names, if the account has no domain above, or has delegated the network', async (t) => {
  const { api, rrsets, domain } = await newZone(service())
  const { net, reverse } = newNetwork()
  for (const block of ['0-26', '16-28', '16-31', '64-127', '200-210', '128-24'])
    await newDomain(api, `${block}.${reverse}`)
  const records = [1, 15, 16, 18, 31, 63, 64, 127, 128, 205].map((n) => `${net}.${n}`)
  const expected = [
    ...[1, 15].map((n) => `0-26.${reverse}: ${n}`),
    `0-26.${reverse}: 63`,
    // 16-31 is both: 16/31, and 16 to 31.
    `16-31.${reverse}: 16`,
    ...[18, 31].map((n) => `16-28.${reverse}: ${n}`),
    ...[64, 127].map((n) => `64-127.${reverse}: ${n}`),
  ].map((place) => `${place} - → www.${domain}.`)
  t.deepEqual(shown(await ask(api, { rrsets }, { records })).sort(), expected.sort())
  // Now the network is in a domain of the account, but only as a delegation.
  const above = await newDomain(api, reverse)
  t.true(shown(await ask(api, { rrsets }, { records })).every((text) => text.startsWith(`${reverse}: `)))
  for (const n of [1, 205]) await newRRset(api, above, { subname: `${n}`, type: 'NS', records: ['ns.test.'] })
  t.deepEqual(shown(await ask(api, { rrsets }, { records: [`${net}.1`, `${net}.205`] })), [
    `0-26.${reverse}: 1 - → www.${domain}.`,
  ])
})

test('there is no proposal where it could not be written, or nobody would find it', async (t) => {
  const { api, rrsets, domain, net, reverse } = await prepare(() => ({
    other: [
      { subname: '1', type: 'NS', records: ['ns.test.'] },
      { subname: '2', type: 'DNAME', records: ['elsewhere.test.'] },
      ptr('3', ...Array.from({ length: 16 }, (_, i) => `x${i}.test.`)),
      ptr('4', ...Array.from({ length: 15 }, (_, i) => `x${i}.test.`)),
    ],
  }))
  const records = [1, 2, 3, 4].map((n) => `${net}.${n}`)
  const answer = await ask(api, { rrsets }, { records })
  t.deepEqual(
    proposals(answer).map(({ subname }) => subname),
    // A name is still that of the DNAME itself.
    ['2', '4'],
  )
  // A write of the reverse domain itself.
  const own = { subname: '9', records: [`${net}.8`] }
  t.deepEqual(shown(await ask(api, { rrsets: `/domains/${reverse}/rrsets/` }, own)), [])
  const other = { records: [`${net}.8`] }
  t.deepEqual(shown(await ask(api, { rrsets }, other)), [`${reverse}: 8 - → www.${domain}.`])
  await pause(service().system, reverse)
  t.deepEqual(shown(await ask(api, { rrsets }, other)), [])
})

test('there is none in a suspended domain', async (t) => {
  const { api, rrsets, net, reverse } = await prepare()
  await suspend(service().system, reverse)
  t.deepEqual(shown(await ask(api, { rrsets }, { records: [`${net}.8`] })), [])
})

test('below a DNAME at its apex, a reverse domain has no place', async (t) => {
  const { api, rrsets, net } = await prepare(() => ({
    other: [{ subname: '', type: 'DNAME', records: ['elsewhere.test.'] }],
  }))
  t.deepEqual(shown(await ask(api, { rrsets }, { records: [`${net}.8`] })), [])
})

test('nobody is shown a place that is not his to see and to write', async (t) => {
  const { account, api, rrsets, domain, net, reverse } = await prepare(({ domain: name }) => ({
    other: [ptr('2', 'secret.test.'), ptr('1', `gone.${name}.`)],
  }))
  const sees = [`${reverse}: 3 - → www.${domain}.`]
  const tried = (client: Client) => ask(client, { rrsets }, { records: [`${net}.3`] })
  t.deepEqual(shown(await tried(api)), sees)

  const stranger = await newZone(service())
  const stolen = { records: [`${net}.1`, `${net}.2`, `${net}.3`] }
  t.deepEqual(proposals(await ask(stranger.api, stranger, stolen)), [])

  const all = { write: true }
  const only = { domain, write: true }
  const owner = await service().account()
  const tokens: [what: string, bound: boolean, rows: Parameters<typeof addPolicies>[2][], expected: string[]][] = [
    ['a token that may write all', false, [all], sees],
    ['a token that may write one domain', false, [{ write: false }, only], []],
    ['a token that may write no PTR', false, [all, { type: 'PTR', write: false }], []],
    ['a token that may not write this name', false, [all, { domain: reverse, subname: '3', write: false }], []],
    [
      'a token that may write this name',
      false,
      [{ write: false }, only, { domain: reverse, subname: '3', write: true }],
      sees,
    ],
    ['an override token', true, [], sees],
    ['an override token that does not see the domain', true, [all, only], []],
    ['an override token that may not write it', true, [all, only, { domain: reverse, write: false }], []],
    ['an override token of both', true, [all, only, { domain: reverse, write: true }], sees],
  ]
  for (const [what, bound, rows, expected] of tokens) {
    const token = bound
      ? await addToken(service(), owner.id, { userOverrideId: account.id })
      : await addToken(service(), account.id)
    await addPolicies(service(), token.id, ...rows)
    t.deepEqual(shown(await tried(token.api)), expected, what)
  }

  const members: [domains: string[] | null, expected: string[]][] = [
    [null, sees],
    [[domain], []],
    [[domain, reverse], sees],
  ]
  for (const [domains, expected] of members) {
    const editor = await addMember(service(), account.id, 'editor', { domains })
    t.deepEqual(shown(await tried(editor.session)), expected, String(domains))
  }
  const { session: viewer } = await addMember(service(), account.id, 'viewer')
  t.is((await tried(viewer)).status, 403)
  t.deepEqual(proposals(await ask(viewer, { rrsets })), [])
})

test('there are proposals for 100 addresses, by as many statements as for one', async (t) => {
  const { api, rrsets, net, reverse } = await prepare()
  const block = await newDomain(api)
  const cnames = Array.from({ length: 60 }, (_, n) => ({ subname: `${n}`, type: 'CNAME', records: [`${n}.${block}.`] }))
  succeeded(
    await api.post(
      `/domains/${reverse}/rrsets/`,
      cnames.map((item) => rrset(item)),
    ),
    201,
  )
  const cost = async (count: number) => {
    const records = Array.from({ length: count }, (_, n) => `${net}.${n}`)
    let found = 0
    const statements = await statementsOf(async () => {
      found = shown(await ask(api, { rrsets }, { records })).length
    })
    const plain = await statementsOf(() => api.patch(`${rrsets}?dry_run=true`, [rrset({ records })]))
    return [found, statements.length - plain.length]
  }
  t.deepEqual(await cost(1), [1, 3])
  t.deepEqual(await cost(100), [100, 3])
  t.deepEqual(await cost(150), [100, 3])
})

test('proposals are for dry runs alone', async (t) => {
  const { api, rrsets, one, domain } = await newZone(service(), {})
  const body = rrset({ subname: 'x' })
  for (const query of ['ptr=propose', 'ptr=propose&dry_run=false']) {
    const answer = await api.post(`${rrsets}?${query}`, body)
    t.deepEqual([answer.status, answer.text], [400, '{"ptr":["Needs dry_run=true."]}'])
  }
  t.is((await api.delete(`${one}?ptr=propose`)).status, 400)
  for (const value of ['', 'true', 'Propose']) {
    const answer = await api.post(`${rrsets}?dry_run=true&ptr=${value}`, body)
    t.deepEqual([answer.status, answer.text], [400, '{"ptr":["Must be propose."]}'], value)
  }
  t.is((await api.get(`${one}?ptr=x`)).status, 200)
  t.is((await api.delete(`/domains/${domain}/?ptr=propose`)).status, 204)
})
