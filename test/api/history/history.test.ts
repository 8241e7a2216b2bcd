import { trimHistory } from '../../../src/service/domains/retention.ts'
import { reconcileAll } from '../../../src/service/repair/reconcile.ts'
import { freshName, newDomain, newReservedDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { changeAtPowerDns, soaOf } from '../../support/state/behind-our-back.ts'
import { changesIn, entriesOf, restore, type ShownEntry, undo } from '../../support/state/history.ts'

// The history of a domain (contract §15.5): what leaves an entry, and who sees what of it.

const service = useService({ LOCAL_PUBLIC_SUFFIXES: 'dyn.example.net' })

async function prepare() {
  const account = await service().account()
  const domain = await newDomain(account.api)
  return { account, api: account.api, domain, collection: `/domains/${domain}/rrsets/` }
}

const A = { ttl: 3600, records: ['192.0.2.1'] }
const NS = { ttl: 3600, records: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'] }

test('an entry says what changed, who did it, by which token, in which request, and the version', async (t) => {
  const { account, api, domain, collection } = await prepare()
  await api.post(collection, [rrset(), rrset({ subname: 'x' })], { headers: { 'x-request-id': 'my-request' } })
  const [entry, creation] = await entriesOf(api, domain)
  const [row] = await service().sql<{ version: number; published: string; email: string }>(
    `select version, published, email from domains join accounts on accounts.id = owner_id where domains.name = :domain`,
    { domain },
  )
  t.deepEqual(Object.keys(entry!), [
    ...['id', 'created', 'version', 'source', 'owner', 'token', 'request_id', 'message', 'count'],
    ...['event', 'rollover', 'trimmed'],
    'changes',
  ])
  t.regex(entry!.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.like(entry, {
    ...{ created: row!.published, version: row!.version, source: 'api', owner: row!.email },
    ...{ token: { id: account.tokenId, name: '' }, request_id: 'my-request', count: 2, event: null },
  })
  t.deepEqual(entry!.changes, [
    { subname: 'www', type: 'A', before: null, after: A },
    { subname: 'x', type: 'A', before: null, after: A },
  ])
  t.deepEqual((await api.get(`/domains/${domain}/history/${entry!.id}/`)).json, entry)
  t.like(creation, { source: 'creation', count: 1, event: 'creation' })
  t.deepEqual(await changesIn(api, domain, creation!), [{ subname: '', type: 'NS', before: null, after: NS }])
})

test('the list has the changes of an entry, unless they are large', async (t) => {
  const { api, domain, collection } = await prepare()
  const text = (length: number) => [`"${'x'.repeat(length)}"`]
  const small = rrset({ type: 'TXT', records: text(200) })
  const large = rrset({ type: 'TXT', records: Array.from({ length: 12 }, (_, i) => text(180 + i)[0]!) })
  succeeded(await api.put(collection, [small]), 200)
  succeeded(await api.put(collection, [large]), 200)
  const [second, first] = await entriesOf(api, domain)
  const after = (set: typeof small) => ({ ttl: set.ttl, records: set.records })
  t.deepEqual(first!.changes, [{ subname: 'www', type: 'TXT', before: null, after: after(small) }])
  t.is(second!.changes, null)
  t.is(second!.count, 1)
  const [change] = await changesIn(api, domain, second!)
  t.deepEqual(change!.after!.records.sort(), large.records)
})

test('each source leaves an entry of its kind, and what changes nothing leaves none', async (t) => {
  const { api, domain, collection } = await prepare()
  const path = `${collection}www/A/`
  await api.post(collection, rrset())
  await api.put(path, rrset())
  await api.patch(path, {})
  await api.delete(`${collection}absent/A/`)
  await api.patch(collection, [])
  await api.patch(path, { ttl: 60 })
  await api.get(`/dyndns/update?hostname=www.${domain}&myip=192.0.2.7&myipv6=preserve`)
  await api.get(`/dyndns/update?hostname=www.${domain}&myip=192.0.2.7&myipv6=preserve`)
  const zonefile = { headers: { 'content-type': 'text/dns' }, body: 'www 60 A 192.0.2.8\n' }
  await api.send('PUT', `/domains/${domain}/zonefile/`, undefined, zonefile)
  await api.send('PUT', `/domains/${domain}/zonefile/`, undefined, zonefile)
  const [newest] = await entriesOf(api, domain)
  succeeded(await undo(api, domain, newest!), 200)
  const [, , , , first] = await entriesOf(api, domain)
  succeeded(await restore(api, domain, { version: first!.version }), 200)
  succeeded(await restore(api, domain, { version: first!.version }), 200)
  await api.delete(path)
  const sources = (await entriesOf(api, domain)).map(({ source }) => source)
  t.deepEqual(sources, ['api', 'restore', 'undo', 'zonefile', 'dyndns', 'api', 'api', 'creation'])
  const imported = freshName()
  await api.post('/domains/', { name: imported, zonefile: 'www 60 A 192.0.2.8\n' })
  t.like(await entriesOf(api, imported), [{ source: 'import', count: 2, event: 'creation' }])
})

test('the versions and times of entries grow, whatever the clock says', async (t) => {
  const { api, domain, collection } = await prepare()
  await service().sql(`update domains set published = published + interval '1 hour' where name = :domain`, { domain })
  for (let i = 1; i < 5; i++) await api.put(collection, [rrset({ records: [`192.0.2.${i}`] })])
  const entries = (await entriesOf(api, domain)).reverse()
  for (const [i, entry] of entries.slice(1).entries()) {
    t.true(entry.version > entries[i]!.version)
    t.true(entry.created > entries[i]!.created)
  }
  t.is(new Set(entries.map(({ created }) => created)).size, 5)
})

test('a refused or failed write leaves no entry', async (t) => {
  const { api, domain, collection } = await prepare()
  const before = await entriesOf(api, domain)
  await api.post(collection, rrset({ ttl: 1 }))
  await api.put(collection, [rrset()], { headers: { 'if-match': '"x"' } })
  service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422, error: 'no' } : 'pass'))
  t.is((await api.post(collection, rrset())).status, 400)
  service().proxy.fail(({ method }) => (method === 'PATCH' ? 'swallow' : 'pass'))
  t.is((await api.post(collection, rrset())).status, 503)
  service().proxy.heal()
  t.deepEqual(await entriesOf(api, domain), before)
})

