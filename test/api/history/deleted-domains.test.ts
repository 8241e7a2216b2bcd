import { remove } from '../../../src/service/accounts/accounts.ts'
import { bringBack } from '../../../src/service/domains/creation.ts'
import { trimHistory } from '../../../src/service/domains/retention.ts'
import { domainOf, newDomain, newRRset, newZone, rrset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { contentsOf, entriesOf, restore, undo } from '../../support/state/history.ts'

// Domains that were deleted come back (contract §15.5).

const service = useService()

const prepare = () => newZone(service(), {})

const comeBack = (name: string) => ({ name, restore: true })

test('a deleted domain comes back with its RRsets, its history and a higher serial', async (t) => {
  const { api, domain } = await prepare()
  await newRRset(api, domain, { subname: 'x', type: 'TXT', records: ['"a\\"b%s\\\\"', '"\\195\\159"'] })
  const before = { shown: await domainOf(api, domain), contents: await contentsOf(api, domain) }
  const former = await entriesOf(api, domain)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  t.is((await api.get(`/domains/${domain}/history/`)).status, 404)
  const { json } = succeeded(await api.post('/domains/', comeBack(domain)), 201)
  t.deepEqual(Object.keys(json as object), ['created', 'published', 'name', 'keys', 'minimum_ttl', 'touched'])
  t.like(await domainOf(api, domain), { created: before.shown.created, minimum_ttl: before.shown.minimum_ttl })
  t.deepEqual(await contentsOf(api, domain), before.contents)
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
  const [comeback, deletion, ...others] = await entriesOf(api, domain)
  t.deepEqual(others, former)
  t.like(deletion, { source: 'api', count: 3, event: 'deletion' })
  t.like(comeback, { source: 'restore', count: 3, event: 'return' })
  t.true(comeback!.version > deletion!.version && deletion!.version > former[0]!.version)
  // And every state from before the deletion.
  succeeded(await restore(api, domain, { version: former[1]!.version }), 200)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'www A'])
  succeeded(await restore(api, domain, { version: deletion!.version }), 200)
  t.deepEqual(await contentsOf(api, domain), {})
})

