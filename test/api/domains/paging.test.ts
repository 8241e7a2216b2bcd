import fc from 'fast-check'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §4.

const service = useService({ PUBLIC_URL: 'https://dns.example.net' })

const BASE = 'https://dns.example.net/api/v1'

/** Domains of an account, only in the database, from oldest to newest; some are created at the same time. */
async function addDomains(account: Account, prefix: string, count: number): Promise<void> {
  await service().sql(
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select :prefix || '-' || n || '.test', :id, 60, 1, 0, now() + interval '1 microsecond' * (n / 3), now(), now()
     from generate_series(1, cast(:count as integer)) as n`,
    { id: account.id, prefix, count },
  )
}

/** RRsets, only in the database: every third is a TXT, and every hundredth has the subname `deep`. */
async function addRRsets(domain: string, count: number): Promise<void> {
  await service().sql(
    `with added as (
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, case when n % 100 = 0 then 'deep' else 'h' || n end,
         case when n % 100 = 0 then 'T' || n when n % 3 = 0 then 'TXT' else 'A' end, 60, '{x}',
         now() + interval '1 microsecond' * n, now()
       from domains, generate_series(1, cast(:count as integer)) as n where name = :domain returning 1
     ) update domains set size = size + (select count(*) from added) where name = :domain`,
    { domain, count },
  )
}

/** The names in an answer's list. */
function names(answer: Answer): string[] {
  return (succeeded(answer, 200).json as { name: string }[]).map(({ name }) => name)
}

function links(answer: Answer): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of String(answer.headers['link']).split(', ')) {
    const [, url, relation] = /^<(.*)>; rel="(.*)"$/.exec(part)!
    found[relation!] = url!.replace(BASE, '')
  }
  return found
}

const sizes = (pages: Answer[]) => pages.map((page) => names(page).length)
const relations = (pages: Answer[]) => pages.map((page) => Object.keys(links(page)))

/** All pages in the order of their links. */
async function walk(api: Client, path: string, relation: 'next' | 'prev' = 'next'): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let url: string | undefined = path; url !== undefined; url = links(answers.at(-1)!)[relation]) {
    answers.push(succeeded(await api.get(url), 200))
  }
  return answers
}

test('a list of up to 500 entries is complete and has no Link', async (t) => {
  const account = await service().account()
  await addDomains(account, 'few', 500)
  const answer = await account.api.get('/domains/')
  t.is(names(answer).length, 500)
  t.false('link' in answer.headers)
})

test('a list of more than 500 entries must be requested in pages', async (t) => {
  const account = await service().account()
  await addDomains(account, 'many', 501)
  for (const path of ['/domains/', '/domains', '/domains/?foo=bar&cursors=']) {
    const { status, headers, text } = await account.api.get(path)
    t.is(status, 400)
    t.is(
      text,
      '{"detail":"Pagination required. You can query up to 500 items at a time (501 total). ' +
        'Please use the `first` page link (see Link header)."}',
    )
    t.is(headers['link'], `<${BASE}/domains/?cursor=>; rel="first"`)
  }
})

/** Older entries of other lists, of which there are some already, and how many there are then. */
const LISTS: [what: string, path: string, total: number, older: string][] = [
  [
    'tokens, owned and bound',
    '/auth/tokens/',
    702,
    `insert into tokens (created, owner_id, user_override_id, secret_hash)
     select now() - interval '1 second' * n, case when n % 2 = 0 then cast(:id as uuid) else :other end,
       case when n % 2 = 0 then null else cast(:id as uuid) end, sha256(convert_to('paged ' || n, 'UTF8'))
     from generate_series(1, 700) as n`,
  ],
  [
    'deleted domains',
    '/domains/?deleted=true',
    501,
    `with gone as (
       insert into deleted_domains (id, name, owner_id, minimum_ttl, created, deleted)
       select 1000000 + n, 'gone-' || n || '.test', :id, 60, now(), now() - interval '1 second' * n
       from generate_series(1, 501) as n returning id, deleted
     )
     insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), id, deleted, 1, 'api', 0, '[]' from gone`,
  ],
  [
    'factors',
    '/auth/totp/',
    501,
    `insert into totp_factors (id, account_id, created, name, secret)
     select gen_random_uuid(), :id, now() - interval '1 second' * n, n, '' from generate_series(1, 501) as n`,
  ],
  ...['', '?subname=w'].map((filter): [string, string, number, string] => [
    `entries of a history ${filter}`,
    `/domains/DOMAIN/history/${filter}`,
    filter === '' ? 601 : 600,
    `insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), id, created - interval '1 second' * n, 1, 'api', 1, '[["w","A",null,[1,"::"]]]'
     from domains, generate_series(1, 600) as n where name = :domain`,
  ]),
]

for (const [what, path, total, older] of LISTS) {
  test(`a list of more than 500 ${what} is paged like one of domains`, async (t) => {
    const [account, other] = [await service().account(), await service().account()]
    const domain = await newDomain(account.api)
    await service().sql(older, { id: account.id, other: other.id, domain })
    const rights = { permManageTokens: true, permCreateDomain: true }
    const { api } = await addToken(service(), account.id, { mfa: false, ...rights })
    const list = path.replace('DOMAIN', domain)
    const required = await api.get(list)
    t.is(required.status, 400)
    t.true(required.text.includes(`(${total} total)`), required.text)
    const withCursor = (cursor: string) => `${list}${list.includes('?') ? '&' : '?'}cursor=${cursor}`
    const pages = (await walk(api, withCursor(''))).map(({ json }) => json as Record<string, string>[])
    const lengths = pages.map(({ length }) => length)
    t.deepEqual(lengths, [500, total - 500])
    const all = pages.flat()
    t.is(new Set(all.map(({ id, name }) => id ?? name)).size, total)
    const times = all.map(({ created, deleted }) => created ?? deleted!)
    t.deepEqual(times, times.toSorted().reverse())
    // The ids of domains are numbers.
    const invalid = path.includes('deleted') ? 'o1-x' : 'o1-1'
    t.is((await api.get(withCursor(invalid))).text, '{"detail":"Invalid cursor"}')
  })
}

test('a single page links only to itself', async (t) => {
  const account = await service().account()
  await newDomain(account.api)
  const answer = await account.api.get('/domains/?cursor=')
  t.is(answer.headers['link'], `<${BASE}/domains/?cursor=>; rel="first"`)
  t.is(names(answer).length, 1)
  const none = await (await service().account()).api.get('/domains/?cursor=')
  t.deepEqual([none.text, none.headers['link']], ['[]', `<${BASE}/domains/?cursor=>; rel="first"`])
})

test('the pages contain every entry once, newest first, and link forwards and backwards', async (t) => {
  const account = await service().account()
  await addDomains(account, 'walk', 1203)
  const forth = await walk(account.api, '/domains/?cursor=')
  t.deepEqual(sizes(forth), [500, 500, 203])
  const all = forth.flatMap(names)
  t.deepEqual(
    all,
    Array.from({ length: 1203 }, (_, i) => `walk-${1203 - i}.test`),
  )
  t.deepEqual(relations(forth), [
    ['first', 'next'],
    ['first', 'prev', 'next'],
    ['first', 'prev'],
  ])
  for (const answer of forth) {
    t.regex(
      String(answer.headers['link']),
      /^<https:\/\/dns\.example\.net\/api\/v1\/domains\/\?cursor=>; rel="first"(, <https:\/\/dns\.example\.net\/api\/v1\/domains\/\?cursor=[A-Za-z0-9_-]+>; rel="(prev|next)")+$/,
    )
  }
  const back = await walk(account.api, links(forth[1]!)['next']!, 'prev')
  t.deepEqual(back.toReversed().map(names), forth.map(names))
  t.deepEqual(relations(back), [
    ['first', 'prev'],
    ['first', 'prev', 'next'],
    ['first', 'next'],
  ])
})

test('HEAD has the links of GET', async (t) => {
  const account = await service().account()
  await addDomains(account, 'head', 501)
  const [head, get] = [await account.api.send('HEAD', '/domains/?cursor='), await account.api.get('/domains/?cursor=')]
  t.is(head.headers['link'], get.headers['link'])
  const required = await account.api.send('HEAD', '/domains/')
  t.deepEqual([required.status, required.text], [400, ''])
})

for (const cursor of [
  'x',
  '%00',
  'o',
  'o1-',
  'o1-x',
  'o-1',
  'x1-1',
  'O1-1',
  'o1-1-1',
  'o1-9999999999999999',
  'o999999999999999999-1',
  'o-999999999999999999-1',
  'o9999999999999999999-1',
  'o1-00000000-0000-0000-0000-000000000000',
  'o1.5-1',
  'o1-1%0A',
  'o1 -1',
  '%C3%A9',
  "o1-1'",
  'bz0x',
]) {
  test(`an undecodable cursor is 404: ${cursor}`, async (t) => {
    const account = await service().account()
    const domain = await newDomain(account.api)
    for (const path of ['/domains/', `/domains/${domain}/rrsets/`]) {
      const { status, text, headers } = await account.api.get(`${path}?cursor=${cursor}`)
      t.deepEqual([status, text], [404, '{"detail":"Invalid cursor"}'])
      t.false('link' in headers)
    }
  })
}

for (const cursor of ['o0-0', 'n0-0', 'o253402300799999999-999999999999999', 'n-62135596800000000-0']) {
  test(`a cursor beyond all entries returns a page: ${cursor}`, async (t) => {
    const account = await service().account()
    const domain = await newDomain(account.api)
    const answer = succeeded(await account.api.get(`/domains/?cursor=${cursor}`), 200)
    const shown = names(answer)
    // What is not on this page is on the one that it leads to.
    const other = links(answer)['prev'] ?? links(answer)['next']
    t.deepEqual(shown.length === 1 ? shown : names(await account.api.get(other!)), [domain])
  })
}

test('the links keep only filters, sorted by name, and the total counts the matches', async (t) => {
  const account = await service().account()
  const domain = await newDomain(account.api)
  await addRRsets(domain, 1800)
  const path = `/domains/${domain}/rrsets/`
  t.true((await account.api.get(path.slice(0, -1))).text.includes('(1801 total)'))
  const required = await account.api.get(`${path}?type=TXT&secret=x`)
  t.is(required.status, 400)
  t.true(required.text.includes('(594 total)'))
  t.is(required.headers['link'], `<${BASE}${path}?cursor=&type=TXT>; rel="first"`)
  const pages = await walk(account.api, `${path}?type=TXT&secret=x&cursor=`)
  t.deepEqual(sizes(pages), [500, 94])
  t.regex(links(pages[0]!)['next']!, /rrsets\/\?cursor=[\w-]+&type=TXT$/)
  t.is(new Set(pages.flatMap(names)).size, 594)

  const deep = await account.api.get(`${path}?subname=deep`)
  t.deepEqual([names(deep).length, deep.headers['link']], [18, undefined])
  const both = await account.api.get(`${path}?type=TXT&subname=deep&cursor=`)
  t.is(both.headers['link'], `<${BASE}${path}?cursor=&subname=deep&type=TXT>; rel="first"`)
  const odd = await account.api.get(`${path}?subname=%26%20%3C%3E%22,*&cursor=`)
  t.is(odd.headers['link'], `<${BASE}${path}?cursor=&subname=%26+%3C%3E%22%2C*>; rel="first"`)
  const apex = await account.api.get(`${path}?subname=&cursor=`)
  t.deepEqual(names(apex), [`${domain}.`])
  t.is(apex.headers['link'], `<${BASE}${path}?cursor=&subname=>; rel="first"`)
})

test('a page of large RRsets ends after about 4 MiB', async (t) => {
  const account = await service().account()
  const domain = await newDomain(account.api)
  const octets = 62_000
  // Postgres compresses them to a hundredth.
  await service().sql(
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select domains.id, 'text' || n, 'TXT', 60, array(select '"' || repeat('x', 246) || '"' from generate_series(1, 248)),
       now() + interval '1 microsecond' * n, now()
     from domains, generate_series(1, 200) as n where name = :domain`,
    { domain },
  )
  const path = `/domains/${domain}/rrsets/`
  const required = await account.api.get(path)
  t.is(required.status, 400)
  t.is(required.headers['link'], `<${BASE}${path}?cursor=>; rel="first"`)
  const forth = await walk(account.api, `${path}?cursor=`)
  for (const page of forth.slice(0, -1)) {
    t.true(page.text.length < 4.2 * 2 ** 20, `${page.text.length} octets`)
    t.true(page.text.length > 4 * 2 ** 20 - 2 * octets, `${page.text.length} octets`)
  }
  const all = forth.flatMap(names)
  t.deepEqual(all, [...Array.from({ length: 200 }, (_, i) => `text${200 - i}.${domain}.`), `${domain}.`])
  const back = await walk(account.api, links(forth.at(-1)!)['prev']!, 'prev')
  t.deepEqual(back.toReversed().flatMap(names), all.slice(0, -names(forth.at(-1)!).length))
  for (const page of back) t.true(page.text.length < 4.2 * 2 ** 20, `${page.text.length} octets`)
})