test('what the operator does has no owner, token or request', async (t) => {
  const operator = await service().account()
  await newReservedDomain(service(), operator.id, 'dyn.example.net')
  const { api } = await service().account()
  const child = await newDomain(api, 'child.dyn.example.net')
  const entries = await entriesOf(operator.api, 'dyn.example.net')
  t.like(entries, [
    { source: 'operator', count: 2, event: null },
    { source: 'operator', count: 1, event: 'creation' },
  ])
  for (const { owner, token, request_id } of entries) t.deepEqual([owner, token, request_id], [null, null, null])
  succeeded(await api.delete(`/domains/${child}/`), 204)
  const [newest] = await entriesOf(operator.api, 'dyn.example.net')
  const after = (await changesIn(operator.api, 'dyn.example.net', newest!)).map(({ after }) => after)
  t.deepEqual(after, [null, null])
})

test('a repair has an entry only if others changed the contents, and it says what was found', async (t) => {
  const { api, domain } = await prepare()
  await newRRset(api, domain)
  const entries = await entriesOf(api, domain)
  // A serial that moves is no change of contents.
  await changeAtPowerDns(service(), domain, ['', 'SOA', 300, soaOf(domain, entries[0]!.version + 5)])
  await reconcileAll(service().system, { contents: true })
  t.deepEqual(await entriesOf(api, domain), entries)
  await changeAtPowerDns(service(), domain, ['www', 'A', 60, '192.0.2.66'], ['foreign', 'A', 60, '192.0.2.67'])
  await reconcileAll(service().system, { contents: true })
  const [repair, ...others] = await entriesOf(api, domain)
  t.deepEqual(others, entries)
  t.like(repair, { source: 'repair', owner: null, token: null, request_id: null, count: 2 })
  t.deepEqual(await changesIn(api, domain, repair!), [
    { subname: 'foreign', type: 'A', before: { ttl: 60, records: ['192.0.2.67'] }, after: null },
    { subname: 'www', type: 'A', before: { ttl: 60, records: ['192.0.2.66'] }, after: A },
  ])
  t.like(await undo(api, domain, repair!), { status: 409, json: { detail: 'A repair cannot be undone.' } })
  // It changed nothing in the database, so it does not count when a state is restored.
  const { json } = succeeded(await restore(api, domain, { version: entries[0]!.version }), 200)
  t.deepEqual(json, { changes: [] })
})

