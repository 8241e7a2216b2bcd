import { newDomain, newRRset, shared, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const AUTOMATIC = ['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'KEY', 'OPT']

/** A domain with some RRsets as the API shows them, newest first. */
async function zone() {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const ns = succeeded(await api.get(`/domains/${domain}/rrsets/@/NS/`), 200).json as ShownRRset
  const all = [ns]
  for (const [subname, type, record] of [
    ['www', 'A', '192.0.2.1'],
    ['', 'A', '192.0.2.1'],
    ['www', 'TXT', '"a"'],
    ['', 'TXT', '"a"'],
    ['*', 'A', '192.0.2.1'],
    ['a.www', 'A', '192.0.2.1'],
  ] as const) {
    all.unshift(await newRRset(api, domain, { subname, type, records: [record] }))
  }
  return { api, path: `/domains/${domain}/rrsets/`, all }
}

test('the list contains all RRsets of the domain, newest first, each as GET of one RRset shows it', async (t) => {
  const { api, path, all } = await zone()
  const answer = await api.get(path)
  t.deepEqual([answer.status, answer.text], [200, JSON.stringify(all)])
})

test('a changed RRset keeps its place in the list', async (t) => {
  const { api, path, all } = await zone()
  succeeded(await api.patch(`${path}www/A/`, { ttl: 60 }), 200)
  const listed = (await api.get(path)).json as ShownRRset[]
  t.deepEqual(
    listed.map(({ name, type }) => `${name} ${type}`),
    all.map(({ name, type }) => `${name} ${type}`),
  )
})

/** Queries, and which RRsets they select. */
const FILTERS: [query: string, wanted: (rrset: ShownRRset) => boolean][] = [
  ['type=A', ({ type }) => type === 'A'],
  ['type=TXT', ({ type }) => type === 'TXT'],
  ['subname=www', ({ subname }) => subname === 'www'],
  ['subname=', ({ subname }) => subname === ''],
  ['subname', ({ subname }) => subname === ''],
  ['subname=*', ({ subname }) => subname === '*'],
  ['subname=%2A', ({ subname }) => subname === '*'],
  ['subname=a.www', ({ subname }) => subname === 'a.www'],
  ['subname=www&type=TXT', ({ subname, type }) => subname === 'www' && type === 'TXT'],
  ['type=NS&subname=', ({ type }) => type === 'NS'],
  ['type=A&type=TXT', ({ type }) => type === 'TXT'],
  ['subname=www&subname=', ({ subname }) => subname === ''],
  ['unknown=1&format=api', () => true],
  ['Type=A', () => true],
  ['subname=@', () => false],
  ['subname=...', () => false],
  ['subname=www...', () => false],
  ['subname=WWW', () => false],
  ['subname=%20www', () => false],
  ['subname=absent', () => false],
  ['subname=%00', () => false],
  ['subname=%ff', () => false],
  ['subname=%F0%9F%98%80', () => false],
  ['type=', () => false],
  ['type=a', () => false],
  ['type=soa', () => false],
  ['type=AAAA', () => false],
  ['type=LOC', () => false],
  ['type=ALIAS', () => false],
  ['type=TYPE1', () => false],
  ['type=DS', () => false],
  ['type=DNSKEY', () => false],
  ['type=CDS', () => false],
  ['type=CDNSKEY', () => false],
  ['type=%00', () => false],
  ['type=SOA&type=A', ({ type }) => type === 'A'],
]

test('type and subname filter by equality, and combine', async (t) => {
  const { api, path, all } = await zone()
  for (const [query, wanted] of FILTERS) {
    const answer = await api.get(`${path}?${query}`)
    t.deepEqual([answer.status, answer.text], [200, JSON.stringify(all.filter(wanted))], query)
  }
})

const empty = shared(async () => {
  const { api } = await service().account()
  return { api, path: `/domains/${await newDomain(api)}/rrsets/` }
})

for (const type of AUTOMATIC) {
  const denied = `{"detail":"You cannot tinker with the ${type} RRset."}`

  test(`a filter by ${type} is 403`, async (t) => {
    const { api, path } = await empty()
    for (const query of [`type=${type}`, `type=A&type=${type}`, `subname=www&type=${type}`]) {
      const answer = await api.get(`${path}?${query}`)
      t.deepEqual([answer.status, answer.text], [403, denied], query)
    }
  })

  test(`${type} in the path of an RRset is 403 for every method`, async (t) => {
    const { api, path } = await empty()
    for (const subname of ['@', 'www']) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'GET' ? undefined : {}
        const answer = await api.send(method, `${path}${subname}/${type}/`, body)
        t.deepEqual([answer.status, answer.text], [403, denied], method)
      }
    }
  })
}
