import type { Account } from '../../support/clients/accounts.ts'
import {
  newDomain,
  newReservedDomain,
  rrset,
  type ShownDomain,
  type ShownRRset,
  succeeded,
} from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §7.6: names under which every account may register.

const HOSTED = 'dyn.hosted.test'
const ELSEWHERE = 'dyn.elsewhere.test'

const service = useService({ LOCAL_PUBLIC_SUFFIXES: `${HOSTED}, ${ELSEWHERE}`, NAMESERVERS: 'ns1.a.test, ns2.a.test' })
let operator: Account

test.before('the operator hosts the suffix, which is below a domain of another account', async () => {
  await newReservedDomain(service(), (await service().account()).id, 'elsewhere.test')
  operator = await service().account()
  await newReservedDomain(service(), operator.id, HOSTED)
})

let children = 0

/** A new account's domain directly below the suffix. */
async function newChild(suffix = HOSTED): Promise<{ api: Client; label: string; name: string; ds: string[] }> {
  const { api } = await service().account()
  const label = `child${++children}`
  const name = `${label}.${suffix}`
  const { keys } = succeeded(await api.post('/domains/', { name }), 201).json as ShownDomain
  return { api, label, name, ds: keys.flatMap(({ ds }) => ds) }
}

/** The RRsets at a label of the suffix' zone: type, TTL and records. */
async function delegation(label: string): Promise<[string, number, string[]][]> {
  const shown = (await operator.api.get(`/domains/${HOSTED}/rrsets/?subname=${label}`)).json as ShownRRset[]
  return shown.map(({ type, ttl, records }): [string, number, string[]] => [type, ttl, records]).sort()
}

function delegated(ds: string[]): [string, number, string[]][] {
  return [
    ['DS', 300, ds],
    ['NS', 3600, ['ns1.a.test.', 'ns2.a.test.']],
  ]
}

const DISALLOWED = JSON.stringify({
  name: ['This domain name conflicts with an existing domain, or is disallowed by policy.'],
})

test('a domain below a suffix that is hosted here is delegated from its zone, with all DS records of its keys', async (t) => {
  const { api, label, name, ds } = await newChild()
  t.is(ds.length, 2)
  t.deepEqual(await delegation(label), delegated(ds))
  t.deepEqual(await lookUp(service().powerDns, name, 'DS'), ds.map((content) => shownByDig(content)).sort())

  await api.post(`/domains/${name}/rrsets/`, rrset({ subname: 'www' }))
  t.is(await validate(service().powerDns, name, ds, `www.${name}`, 'A'), 'fully validated')
})

/** A DS record as dig prints it: the digest in upper case, with a blank in it. */
function shownByDig(ds: string): string {
  const [tag, algorithm, type, digest] = ds.split(' ')
  const shown = digest!.toUpperCase().replace(/^(.{56})(.+)$/, '$1 $2')
  return [tag, algorithm, type, shown].join(' ')
}

test('a delegation replaces conflicting RRsets at the label, and keeps the others', async (t) => {
  for (const stale of [
    [rrset({ type: 'CNAME', records: ['other.test.'] })],
    [
      rrset({ type: 'NS', ttl: 60, records: ['old.test.'] }),
      rrset({ type: 'DS', records: ['1 13 2 ' + '00'.repeat(32)] }),
      rrset({ type: 'TXT', records: ['"stays"'] }),
    ],
  ]) {
    const label = `child${children + 1}`
    const body = stale.map((members) => ({ ...members, subname: label }))
    succeeded(await operator.api.post(`/domains/${HOSTED}/rrsets/`, body), 201)
    const { ds } = await newChild()
    const kept = stale.length > 1 ? [['TXT', 3600, ['"stays"']] as [string, number, string[]]] : []
    t.deepEqual(await delegation(label), [...delegated(ds), ...kept])
  }
})

test('a domain below a suffix that is not hosted here is created without delegation', async (t) => {
  const { name } = await newChild(ELSEWHERE)
  t.deepEqual(await lookUp(service().powerDns, name, 'NS'), ['ns1.a.test.', 'ns2.a.test.'])
})

test('deleting the domain deletes only its delegation', async (t) => {
  const { api, label, name } = await newChild()
  const text = rrset({ subname: label, type: 'TXT', records: ['"stays"'] })
  succeeded(await operator.api.post(`/domains/${HOSTED}/rrsets/`, text), 201)
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.deepEqual(await delegation(label), [['TXT', 3600, ['"stays"']]])
  t.deepEqual(await lookUp(service().powerDns, name, 'DS'), [])
  t.deepEqual(await lookUp(service().powerDns, name, 'NS'), [])
})

test('another account cannot create a domain below a domain below a suffix', async (t) => {
  const { api, name } = await newChild()
  const other = await service().account()
  t.is((await other.api.post('/domains/', { name: `a.${name}` })).text, DISALLOWED)
  t.is((await api.post('/domains/', { name: `a.${name}` })).status, 201)
})

const NS_REFUSED = '{"type":["Cannot modify NS records for this domain."]}'
const ns = { type: 'NS', ttl: 3600, records: ['evil.test.'] }

test('NS RRsets of a domain below a suffix can be neither created nor changed', async (t) => {
  const { api, name } = await newChild()
  const path = `/domains/${name}/rrsets/`
  const refused = [
    await api.post(path, { subname: 'a', ...ns }),
    await api.put(`${path}@/NS/`, { subname: '', ...ns }),
    await api.patch(`${path}@/NS/`, { records: ['evil.test.'] }),
    await api.patch(`${path}@/NS/`, { ttl: 60 }),
    await api.patch(`${path}@/NS/`, { records: [] }),
    await api.delete(`${path}@/NS/`),
  ]
  for (const answer of refused) t.deepEqual([answer.status, answer.text], [400, NS_REFUSED])
  const bulk = [
    await api.post(path, [{ subname: 'a', ...ns }, rrset()]),
    await api.put(path, [ns, rrset()]),
    await api.patch(path, [{ type: 'NS', records: [] }, rrset()]),
  ]
  for (const answer of bulk) t.deepEqual([answer.status, answer.text], [400, `[${NS_REFUSED},{}]`])
  t.is(((await api.get(path)).json as ShownRRset[]).length, 1)
})

test('writes that change no NS RRset are accepted below a suffix', async (t) => {
  const { api, name } = await newChild()
  const path = `/domains/${name}/rrsets/`
  t.is((await api.patch(`${path}@/NS/`, {})).status, 200)
  t.is((await api.patch(`${path}@/NS/`, { records: ['ns2.a.test.', 'ns1.a.test.'] })).status, 200)
  t.is((await api.delete(`${path}a/NS/`)).status, 204)
})

test('a domain two labels below a suffix is an ordinary domain', async (t) => {
  const { api, name } = await newChild()
  await newDomain(api, `a.${name}`)
  t.is((await api.put(`/domains/a.${name}/rrsets/@/NS/`, { subname: '', ...ns })).status, 200)
})