test('deletion and return name their authors, and cannot be undone, also if all is as they left it', async (t) => {
  const { account, api, domain } = await prepare()
  const { api: cleaner, id } = await addToken(service(), account.id, { name: 'cleaner', permDeleteDomain: true })
  succeeded(await cleaner.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', comeBack(domain)), 201)
  const [comeback, deletion] = await entriesOf(api, domain)
  t.deepEqual(deletion!.token, { id, name: 'cleaner' })
  t.is(comeback!.token!.id, account.tokenId)
  const contents = await contentsOf(api, domain)
  const refusal = { detail: 'The return of a domain cannot be undone: delete the domain.' }
  t.like(await undo(api, domain, comeback!), { status: 409, json: refusal })
  t.deepEqual(await contentsOf(api, domain), contents)
  succeeded(await restore(api, domain, { version: deletion!.version }), 200)
  for (const query of ['', '?dry_run=true']) {
    const { status, json } = await undo(api, domain, deletion!, query)
    t.deepEqual([status, json], [409, { detail: 'The deletion of a domain cannot be undone: it has come back.' }])
  }
  t.deepEqual(await contentsOf(api, domain), {})
})

test('only the account that had it can bring it back, and only once', async (t) => {
  const { account, api, domain } = await prepare()
  const nothing = [400, '{"name":["There is nothing to restore."]}']
  const ask = async (client: typeof api, name = domain) => {
    const { status, text } = await client.post('/domains/', comeBack(name))
    return [status, text]
  }
  t.deepEqual(await ask(api), [400, '{"name":["domain with this name already exists."]}'])
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  t.deepEqual(await ask((await service().account()).api), nothing)
  t.is((await (await addToken(service(), account.id)).api.post('/domains/', comeBack(domain))).status, 403)
  const both = { ...comeBack(domain), zonefile: 'x 60 A 192.0.2.1' }
  t.like(await api.post('/domains/', both), { status: 400, json: { zonefile: ['Cannot be combined with restore.'] } })
  t.is((await api.post('/domains/', { name: domain, restore: 'perhaps' })).status, 400)
  succeeded(await api.post('/domains/', comeBack(domain)), 201)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', comeBack(domain)), 201)
  t.deepEqual(await ask(api, `never-${domain}`), nothing)
})

test('a new domain of the same name has a history of its own; the last one that was deleted comes back', async (t) => {
  const { api, domain } = await prepare()
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await newDomain(api, domain)
  t.is((await entriesOf(api, domain)).length, 1)
  await newRRset(api, domain, { subname: 'second' })
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', comeBack(domain)), 201)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'second A'])
})

test('with a time, the one that existed then comes back: nobody hides it by another of its name', async (t) => {
  const { api, domain } = await prepare()
  const first = await contentsOf(api, domain)
  const [latest] = await entriesOf(api, domain)
  const ask = async (body: object) => api.post('/domains/', { name: domain, ...body })
  for (let times = 0; times < 2; times++) {
    succeeded(await api.delete(`/domains/${domain}/`), 204)
    if (times === 0) await newDomain(api, domain)
  }
  const noHistory = { at: ['There is no history of that time.'] }
  t.like(await ask({ restore: true, at: '2026-01-01T00:00:00Z' }), { status: 400, json: noHistory })
  t.like(await ask({ at: latest!.created }), { status: 400, json: { at: ['Cannot be given without restore.'] } })
  t.is((await ask({ restore: true, at: 'yesterday' })).status, 400)
  const other = (await service().account()).api
  t.is((await other.post('/domains/', { name: domain, restore: true, at: latest!.created })).status, 400)
  succeeded(await ask({ restore: true, at: latest!.created }), 201)
  t.deepEqual(await contentsOf(api, domain), first)
})

test('the policies of the token must allow each RRset that comes back', async (t) => {
  const { account, api, domain } = await prepare()
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  const limited = await addToken(service(), account.id, { permCreateDomain: true })
  await addPolicies(service(), limited.id, { write: false }, { subname: 'mail', write: true })
  t.is((await limited.api.post('/domains/', comeBack(domain))).status, 403)
  await addPolicies(service(), limited.id, { subname: 'www', type: 'A', write: true })
  succeeded(await limited.api.post('/domains/', comeBack(domain)), 201)
})

test('what comes back has no policies: auto_policy gives no right to it', async (t) => {
  const { account, api, domain } = await prepare()
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  const limited = await addToken(service(), account.id, { permCreateDomain: true })
  await addPolicies(service(), limited.id, { write: false })
  await service().sql('update tokens set auto_policy = true where id = :id', { id: limited.id })
  t.is((await limited.api.post('/domains/', comeBack(domain))).status, 403)
  await addPolicies(service(), limited.id, { subname: 'www', write: true })
  succeeded(await limited.api.post('/domains/', comeBack(domain)), 201)
  t.is((await limited.api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'x' }))).status, 403)
})

test('an override token with policies sees no deleted domain', async (t) => {
  const { account, api, domain } = await prepare()
  const owner = await service().account()
  const bound = { permCreateDomain: true, userOverrideId: account.id }
  const [confined, free] = [await addToken(service(), owner.id, bound), await addToken(service(), owner.id, bound)]
  await addPolicies(service(), confined.id, { write: true }, { domain: await newDomain(api), write: true })
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  t.deepEqual(await listedTo(confined.api), [])
  t.deepEqual(await listedTo(free.api), [domain])
  t.deepEqual(await listedTo(owner.api), [])
  const { status, text } = await confined.api.post('/domains/', comeBack(domain))
  t.deepEqual([status, text], [400, '{"name":["There is nothing to restore."]}'])
  succeeded(await free.api.post('/domains/', comeBack(domain)), 201)
})