test('the list is filtered by subname and by type, exactly', async (t) => {
  const { api, domain, collection } = await prepare()
  await newRRset(api, domain, { subname: 'a.b', type: 'TXT', records: ['"[\\"www\\",\\"A\\",[1"', '"x\\",\\"A\\",["'] })
  await newRRset(api, domain, { subname: 'b', type: 'OPENPGPKEY', records: ['CERT'] })
  await newRRset(api, domain)
  await api.put(collection, [rrset({ ttl: 60 }), rrset({ subname: 'x', type: 'AAAA', records: ['::1'] })])
  const counts = async (filter: string) => (await entriesOf(api, domain, filter)).map(({ count }) => count)
  t.deepEqual(await counts('?subname=www'), [2, 1])
  t.deepEqual(await counts('?type=A'), [2, 1])
  t.deepEqual(await counts('?type=AAAA'), [2])
  t.deepEqual(await counts('?subname=www&type=AAAA'), [])
  t.deepEqual(await counts('?subname=x&type=AAAA'), [2])
  t.deepEqual(await counts('?subname='), [1])
  t.deepEqual(await counts('?type=CERT'), [])
  t.deepEqual(await counts('?subname=b'), [1])
  t.deepEqual(await counts('?subname=%22'), [])
  t.deepEqual(await counts('?type=.*'), [])
  t.deepEqual(await counts('?type=a'), [])
})

test('an entry that is absent, malformed, or of another domain is 404', async (t) => {
  const { api, domain } = await prepare()
  const other = await newDomain(api)
  const [entry] = await entriesOf(api, other)
  for (const id of [entry!.id, 'x', '00000000-0000-0000-0000-000000000000', entry!.id.toUpperCase()]) {
    t.is((await api.get(`/domains/${domain}/history/${id}/`)).status, 404)
    t.is((await api.post(`/domains/${domain}/history/${id}/undo/`)).status, 404)
  }
})

test('only callers that may list the account’s tokens see who it was', async (t) => {
  const { account, domain, api } = await prepare()
  const stranger = await service().account()
  const { api: bound, id } = await addToken(service(), stranger.id, { name: 'secret', userOverrideId: account.id })
  await newRRset(bound, domain)
  const plain = (await addToken(service(), account.id)).api
  for (const reader of [bound, plain]) {
    const entries = await entriesOf(reader, domain)
    for (const entry of entries) {
      t.like(entry, { owner: null, token: null })
      const { json, text } = await reader.get(`/domains/${domain}/history/${entry.id}/`)
      t.like(json, { owner: null, token: null })
      t.false(text.includes('secret') || text.includes('@'))
    }
    t.is(entries.length, 2)
  }
  const [entry] = await entriesOf(api, domain)
  t.deepEqual(entry!.token, { id, name: 'secret' })
  // The ids remain when token and account are deleted; the names do not.
  await service().sql('delete from tokens where id = :id', { id })
  t.deepEqual((await entriesOf(api, domain))[0]!.token, { id, name: null })
  await service().sql('delete from accounts where id = :id', { id: stranger.id })
  t.like((await entriesOf(api, domain))[0], { owner: null, token: { id, name: null } })
})

test('entries beyond the retention are deleted, in batches; the oldest state kept can still be restored', async (t) => {
  const { api, domain, collection } = await prepare()
  const other = await newDomain(api)
  for (let i = 1; i < 5; i++) await api.put(collection, [rrset({ records: [`192.0.2.${i}`] })])
  const [, , third] = await entriesOf(api, domain)
  // Ids have the order of the times.
  const age = async (condition: string) =>
    service().sql(
      `update history set created = created - interval '91 days', id = cast('0000' || substr(cast(id as text), 5) as uuid)
       where domain_id = (select id from domains where name = :domain) and ${condition}`,
      { domain },
    )
  await age(`version < ${third!.version}`)
  await service().sql(
    `insert into history (id, domain_id, created, version, source, count, changes)
     select cast('00000000' || substr(cast(gen_random_uuid() as text), 9) as uuid), id, now() - interval '91 days', 1, 'api', 1, '[]'
     from generate_series(1, 2500), domains where name = :other`,
    { other },
  )
  await trimHistory(service().system)
  t.is((await entriesOf(api, other)).length, 1)
  t.is((await entriesOf(api, domain)).length, 3)
  const unknown = { at: ['There is no history of that time.'] }
  const at = (milliseconds: number) => new Date(Date.parse(third!.created) + milliseconds).toISOString()
  t.deepEqual((await restore(api, domain, { at: at(-1) })).json, unknown)
  t.deepEqual((await restore(api, domain, { version: third!.version - 1 })).json, {
    version: ['There is no history of that version.'],
  })
  succeeded(await restore(api, domain, { at: third!.created }), 200)
  t.like((await api.get(`${collection}www/A/`)).json, { records: ['192.0.2.2'] })
})

