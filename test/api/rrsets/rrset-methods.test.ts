import { newDomain, newRRset, rrset, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const NOT_FOUND = '{"detail":"Not found."}'
const REQUIRED = ['This field is required.']
const ONCE = ['Can only be written on create.']
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** A domain with www/A, TTL 3600, and the path of that RRset. */
async function withRRset() {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const shown = await newRRset(api, domain)
  return { api, domain, shown, rrsets: `/domains/${domain}/rrsets/`, path: `/domains/${domain}/rrsets/www/A/` }
}

test('POST creates an RRset and shows it with 201 and its members in order', async (t) => {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const answer = await api.post(`/domains/${domain}/rrsets/`, rrset({ records: ['192.0.2.2', '192.0.2.1'] }))
  t.is(answer.status, 201)
  const { created, touched } = answer.json as ShownRRset
  t.regex(created, TIME)
  t.is(touched, created)
  const expected = {
    ...{ created, domain, subname: 'www', name: `www.${domain}.`, records: ['192.0.2.2', '192.0.2.1'] },
    ...{ ttl: 3600, type: 'A', touched },
  }
  t.is(answer.text, JSON.stringify(expected))
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1', '192.0.2.2'])
})

test('members that are read-only or unknown are ignored', async (t) => {
  const { api, path, domain } = await withRRset()
  const wrong = { id: {}, '': null, constructor: 1, 'a\0': '\ud800' }
  const others = { created: 1, domain: [], name: null, touched: 'x', ...wrong }
  t.like((await api.patch(path, { ...others, ttl: 60 })).json, { domain, name: `www.${domain}.`, ttl: 60 })
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'b', ...others }))).status, 201)
})

test('PUT replaces TTL and records, and returns the RRset', async (t) => {
  const { api, path, domain, shown } = await withRRset()
  const answer = await api.put(path, rrset({ ttl: 60, records: ['192.0.2.9'] }))
  t.is(answer.status, 200)
  const { touched } = answer.json as ShownRRset
  t.true(touched > shown.touched)
  t.is(answer.text, JSON.stringify({ ...shown, records: ['192.0.2.9'], ttl: 60, touched }))
  t.is((await api.get(path)).text, answer.text)
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.9'])
})

test('PUT requires subname, type, TTL and records', async (t) => {
  const { api, path, shown } = await withRRset()
  for (const without of [['subname'], ['type'], ['ttl'], ['records'], ['subname', 'type', 'ttl', 'records']]) {
    const body = Object.fromEntries(Object.entries(rrset()).filter(([member]) => !without.includes(member)))
    const answer = await api.put(path, body)
    t.deepEqual([answer.status, answer.json], [400, Object.fromEntries(without.map((member) => [member, REQUIRED]))])
  }
  t.deepEqual((await api.get(path)).json, shown)
})

const PATCHES: [body: object, ttl: number, records: string[]][] = [
  [{}, 3600, ['192.0.2.1']],
  [{ ttl: 60 }, 60, ['192.0.2.1']],
  [{ records: ['192.0.2.8', '192.0.2.7'] }, 3600, ['192.0.2.8', '192.0.2.7']],
  [{ ttl: 60, records: ['192.0.2.7'] }, 60, ['192.0.2.7']],
  [{ subname: 'www' }, 3600, ['192.0.2.1']],
  [{ subname: '' }, 3600, ['192.0.2.1']],
  [{ type: 'A', subname: 'www', ttl: 86400 }, 86400, ['192.0.2.1']],
]

for (const [body, ttl, records] of PATCHES) {
  test(`PATCH ${JSON.stringify(body)} changes only these members`, async (t) => {
    const { api, path, shown } = await withRRset()
    const answer = await api.patch(path, body)
    t.is(answer.status, 200)
    const { touched } = answer.json as ShownRRset
    t.true(touched > shown.touched)
    t.is(answer.text, JSON.stringify({ ...shown, records, ttl, touched }))
    t.is((await api.get(path)).text, answer.text)
  })
}