test('the operator restores a deleted domain, also as it was before, and one that exists', async (t) => {
  const { api, domain } = await prepare()
  const { system } = service()
  const [entry, creation] = await entriesOf(api, domain)
  await newRRset(api, domain, { subname: 'x' })
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await t.throwsAsync(bringBack(system, domain, '2020-01-01T00:00:00.000000Z'), { message: 'invalid input' })
  await bringBack(system, domain, entry!.created)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'www A'])
  t.like((await entriesOf(api, domain))[0], {
    ...{ source: 'operator', event: 'return', owner: null, token: null, request_id: null },
  })
  await bringBack(system, domain, creation!.created)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS'])
  await t.throwsAsync(bringBack(system, domain, undefined), { message: 'invalid input' })
  await t.throwsAsync(bringBack(system, 'never.test', undefined), {
    message: /^There is no deleted domain never\.test/,
  })
})

test('when the retention ends, so does the possibility to restore', async (t) => {
  const { api, domain } = await prepare()
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await service().sql(`update deleted_domains set deleted = deleted - interval '91 days' where name = :domain`, {
    domain,
  })
  await trimHistory(service().system)
  t.is((await api.post('/domains/', comeBack(domain))).status, 400)
  // The entries of a domain that nobody can restore are of no use.
  const orphans = `select from history where domain_id not in (select id from domains union select id from deleted_domains)`
  t.is((await service().sql(orphans)).length, 0)
})

test('the deletion of an account deletes the history of all its domains', async (t) => {
  const { account, api, domain } = await prepare()
  const [row] = await service().sql<{ id: number; email: string }>(
    'select domains.id, email from domains join accounts on accounts.id = owner_id where domains.name = :domain',
    { domain },
  )
  const entries = async () => (await service().sql('select from history where domain_id = :id', row)).length
  await api.put(`/domains/${domain}/rrsets/`, [rrset({ ttl: 60 })])
  t.is(await entries(), 3)
  await remove(service().system, row!.email, true)
  t.is(await entries(), 0)
  t.is((await service().sql('select from deleted_domains where owner_id = :id', { id: account.id })).length, 0)
})

// The list of deleted domains that can be restored (contract §15.5). Which tokens may read it is tested in
// test/http/access/matrix.test.ts.

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

async function deleteAll(api: Client, ...domains: string[]): Promise<void> {
  for (const domain of domains) succeeded(await api.delete(`/domains/${domain}/`), 204)
}

test('the list has what can be restored, the last deletion first, and nothing else', async (t) => {
  const { api, domain } = await newZone(service())
  const [kept, second] = [await newDomain(api), await newDomain(api)]
  t.is(succeeded(await api.get(LIST), 200).text, '[]')
  await deleteAll(api, second, domain)
  t.deepEqual(await listedTo(api), [domain, second])
  t.deepEqual(await listedTo(api, '/domains/'), [kept])
  t.deepEqual(await listedTo(api, '/domains/?deleted=false'), [kept])
  t.deepEqual(await listedTo((await service().account()).api), [])
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  t.deepEqual(await listedTo(api), [second])
})

test('an entry tells the time of the deletion, and until when the history is kept', async (t) => {
  const { account, api, domain } = await newZone(service())
  await deleteAll(api, domain)
  const [row] = await service().sql<{ deleted: string; until: string }>(
    `select deleted, deleted + interval '90 days' as until from deleted_domains where owner_id = :id`,
    { id: account.id },
  )
  const { text } = succeeded(await api.get(LIST), 200)
  t.is(text, JSON.stringify([{ name: domain, deleted: row!.deleted, restorable_until: row!.until }]))
})

test('of one name only the domain that would come back is listed, and none while the name is taken', async (t) => {
  const { api, domain } = await newZone(service())
  await deleteAll(api, domain)
  const other = (await service().account()).api
  await newDomain(other, domain)
  t.deepEqual(await listedTo(api), [])
  await deleteAll(other, domain)
  t.deepEqual([await listedTo(api), await listedTo(other)], [[domain], [domain]])
  const [former] = (await api.get(LIST)).json as Shown[]
  await newDomain(api, domain)
  t.deepEqual(await listedTo(api), [])
  await deleteAll(api, domain)
  const [latter, ...others] = (await api.get(LIST)).json as Shown[]
  t.deepEqual(others, [])
  t.is(latter!.name, domain)
  t.true(latter!.deleted > former!.deleted)
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
