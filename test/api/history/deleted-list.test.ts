import { query } from '../../../src/store/database.ts'
import { newDomain, newZone, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// The list of deleted domains that can be restored (contract §15.5). Which tokens may read it is tested in
// test/http/access/matrix.test.ts.

const service = useService()

interface Shown {
  name: string
  deleted: string
  restorable_until: string
}

const LIST = '/domains/?deleted=true'

async function listedTo(api: Client, path = LIST): Promise<string[]> {
  return names(succeeded(await api.get(path), 200))
}

const names = ({ json }: Answer) => (json as Shown[]).map(({ name }) => name)

async function remove(api: Client, ...domains: string[]): Promise<void> {
  for (const domain of domains) succeeded(await api.delete(`/domains/${domain}/`), 204)
}

test('the list has what can be restored, the last deletion first, and nothing else', async (t) => {
  const { api, domain } = await newZone(service())
  const [kept, second] = [await newDomain(api), await newDomain(api)]
  t.is(succeeded(await api.get(LIST), 200).text, '[]')
  await remove(api, second, domain)
  t.deepEqual(await listedTo(api), [domain, second])
  t.deepEqual(await listedTo(api, '/domains/'), [kept])
  t.deepEqual(await listedTo(api, '/domains/?deleted=false'), [kept])
  t.deepEqual(await listedTo((await service().account()).api), [])
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  t.deepEqual(await listedTo(api), [second])
})

test('an entry tells the time of the deletion, and until when the history is kept', async (t) => {
  const { account, api, domain } = await newZone(service())
  await remove(api, domain)
  const [row] = await query<{ deleted: string; until: string }>(
    service().system.db,
    `select deleted, deleted + interval '90 days' as until from deleted_domains where owner_id = :id`,
    { id: account.id },
  )
  const { text } = succeeded(await api.get(LIST), 200)
  t.is(text, JSON.stringify([{ name: domain, deleted: row!.deleted, restorable_until: row!.until }]))
})

test('of one name only the domain that would come back is listed, and none while the name is taken', async (t) => {
  const { api, domain } = await newZone(service())
  await remove(api, domain)
  const other = (await service().account()).api
  await newDomain(other, domain)
  t.deepEqual(await listedTo(api), [])
  await remove(other, domain)
  t.deepEqual([await listedTo(api), await listedTo(other)], [[domain], [domain]])
  const [former] = (await api.get(LIST)).json as Shown[]
  await newDomain(api, domain)
  t.deepEqual(await listedTo(api), [])
  await remove(api, domain)
  const [latter, ...others] = (await api.get(LIST)).json as Shown[]
  t.deepEqual(others, [])
  t.is(latter!.name, domain)
  t.true(latter!.deleted > former!.deleted)
})

test('an override token with policies sees no deleted domain', async (t) => {
  const { account, api, domain } = await newZone(service())
  await remove(api, domain)
  const bound = { permCreateDomain: true, userOverrideId: account.id }
  const owner = await service().account()
  const [confined, free] = [await addToken(service(), owner.id, bound), await addToken(service(), owner.id, bound)]
  await addPolicies(service(), confined.id, { write: true }, { domain: await newDomain(api), write: true })
  t.deepEqual(await listedTo(confined.api), [])
  t.deepEqual(await listedTo(free.api), [domain])
  t.deepEqual(await listedTo(owner.api), [])
})

test('more than 500 deleted domains are paged', async (t) => {
  const { id, api } = await service().account()
  await query(
    service().system.db,
    `with gone as (
       insert into deleted_domains (id, name, owner_id, minimum_ttl, created, deleted)
       select 1000000 + n, 'gone-' || n || '.test', :id, 60, now(), now() - interval '1 second' * n
       from generate_series(1, 501) as n returning id, deleted
     )
     insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), id, deleted, 1, 'api', 0, '[]' from gone`,
    { id },
  )
  const required = await api.get(LIST)
  t.is(required.status, 400)
  t.true(required.text.includes('(501 total)'), required.text)
  t.regex(String(required.headers['link']), /\/domains\/\?cursor=&deleted=true>; rel="first"$/)
  const first = succeeded(await api.get(`${LIST}&cursor=`), 200)
  const next = /<([^>]*)>; rel="next"/.exec(String(first.headers['link']))![1]!
  const last = succeeded(await api.get(next.replace(/^.*\/api\/v1/, '')), 200)
  t.deepEqual([names(first).length, names(first)[0], names(last)], [500, 'gone-1.test', ['gone-501.test']])
  t.is((await api.get(`${LIST}&cursor=x`)).status, 404)
})

test('bad input is 400, and names its parameter', async (t) => {
  const { api } = await service().account()
  for (const value of ['', '1', 'True', 'yes']) {
    const { status, text } = await api.get(`/domains/?deleted=${value}`)
    t.deepEqual([status, text], [400, '{"deleted":["Must be a valid boolean."]}'], value)
  }
  const { status, text } = await api.get(`${LIST}&owns_qname=a.test`)
  t.deepEqual([status, text], [400, '{"owns_qname":["Cannot be combined with deleted."]}'])
})