// The search in the history of a domain (contract §15.5).

/** The counts of the entries that a search finds: each entry of these tests has another one. */
async function found(api: Client, domain: string, search: string, more = ''): Promise<number[]> {
  const query = new URLSearchParams({ search }).toString()
  return (await entriesOf(api, domain, `?${query}${more}`)).map(({ count }) => count)
}

/** A domain with entries of one, two and three RRsets: its creation, and changes by two tokens. */
async function domainWithEntries() {
  const account = await service().account()
  const domain = await newDomain(account.api)
  const ci = await addToken(service(), account.id, { name: 'CI deploy', permManageTokens: true })
  const path = `/domains/${domain}/rrsets/`
  const A = ['192.0.2.1']
  succeeded(
    await ci.api.post(path, [rrset({ records: A }), rrset({ subname: 'a.b', type: 'TXT', records: ['"[\\"ns\\","'] })]),
    201,
  )
  const mail = ['mail', 'xn--bcher-kva', '*.x'].map((subname) =>
    rrset({ subname, type: 'MX', records: ['1 www.x.test.'] }),
  )
  succeeded(await account.api.post(path, mail), 201)
  return { account, api: account.api, ci, domain }
}

test('each word is a part of a name or of the author, or a whole type', async (t) => {
  const { api, domain } = await domainWithEntries()
  const [{ owner }] = (await entriesOf(api, domain)) as [ShownEntry]
  const cases: [search: string, ...counts: number[]][] = [
    ['', 3, 2, 1],
    [' ', 3, 2, 1],
    ['WW', 2],
    ['www mail'],
    ['mail Bücher', 3],
    ['mx', 3],
    ['type:txt a.b', 2],
    ['type:t'],
    // A type, or the name that is called like it, but no other one.
    ['a', 2],
    ['ns', 1],
    [`www.${domain}.`, 2],
    [`ww.${domain}`],
    ['@', 1],
    [domain, 1],
    ['name:@', 1],
    ['*', 3],
    ['.x', 3],
    ['name:deploy'],
    ['deploy ci', 2],
    ['by:CI', 2],
    ['by:www'],
    ['by:creation', 1],
    ['by:api', 3, 2],
    [owner!.toUpperCase(), 3, 2, 1],
    // No contents, no regular expressions, nothing that ends a text.
    ['192.0.2.1'],
    ['w.w'],
    ['w[w]w'],
    ['"'],
    ['www",'],
    ['\0'],
    ['by:\0'],
    ['name:.'],
    ['type:.'],
    ['x'.repeat(254)],
    ['w '.repeat(10), 2],
    ['w '.repeat(11)],
  ]
  for (const [search, ...counts] of cases) t.deepEqual(await found(api, domain, search), counts, search)
  t.deepEqual(await found(api, domain, 'www', '&type=TXT'), [2])
  t.deepEqual(await found(api, domain, 'www', '&subname=mail'), [])
  t.deepEqual(await found(api, domain, 'www', '&type=.'), [])
})

test('a search finds no author whom its caller does not see', async (t) => {
  const { account, domain } = await domainWithEntries()
  const stranger = await service().account()
  const { api: bound } = await addToken(service(), stranger.id, { userOverrideId: account.id })
  const { api: plain } = await addToken(service(), account.id)
  const [{ email }] = (await service().sql('select email from accounts where id = :id', {
    id: account.id,
  })) as [{ email: string }]
  for (const api of [bound, plain]) {
    for (const search of ['deploy', 'by:deploy', email, `by:${email}`])
      t.deepEqual(await found(api, domain, search), [])
    t.deepEqual(await found(api, domain, 'by:api'), [3, 2])
    t.deepEqual(await found(api, domain, 'www'), [2])
  }
})