for (const method of ['PUT', 'PATCH']) {
  test(`${method} of an absent RRset is 404, also with records [] or a broken body`, async (t) => {
    const { api, rrsets } = await withRRset()
    for (const path of [`${rrsets}absent/A/`, `${rrsets}www/TXT/`, `${rrsets}@/A/`]) {
      for (const body of [JSON.stringify(rrset()), JSON.stringify(rrset({ records: [] })), '{}', '{']) {
        const headers = { 'content-type': 'application/json' }
        const answer = await api.send(method, path, undefined, { body, headers })
        t.deepEqual([answer.status, answer.text], [404, NOT_FOUND])
      }
    }
  })

  test(`${method} with records [] deletes the RRset`, async (t) => {
    const { api, path, domain } = await withRRset()
    const answer = await api.send(method, path, rrset({ records: [] }))
    t.deepEqual([answer.status, answer.text], [204, ''])
    t.is((await api.get(path)).status, 404)
    t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), [])
  })

  test(`${method} with records [] and a wrong field deletes nothing`, async (t) => {
    const { api, path, shown } = await withRRset()
    const answer = await api.send(method, path, rrset({ records: [], ttl: 1 }))
    t.is(answer.status, 400)
    t.deepEqual((await api.get(path)).json, shown)
  })

  test(`${method} refuses to change subname and type`, async (t) => {
    const { api, path, shown } = await withRRset()
    for (const members of [
      { subname: 'other' },
      { subname: '*' },
      { type: 'AAAA' },
      { subname: 'other', type: 'TXT' },
    ]) {
      const { status, json } = await api.send(method, path, rrset(members))
      t.deepEqual([status, json], [400, Object.fromEntries(Object.keys(members).map((member) => [member, ONCE]))])
    }
    t.deepEqual((await api.get(path)).json, shown)
  })

  test(`${method} accepts "" for any subname in the path, and at the apex no other`, async (t) => {
    const { api, domain, rrsets, path, shown } = await withRRset()
    await newRRset(api, domain, { subname: '' })
    const answer = await api.send(method, path, rrset({ subname: '', ttl: 60 }))
    t.is(answer.status, 200)
    t.like(answer.json, { subname: shown.subname, name: shown.name })
    t.is((await api.send(method, `${rrsets}@/A/`, rrset({ subname: '' }))).status, 200)
    const other = await api.send(method, `${rrsets}@/A/`, rrset({ subname: 'www' }))
    t.deepEqual([other.status, other.text], [400, JSON.stringify({ subname: ONCE })])
  })
}

test('DELETE of an RRset is 204, whether or not it exists', async (t) => {
  const { api, path, domain } = await withRRset()
  for (let i = 0; i < 2; i++) {
    const answer = await api.delete(path)
    t.deepEqual([answer.status, answer.text], [204, ''])
    t.is((await api.get(path)).status, 404)
  }
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), [])
})

test('DELETE deletes only one type at one name', async (t) => {
  const { api, path, domain, rrsets } = await withRRset()
  await newRRset(api, domain, { type: 'TXT', records: ['"a"'] })
  await newRRset(api, domain, { subname: 'a.www' })
  succeeded(await api.delete(path), 204)
  const left = (await api.get(rrsets)).json as ShownRRset[]
  const keys = left.map(({ subname, type }) => `${subname}/${type}`)
  t.deepEqual(keys, ['a.www/A', 'www/TXT', '/NS'])
})

test('the apex NS RRset can be read, replaced and deleted', async (t) => {
  const { api, domain } = await withRRset()
  const path = `/domains/${domain}/rrsets/@/NS/`
  t.like((await api.get(path)).json, {
    subname: '',
    ttl: 3600,
    records: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'],
  })
  const put = await api.put(path, { subname: '', type: 'NS', ttl: 600, records: ['ns.other.test.'] })
  t.is(put.status, 200)
  t.deepEqual(await lookUp(service().powerDns, domain, 'NS'), ['ns.other.test.'])
  t.is((await api.delete(path)).status, 204)
  t.deepEqual(await lookUp(service().powerDns, domain, 'NS'), [])
  t.is(
    (await api.post(`/domains/${domain}/rrsets/`, { type: 'NS', ttl: 600, records: ['ns.third.test.'] })).status,
    201,
  )
})
