import type { ExecutionContext } from 'ava'
import { domainOf, newDomain, newRRset, rrset, succeeded, type ShownDomain } from '../../support/api.ts'
import type { Answer, Client } from '../../support/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

/** A domain with the RRsets www/A and www/TXT, before and after a write. */
async function around(
  write: (api: Client, rrsets: string) => Promise<Answer>,
  status: number,
): Promise<[before: ShownDomain, after: ShownDomain]> {
  const { api } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name)
  await newRRset(api, name, { type: 'TXT', records: ['"a"'] })
  const before = await domainOf(api, name)
  succeeded(await write(api, `/domains/${name}/rrsets/`), status)
  return [before, await domainOf(api, name)]
}

function isPublished(t: ExecutionContext, [before, after]: [ShownDomain, ShownDomain]): void {
  t.true(after.published > before.published)
  t.is(after.touched, after.published)
  t.is(after.created, before.created)
}

const PUBLISHED: [what: string, write: (api: Client, rrsets: string) => Promise<Answer>, status: number][] = [
  ['the creation of an RRset', (api, rrsets) => api.post(rrsets, rrset({ subname: 'new' })), 201],
  ['a change of a TTL', (api, rrsets) => api.patch(`${rrsets}www/A/`, { ttl: 7200 }), 200],
  ['a change of records', (api, rrsets) => api.patch(`${rrsets}www/A/`, { records: ['192.0.2.7'] }), 200],
  ['a replacement', (api, rrsets) => api.put(`${rrsets}www/A/`, rrset({ ttl: 60 })), 200],
  ['a deletion', (api, rrsets) => api.delete(`${rrsets}www/A/`), 204],
  ['a deletion by PATCH', (api, rrsets) => api.patch(`${rrsets}www/A/`, { records: [] }), 204],
  ['a deletion by PUT', (api, rrsets) => api.put(`${rrsets}www/A/`, rrset({ records: [] })), 204],
]

for (const [what, write, status] of PUBLISHED) {
  test(`${what} updates published and touched`, async (t) => {
    isPublished(t, await around(write, status))
  })
}

const TOUCHED: [what: string, write: (api: Client, rrsets: string) => Promise<Answer>][] = [
  ['an empty PATCH', (api, rrsets) => api.patch(`${rrsets}www/A/`, {})],
  ['a PATCH of the same TTL', (api, rrsets) => api.patch(`${rrsets}www/A/`, { ttl: 3600 })],
  ['a PUT of the same RRset', (api, rrsets) => api.put(`${rrsets}www/A/`, rrset())],
]

for (const [what, write] of TOUCHED) {
  test(`${what} updates only touched`, async (t) => {
    const [before, after] = await around(write, 200)
    t.is(after.published, before.published)
    t.true(after.touched > before.touched)
  })
}

const NOTHING: [what: string, write: (api: Client, rrsets: string) => Promise<Answer>, status: number][] = [
  ['the deletion of an absent RRset', (api, rrsets) => api.delete(`${rrsets}absent/A/`), 204],
  ['a PATCH of an absent RRset', (api, rrsets) => api.patch(`${rrsets}absent/A/`, { records: [] }), 404],
  ['a refused RRset', (api, rrsets) => api.post(rrsets, rrset({ records: ['x'] })), 400],
  ['a refused change', (api, rrsets) => api.patch(`${rrsets}www/A/`, { ttl: 1 }), 400],
  ['a read', (api, rrsets) => api.get(rrsets), 200],
]

for (const [what, write, status] of NOTHING) {
  test(`${what} updates neither published nor touched`, async (t) => {
    const [before, after] = await around(write, status)
    t.deepEqual(after, before)
  })
}

test('touched of a domain is the latest of its published and the touched of its RRsets', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name)
  const { touched } = succeeded(await api.patch(`/domains/${name}/rrsets/www/A/`, {}), 200).json as { touched: string }
  t.is((await domainOf(api, name)).touched, touched)
})

test('created and touched of a new RRset equal published of its domain', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const { created, touched } = await newRRset(api, name)
  const { published } = await domainOf(api, name)
  t.is(touched, created)
  t.is(published, created)
})

test('a write in one domain does not change the times of others', async (t) => {
  const { api } = await service().account()
  const [name, other] = [await newDomain(api), await newDomain(api)]
  const before = await domainOf(api, other)
  await newRRset(api, name)
  t.deepEqual(await domainOf(api, other), before)
})