test('the address of a member finds what it did, also by tokens that it made; admins search, too', async (t) => {
  const { account, api, domain } = await domainWithEntries()
  const [admin, editor] = [
    await addMember(service(), account.id, 'admin'),
    await addMember(service(), account.id, 'editor'),
  ]
  const { token } = (await admin.session.post('/auth/tokens/', { name: 'ci' })).json as { token: string }
  const own = (await entriesOf(api, domain))[0]!.version
  for (const [caller, subname] of [
    [admin.session, 'a'],
    [editor.session, 'b'],
    [new Client(service().url, token), 'c'],
  ] as const)
    await newRRset(caller, domain, { subname, type: 'TXT', ttl: 3600, records: ['"x"'] })
  const changed = async (caller: Client, search: string) =>
    (await entriesOf(caller, domain, `?search=${encodeURIComponent(search)}`))
      .filter(({ version }) => version > own)
      .map(({ changes }) => changes![0]!.subname)
  for (const caller of [api, admin.session]) {
    t.deepEqual(await changed(caller, admin.email), ['c', 'a'])
    t.deepEqual(await changed(caller, `by:${editor.email} b txt`), ['b'])
    t.deepEqual(await changed(caller, `${editor.email} a`), [])
    t.is((await entriesOf(caller, domain, `?search=by:${editor.email}`))[0]!.owner, editor.email)
  }
  t.deepEqual(await changed(editor.session, editor.email), [])
})

test('deletion, return and replacements of keys are found by what they are', async (t) => {
  const { api, domain } = await domainWithEntries()
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  succeeded(await api.post(`/domains/${domain}/rollover/`), 201)
  const events = async (search: string) =>
    (await entriesOf(api, domain, `?search=${search}`)).map(({ event, source }) => event ?? source)
  t.deepEqual(await events('deletion'), ['deletion'])
  t.deepEqual(await events('by:return'), ['return'])
  t.deepEqual(await events('creation'), ['creation'])
  t.deepEqual(await events('rollover'), ['rollover'])
})

test('a page of a search looks at a part of a long history, and others follow', async (t) => {
  const { api, domain } = await domainWithEntries()
  // Twelve thousand later changes of another name.
  await service().sql(
    `insert into history (id, domain_id, created, version, source, count, changes)
     select cast('ffffffff-ffff-7000-8000-' || lpad(to_hex(n), 12, '0') as uuid), id,
       now() + n * interval '1 second', version, 'api', 4, '[["other","A",null,[60,"192.0.2.1"]]]'
     from generate_series(1, 12000) as n, domains where name = :domain`,
    { domain },
  )
  const path = `/domains/${domain}/history/?search=www`
  const { status, text } = await api.get(path)
  t.is(status, 400)
  t.regex(text, /\(12003 total\)/)
  const pages: number[][] = []
  const walk = async (relation: string, from: string) => {
    for (let at = from; ;) {
      const answer = succeeded(await api.get(at), 200)
      pages.push((answer.json as ShownEntry[]).map(({ count }) => count))
      const [, next] = new RegExp(`<[^>]*/api/v1([^>]*)>; rel="${relation}"`).exec(String(answer.headers['link'])) ?? []
      if (next === undefined) return at
      at = next
    }
  }
  const last = await walk('next', `${path}&cursor=`)
  t.deepEqual(pages.splice(0), [[], [], [2]])
  await walk('prev', last)
  t.deepEqual(pages.splice(0), [[2], [], []])
  // A change that is too large to be looked at as a whole, with others behind it.
  await service()
    .sql(`update history set changes = '[["other","TXT",null,[60' || repeat(',"' || repeat('x', 250) || '"', 24000) || ']],["www","A",null,[1]]]'
     where changes like '[["other"%' and created > now() + interval '11998 seconds'`)
  await walk('next', `${path}&cursor=`)
  t.deepEqual(pages.splice(0), [[], [], [2]])
  await service().sql(`delete from history where changes = '[["other","A",null,[60,"192.0.2.1"]]]'`)
  await walk('next', `${path}&cursor=`)
  t.deepEqual(pages.splice(0), [[2]])
})
