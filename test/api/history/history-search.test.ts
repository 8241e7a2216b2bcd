import { query } from '../../../src/store/database.ts'
import { newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf, type ShownEntry } from '../../support/state/history.ts'

// The search in the history of a domain (contract §15.5).

const service = useService()

/** The counts of the entries that a search finds: each entry of these tests has another one. */
async function found(api: Client, domain: string, search: string, more = ''): Promise<number[]> {
  const query = new URLSearchParams({ search }).toString()
  return (await entriesOf(api, domain, `?${query}${more}`)).map(({ count }) => count)
}

/** A domain with entries of one, two and three RRsets: its creation, and changes by two tokens. */
async function prepare() {
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
  const { api, domain } = await prepare()
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
  const { account, domain } = await prepare()
  const stranger = await service().account()
  const { api: bound } = await addToken(service(), stranger.id, { userOverrideId: account.id })
  const { api: plain } = await addToken(service(), account.id)
  const [{ email }] = (await query(service().system.db, 'select email from accounts where id = :id', {
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
  const { account, api, domain } = await prepare()
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
  const { api, domain } = await prepare()
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
  const { api, domain } = await prepare()
  const { db } = service().system
  // Twelve thousand later changes of another name.
  await query(
    db,
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
  await query(
    db,
    `update history set changes = '[["other","TXT",null,[60' || repeat(',"' || repeat('x', 250) || '"', 24000) || ']],["www","A",null,[1]]]'
     where changes like '[["other"%' and created > now() + interval '11998 seconds'`,
  )
  await walk('next', `${path}&cursor=`)
  t.deepEqual(pages.splice(0), [[], [], [2]])
  await query(db, `delete from history where changes = '[["other","A",null,[60,"192.0.2.1"]]]'`)
  await walk('next', `${path}&cursor=`)
  t.deepEqual(pages.splice(0), [[2]])
})
