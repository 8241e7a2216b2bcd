import { nsec3Label } from '../../../src/nameserver/powerdns/nsec3.ts'
import { freshName, newDomain, newReservedDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { commandsOn } from '../../support/command-line.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// PowerDNS before 5.0 with LMDB takes a name for the NSEC3 hash that it equals (powerdns.md §1.5). Whoever may not write
// the whole zone could choose such a name to damage others.

const SUFFIX = 'suffix.test'
const service = useService({ THROTTLE: 'off', LOCAL_PUBLIC_SUFFIXES: SUFFIX }, 'lmdb')
const zoneplane = commandsOn(() => service().system)

test.before('PowerDNS says that it is 4.7', async () => {
  const { proxy, system } = service()
  proxy.fail(({ path }) => (path === '' ? { answer: { version: '4.7.3' } } : 'pass'))
  await system.nameserver.probe()
  proxy.heal()
})

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e'
const REASON =
  'A label of 32 characters 0-9 and a-v, directly below the name of a zone, can be chosen as the NSEC3 hash of another ' +
  'name. The nameserver would then give wrong proofs about that name.'
const FOR_POLICIES = `${REASON} So only a token without policies can create it.`
const REFUSED = { subname: [FOR_POLICIES] }

const txt = (subname: string) => rrset({ subname, type: 'TXT', records: ['"x"'] })

async function replaceBy(api: Client, domain: string, body: string): Promise<Answer> {
  const headers = { 'content-type': 'text/dns' }
  return api.send('PUT', `/domains/${domain}/zonefile/`, undefined, { headers, body })
}

/** A domain, its account, and a token whose policies allow everything in it. */
async function zone(): Promise<{ owner: Client; restricted: Client; domain: string; path: string }> {
  const { api: owner, id } = await service().account()
  const domain = await newDomain(owner)
  const { id: tokenId, api: restricted } = await addToken(service(), id)
  await addPolicies(service(), tokenId, { write: true }, { domain, write: true })
  return { owner, restricted, domain, path: `/domains/${domain}/rrsets/` }
}

test('a token without policies writes names like hashes, in every way', async (t) => {
  const { owner, domain, path } = await zone()
  for (const subname of [MD5, `x.${MD5}`, `*.${MD5}`, `${MD5}.${MD5}`, 'v'.repeat(32)]) {
    t.is((await newRRset(owner, domain, { subname })).subname, subname)
  }
  succeeded(await owner.put(path, [txt('a'.repeat(32)), txt('www')]), 200)
  succeeded(await owner.get(`/dyndns/update?hostname=${'0'.repeat(32)}.${domain}&myip=192.0.2.1`), 200)
  const zonefile = `${MD5} A 192.0.2.1\nx.${MD5} 3600 TXT "x"\n`
  succeeded(await replaceBy(owner, domain, zonefile), 200)
  succeeded(await owner.post('/domains/', { name: freshName(), zonefile }), 201)
})

test('a token with policies creates none, at any depth and in no way', async (t) => {
  const { owner, restricted, domain, path } = await zone()
  const hash = nsec3Label(`api.${domain}.`)
  for (const subname of [hash, `x.${hash}`, `*.${hash}`, `${hash}.${hash}`, 'v'.repeat(32)]) {
    const single = await restricted.post(path, txt(subname))
    t.deepEqual([single.status, single.json], [400, REFUSED], subname)
    const bulk = await restricted.put(path, [txt('www'), txt(subname)])
    t.deepEqual([bulk.status, bulk.json], [400, [{}, REFUSED]], subname)
  }
  t.is((await restricted.get(`/dyndns/update?hostname=${hash}.${domain}&myip=192.0.2.1`)).status, 400)
  const zonefile = `x.${hash} 3600 TXT "x"\n`
  const whole = await replaceBy(restricted, domain, zonefile)
  t.deepEqual([whole.status, whole.json], [400, { zonefile: [`x.${hash}.${domain}/TXT: ${FOR_POLICIES}`] }])
  t.deepEqual(
    ((await owner.get(path)).json as { type: string }[]).map(({ type }) => type),
    ['NS'],
  )
})

test('a token with policies imports none with a new domain', async (t) => {
  const { id } = await service().account()
  const { id: tokenId, api } = await addToken(service(), id, { permCreateDomain: true })
  await addPolicies(service(), tokenId, { write: true })
  const name = freshName()
  const { status, json } = await api.post('/domains/', { name, zonefile: `www A 192.0.2.1\nx.${MD5} 3600 TXT "x"\n` })
  t.deepEqual([status, json], [400, { zonefile: [`x.${MD5}.${name}/TXT: ${FOR_POLICIES}`] }])
})

test('a token with policies changes and deletes those that exist, and brings none back', async (t) => {
  const { owner, restricted, domain, path } = await zone()
  await newRRset(owner, domain, { subname: MD5, type: 'TXT', records: ['"x"'] })
  succeeded(await restricted.patch(`${path}${MD5}/TXT/`, { records: ['"y"'] }), 200)
  succeeded(await restricted.put(path, [{ ...txt(MD5), records: ['"z"'] }]), 200)
  succeeded(await restricted.delete(`${path}${MD5}/TXT/`), 204)
  const [deletion] = (await owner.get(`/domains/${domain}/history/`)).json as { id: string }[]
  const undone = await restricted.post(`/domains/${domain}/history/${deletion!.id}/undo/`)
  t.deepEqual([undone.status, undone.json], [400, REFUSED])
  succeeded(await owner.post(`/domains/${domain}/history/${deletion!.id}/undo/`), 200)
})

test('a token with policies creates other names', async (t) => {
  const { restricted, domain } = await zone()
  for (const subname of [`${MD5}.deep`, MD5.slice(1), `${MD5}0`, 'w'.repeat(32), `_${MD5.slice(1)}`]) {
    t.is((await newRRset(restricted, domain, { subname })).subname, subname)
  }
})

test('in a zone with NSEC every token creates them, and then set-denial refuses NSEC3', async (t) => {
  const { restricted, domain, path } = await zone()
  t.deepEqual(await zoneplane('domain', 'set-denial', domain, 'nsec'), [true, `${domain}: nsec\n`])
  for (const subname of [MD5, `x.${'v'.repeat(32)}`]) await newRRset(restricted, domain, { subname })
  const refusal = `zoneplane: ${domain}: ${REASON} There are: ${MD5}, ${'v'.repeat(32)}\n`
  t.deepEqual(await zoneplane('domain', 'set-denial', domain, 'nsec3'), [false, refusal])
  succeeded(await restricted.put(path, [{ ...rrset({ subname: MD5 }), records: [] }]), 200)
  const left = await zoneplane('domain', 'set-denial', domain, 'nsec3')
  t.deepEqual(left, [false, `zoneplane: ${domain}: ${REASON} There are: ${'v'.repeat(32)}\n`])
  succeeded(await restricted.delete(`${path}x.${'v'.repeat(32)}/A/`), 204)
  t.deepEqual(await zoneplane('domain', 'set-denial', domain, 'nsec3'), [true, `${domain}: nsec3\n`])
})

test('a domain like a hash below a local public suffix is refused, unless the zone of the suffix has NSEC', async (t) => {
  const { api, id } = await service().account()
  const stranger = (await service().account()).api
  await newReservedDomain(service(), id, SUFFIX)
  const victim = nsec3Label(`api.${SUFFIX}.`)
  const { status, json } = await stranger.post('/domains/', { name: `${victim}.${SUFFIX}` })
  t.deepEqual([status, json], [400, { name: [REASON] }])
  t.is((await api.get(`/domains/${SUFFIX}/rrsets/${victim}/NS/`)).status, 404)
  succeeded(await stranger.post('/domains/', { name: `shop.${SUFFIX}` }), 201)
  succeeded(await stranger.post('/domains/', { name: `${victim}.test` }), 201)
  t.true((await zoneplane('domain', 'set-denial', SUFFIX, 'nsec'))[0])
  succeeded(await stranger.post('/domains/', { name: `${victim}.${SUFFIX}` }), 201)
  const refusal = `zoneplane: ${SUFFIX}: ${REASON} There are: ${victim}\n`
  t.deepEqual(await zoneplane('domain', 'set-denial', SUFFIX, 'nsec3'), [false, refusal])
})