test('owns_qname combines with a cursor', async (t) => {
  const account = await service().account()
  await addDomains(account, 'qname', 501)
  const first = await account.api.get('/domains/?owns_qname=a.qname-250.test&cursor=')
  t.deepEqual(names(first), ['qname-250.test'])
  t.is(first.headers['link'], `<${BASE}/domains/?cursor=&owns_qname=a.qname-250.test>; rel="first"`)
  const later = await account.api.get('/domains/?owns_qname=a.qname-250.test&cursor=o0-0')
  t.deepEqual(names(later), [])
  t.deepEqual(names(await account.api.get(links(later)['prev']!)), ['qname-250.test'])
  t.is((await account.api.get('/domains/?owns_qname=a.qname-250.test&cursor=x')).status, 404)
  t.is((await account.api.get('/domains/?owns_qname=nothing.example&cursor=')).text, '[]')
  const plain = await account.api.get('/domains/?owns_qname=a.qname-250.test')
  t.deepEqual([names(plain), plain.headers['link']], [['qname-250.test'], undefined])
})

test('an override token with policies pages through, and counts, only the domains that it sees', async (t) => {
  const account = await service().account()
  await addDomains(account, 'seen', 600)
  const owner = await service().account()
  const { id, api } = await addToken(service(), owner.id, { userOverrideId: account.id })
  await addPolicies(service(), id, { write: true })
  t.deepEqual(names(await api.get('/domains/')), [])
  await service().sql(
    `insert into policies (created, token_id, domain_id, perm_write)
     select now(), :id, domains.id, true from domains where owner_id = :owner order by name limit 550`,
    { id, owner: account.id },
  )
  const required = await api.get('/domains/')
  t.true(required.text.includes('(550 total)'))
  const pages = await walk(api, '/domains/?cursor=')
  t.deepEqual(sizes(pages), [500, 50])
})

