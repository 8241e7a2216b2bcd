import { nsec3Label } from '../../../src/nameserver/powerdns/nsec3.ts'
import {
  newDomain,
  newReservedDomain,
  newRRset,
  rrset,
  shared,
  succeeded,
  freshName,
} from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// PowerDNS before 5.0 with LMDB takes a name for the NSEC3 hash that it equals.

const SUFFIX = 'suffix.test'
const service = useService({ THROTTLE: 'off', LOCAL_PUBLIC_SUFFIXES: SUFFIX }, 'lmdb')
const account = shared(async () => {
  const { api } = await service().account()
  return { api, domain: await newDomain(api, 'hashes.test') }
})

test.before('PowerDNS says that it is 4.7', async () => {
  const { proxy, system } = service()
  proxy.fail(({ path }) => (path === '' ? { answer: { version: '4.7.3' } } : 'pass'))
  await system.nameserver.probe()
  proxy.heal()
})

const HASH = nsec3Label('api.hashes.test.')
const REASON =
  'A label of 32 characters 0-9 and a-v cannot stand directly below the name of a zone: the nameserver would take it ' +
  'for the NSEC3 hash of another name, and deny that name.'

test('a subname whose last label is like a hash is refused, at any depth', async (t) => {
  const { api, domain } = await account()
  const path = `/domains/${domain}/rrsets/`
  for (const subname of [HASH, `x.${HASH}`, `*.${HASH}`, `${HASH}.${HASH}`, 'v'.repeat(32)]) {
    const single = await api.post(path, rrset({ subname, type: 'TXT', records: ['"x"'] }))
    t.deepEqual([single.status, single.json], [400, { subname: [REASON] }], subname)
    const bulk = await api.put(path, [rrset({ subname: 'www' }), rrset({ subname })])
    t.deepEqual([bulk.status, bulk.json], [400, [{}, { subname: [REASON] }]], subname)
  }
})

test('other subnames are accepted, and answered', async (t) => {
  const { api, domain } = await account()
  for (const subname of [`${HASH}.deep`, HASH.slice(1), `${HASH}0`, 'w'.repeat(32), `_${HASH.slice(1)}`]) {
    t.is((await newRRset(api, domain, { subname })).subname, subname)
  }
})

test('a zone file with such a name is refused', async (t) => {
  const { api } = await account()
  const name = freshName()
  const { status, json } = await api.post('/domains/', { name, zonefile: `www A 192.0.2.1\nx.${HASH} 60 TXT "x"\n` })
  t.deepEqual([status, json], [400, { zonefile: [`x.${HASH}.${name}/TXT: ${REASON}`] }])
})

test('dynDNS does not write such a name', async (t) => {
  const { api, domain } = await account()
  const { status } = await api.get(`/dyndns/update?hostname=${HASH}.${domain}&myip=192.0.2.1`)
  t.is(status, 400)
  t.is((await api.get(`/domains/${domain}/rrsets/${HASH}/A/`)).status, 404)
})

test('a domain below a local public suffix is refused if its label is like a hash; others are not', async (t) => {
  const { api, id } = await service().account()
  const stranger = (await service().account()).api
  await newReservedDomain(service(), id, SUFFIX)
  const victim = nsec3Label(`api.${SUFFIX}.`)
  const { status, json } = await stranger.post('/domains/', { name: `${victim}.${SUFFIX}` })
  t.deepEqual([status, json], [400, { name: [REASON] }])
  t.is((await api.get(`/domains/${SUFFIX}/rrsets/${victim}/NS/`)).status, 404)
  succeeded(await stranger.post('/domains/', { name: `shop.${SUFFIX}` }), 201)
  succeeded(await stranger.post('/domains/', { name: `${victim}.test` }), 201)
})