test('the total follows creation and deletion', async (t) => {
  const account = await service().account()
  await addDomains(account, 'counted', 501)
  const created = await newDomain(account.api)
  const total = async () => /\((\d+) total\)/.exec((await account.api.get('/domains/')).text)?.[1]
  t.is(await total(), '502')
  succeeded(await account.api.delete(`/domains/${created}/`), 204)
  t.is(await total(), '501')
  const other = await service().account()
  await service().sql(`update domains set owner_id = :other where name in ('counted-1.test', 'counted-2.test')`, {
    other: other.id,
  })
  const counts = await service().sql('select domains from accounts where id in (:id, :other) order by domains', {
    id: account.id,
    other: other.id,
  })
  t.deepEqual(counts, [{ domains: 2 }, { domains: 499 }])
})

/** Changes between two pages: entries are added in front, or removed anywhere. */
const EVENTS = fc.array(
  fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ remove: fc.record({ from: fc.nat(1400), count: fc.integer({ min: 1, max: 600 }) }) }),
  ),
  { maxLength: 4 },
)

test('paging forwards and backwards returns every entry that exists all the time exactly once', async (t) => {
  const account = await service().account()
  let run = 0
  await fc.assert(
    fc.asyncProperty(EVENTS, EVENTS, async (forth, back) => {
      await service().sql('delete from domains where owner_id = :id', { id: account.id })
      await addDomains(account, `run${++run}`, 1200)
      for (const [events, relation] of [
        [forth, 'next'],
        [back, 'prev'],
      ] as const) {
        const start = await everything(account)
        let url: string | undefined =
          relation === 'next' ? '/domains/?cursor=' : '/domains/?cursor=n-62135596800000000-0'
        const met: string[] = []
        const pending = [...events]
        while (url !== undefined) {
          const answer: Answer = succeeded(await account.api.get(url), 200)
          met.push(...(relation === 'next' ? names(answer) : names(answer).toReversed()))
          url = links(answer)[relation]
          const event = pending.shift()
          if (event !== undefined) await happen(account, `${run}x${pending.length}${relation}`, event)
        }
        const end = new Set(await everything(account))
        const stayed = start.filter((name) => end.has(name))
        const kept = met.filter((name) => start.includes(name) && end.has(name))
        t.deepEqual(kept, relation === 'next' ? stayed : stayed.toReversed())
        t.is(new Set(met).size, met.length)
      }
    }),
    { numRuns: 15 },
  )
})

/** The account's domains as they are now, newest first. */
async function everything({ id }: Account): Promise<string[]> {
  const rows = await service().sql<{ name: string }>(
    'select name from domains where owner_id = :id order by created desc, id desc',
    { id },
  )
  return rows.map(({ name }) => name)
}

async function happen(
  account: Account,
  prefix: string,
  event: { add: number } | { remove: { from: number; count: number } },
): Promise<void> {
  if ('add' in event) await addDomains(account, `added${prefix}`, event.add)
  else {
    await service().sql(
      `delete from domains where id in (
         select id from domains where owner_id = :id order by created desc offset :from limit :count
       )`,
      { id: account.id, ...event.remove },
    )
  }
}
