import { domainOf, newZone, rrset, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { depth } from '../../support/depth.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService({ THROTTLE: 'off' })

const FAILED = [412, '{"detail":"Precondition failed."}']

async function tagAt(api: Client, path: string): Promise<string> {
  return succeeded(await api.get(path), 200).headers['etag'] as string
}

/** A new domain with an RRset, the paths of both, and a conditional request. */
async function prepare() {
  const zone = await newZone(service(), {})
  const send = (method: string, path: string, headers: Record<string, string>, json?: unknown) =>
    zone.api.send(method, path, json, { headers })
  return { ...zone, send }
}

test('ETags are strong, and change with every accepted write and never without one', async (t) => {
  const { api, domain, one } = await prepare()
  const paths = [one, `/domains/${domain}/`]
  const tags = () => Promise.all(paths.map((path) => tagAt(api, path)))
  const seen = [await tags()]
  for (const tag of seen[0]!) t.regex(tag, /^"[\x21\x23-\x7e]+"$/)
  t.deepEqual(await tags(), seen[0])
  for (const path of paths) t.is((await api.send('HEAD', path)).headers['etag'], await tagAt(api, path))
  for (const json of [{ ttl: 60 }, { records: ['192.0.2.9'] }, {}]) {
    const { headers } = succeeded(await api.patch(one, json), 200)
    const now = await tags()
    t.is(headers['etag'], now[0])
    for (const before of seen) t.false(now.some((tag, i) => tag === before[i]))
    seen.push(now)
  }
  const { headers } = succeeded(await api.put(one, rrset()), 200)
  t.is(headers['etag'], await tagAt(api, one))
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'x' }))).headers['etag'], undefined)
})

test('reads ignore conditions', async (t) => {
  const { domain, one, send } = await prepare()
  for (const path of [one, `/domains/${domain}/`]) {
    for (const headers of [{ 'if-match': '"x"' }, { 'if-none-match': '*' }] as Record<string, string>[]) {
      t.is((await send('GET', path, headers)).status, 200)
    }
  }
})

/** If-Match headers, with the RRset's ETag in place of `%`, and whether the condition holds. */
const LISTS: [list: string, holds: boolean][] = [
  ['%', true],
  ['*', true],
  ['"x", %', true],
  ['W/"x" ,%,"y"', true],
  ['W/%', false],
  ['"x"', false],
  ['"x", "y"', false],
  ['""', false],
  ['x', false],
  ['% x', false],
  ['"*"', false],
]

for (const [list, holds] of LISTS) {
  test(`If-Match: ${list} ${holds ? 'permits' : 'prevents'} a write, and the deletion of a domain`, async (t) => {
    const { api, domain, rrsets, one, send } = await prepare()
    const path = `/domains/${domain}/`
    for (const [method, target, body] of [
      ['PATCH', one, { ttl: 60 }],
      ['PATCH', rrsets, [{ subname: 'www', type: 'A', ttl: 180 }]],
      ['DELETE', path, undefined],
    ] as const) {
      const before = [(await api.get(rrsets)).json, await domainOf(api, domain)]
      const tag = await tagAt(api, target === one ? one : path)
      const answer = await send(method, target, { 'if-match': list.replace('%', tag) }, body)
      if (holds) t.true(answer.status < 300, answer.text)
      else {
        t.deepEqual([answer.status, answer.text], FAILED)
        t.deepEqual([(await api.get(rrsets)).json, await domainOf(api, domain)], before)
      }
    }
    t.is((await api.get(path)).status, holds ? 404 : 200)
  })
}

test('If-Match is a condition of every method', async (t) => {
  const { api, domain, rrsets, one, send } = await prepare()
  for (const [method, path, body] of [
    ['PUT', one, rrset({ ttl: 120 })],
    ['PUT', rrsets, [rrset({ ttl: 240 })]],
    ['POST', rrsets, [rrset({ subname: 'many' })]],
    ['POST', rrsets, rrset({ subname: 'one' })],
    ['DELETE', one, undefined],
  ] as const) {
    const before = [(await api.get(rrsets)).json, await domainOf(api, domain)]
    const refused = await send(method, path, { 'if-match': '"x"' }, body)
    t.deepEqual([refused.status, refused.text], FAILED)
    t.deepEqual([(await api.get(rrsets)).json, await domainOf(api, domain)], before)
    const tag = await tagAt(api, path === one ? one : `/domains/${domain}/`)
    const accepted = await send(method, path, { 'if-match': tag }, body)
    t.true(accepted.status < 300, accepted.text)
  }
})

test('an ETag of an earlier state or of another resource does not match', async (t) => {
  const { api, domain, rrsets, one, send } = await prepare()
  const old = await tagAt(api, one)
  const oldOfDomain = await tagAt(api, `/domains/${domain}/`)
  succeeded(await api.patch(one, {}), 200)
  for (const tag of [old, await tagAt(api, `/domains/${domain}/`)]) {
    t.is((await send('PATCH', one, { 'if-match': tag }, { ttl: 60 })).status, 412)
  }
  for (const tag of [oldOfDomain, await tagAt(api, one)]) {
    t.is((await send('PATCH', rrsets, { 'if-match': tag }, [{ subname: 'www', type: 'A', ttl: 60 }])).status, 412)
  }
  t.like((await api.get(one)).json, { ttl: 3600 })
})

test('If-Match on an absent RRset: DELETE is 412, PATCH and PUT are 404', async (t) => {
  const { rrsets, send } = await prepare()
  for (const path of ['nope/A/', '-.-/A/', 'UPPER/A/']) {
    for (const list of ['*', '"x"']) {
      const gone = await send('DELETE', rrsets + path, { 'if-match': list })
      t.deepEqual([gone.status, gone.text], FAILED)
      t.is((await send('PATCH', rrsets + path, { 'if-match': list }, {})).status, 404)
      t.is((await send('PUT', rrsets + path, { 'if-match': list }, rrset())).status, 404)
    }
    t.is((await send('DELETE', rrsets + path, { 'if-none-match': '*' })).status, 204)
  }
})

test('If-None-Match: * requires that the RRset is absent', async (t) => {
  const { api, rrsets, one, send } = await prepare()
  const headers = { 'if-none-match': '*' }
  for (const [method, path, body] of [
    ['PATCH', one, { ttl: 60 }],
    ['PUT', one, rrset({ ttl: 60 })],
    ['DELETE', one, undefined],
    ['PATCH', rrsets, [rrset({ subname: 'new' }), { subname: 'www', type: 'A', ttl: 60 }]],
    ['PUT', rrsets, [rrset({ subname: 'new' }), rrset({ ttl: 60 })]],
    ['PUT', rrsets, [rrset({ subname: 'new' }), rrset({ records: [] })]],
  ] as const) {
    const answer = await send(method, path, headers, body)
    t.deepEqual([answer.status, answer.text], FAILED)
  }
  const shown = ((await api.get(rrsets)).json as ShownRRset[]).map(({ subname, ttl }) => [subname, ttl])
  t.deepEqual(shown, [
    ['www', 3600],
    ['', 3600],
  ])
  t.is(
    (await send('PUT', rrsets, headers, [rrset({ subname: 'a' }), rrset({ subname: 'x', records: [] })])).status,
    200,
  )
  t.is((await send('PATCH', rrsets, headers, [rrset({ subname: 'b' })])).status, 200)
  t.is((await send('POST', rrsets, headers, [rrset({ subname: 'c' })])).status, 201)
  t.is((await send('POST', rrsets, headers, rrset({ subname: 'd' }))).status, 201)
})

test('If-None-Match with tags prevents a write to a resource with one of them', async (t) => {
  const { api, domain, rrsets, one, send } = await prepare()
  for (const [method, path, body] of [
    ['PATCH', one, { ttl: 60 }],
    ['PUT', one, rrset({ ttl: 120 })],
    ['PATCH', rrsets, [{ subname: 'www', type: 'A', ttl: 180 }]],
    ['POST', rrsets, rrset({ subname: 'one' })],
    ['DELETE', one, undefined],
    ['DELETE', `/domains/${domain}/`, undefined],
  ] as const) {
    const tag = await tagAt(api, path === one ? one : `/domains/${domain}/`)
    for (const list of [tag, `"x", W/${tag}`, 'x']) {
      const answer = await send(method, path, { 'if-none-match': list }, body)
      t.deepEqual([answer.status, answer.text], FAILED, `${method} ${path} ${list}`)
    }
    const answer = await send(method, path, { 'if-none-match': '"x", W/"y"' }, body)
    t.true(answer.status < 300, answer.text)
  }
})

test('the deletion of a domain: If-Match needs it, If-None-Match: * its absence', async (t) => {
  const { domain, send } = await prepare()
  const present = await send('DELETE', `/domains/${domain}/`, { 'if-none-match': '*' })
  t.deepEqual([present.status, present.text], FAILED)
  for (const list of ['*', '"x"']) {
    t.is((await send('DELETE', '/domains/absent.test/', { 'if-match': list })).status, 412)
  }
  t.is((await send('DELETE', '/domains/absent.test/', { 'if-none-match': '*' })).status, 204)
})

test('a write to a resource without tags is refused if it requires one', async (t) => {
  const { api, send } = await prepare()
  const { id } = (await api.post('/auth/tokens/', {})).json as { id: string }
  const rows = [
    ['POST', '/domains/', { name: 'conditional.test' }],
    ['POST', '/auth/tokens/', {}],
    ['PATCH', `/auth/tokens/${id}/`, { name: 'x' }],
    ['POST', `/auth/tokens/${id}/policies/rrsets/`, { domain: null, subname: null, type: null }],
    ['PATCH', '/auth/account/', {}],
    ['DELETE', `/auth/tokens/${id}/`, undefined],
  ] as const
  for (const [method, path, body] of rows) {
    for (const list of ['"x"', 'W/"x"', 'x', '']) {
      const answer = await send(method, path, { 'if-match': list }, body)
      t.deepEqual([answer.status, answer.text], FAILED, `${method} ${path} ${list}`)
    }
  }
  for (const [method, path, body] of rows) {
    const answer = await send(method, path, { 'if-match': '*', 'if-none-match': '*' }, body)
    t.true(answer.status < 300, answer.text)
  }
})

test('any other error takes precedence over 412', async (t) => {
  const { rrsets, one, send } = await prepare()
  for (const headers of [{ 'if-match': '"x"' }, { 'if-none-match': '*' }] as Record<string, string>[]) {
    t.is((await send('PATCH', one, headers, { ttl: 1 })).status, 400)
    t.is((await send('PATCH', rrsets, headers, [{ subname: 'www', type: 'A', ttl: 1 }])).status, 400)
    t.is((await send('POST', rrsets, headers, [rrset()])).status, 400)
    t.is((await send('POST', rrsets, headers, rrset())).status, 400)
  }
})

test('of two simultaneous writes with the same ETag, exactly one succeeds', async (t) => {
  const { api, domain, rrsets, one, send } = await prepare()
  for (let round = 0; round < depth(20, 200); round++) {
    const isBulk = round % 2 === 0
    const tag = await tagAt(api, isBulk ? `/domains/${domain}/` : one)
    const write = (last: number) => {
      const records = [`10.${last}.0.${round}`]
      return isBulk
        ? send('PATCH', rrsets, { 'if-match': tag }, [{ subname: 'www', type: 'A', records }])
        : send('PATCH', one, { 'if-match': tag }, { records })
    }
    const statuses = (await Promise.all([write(1), write(2)])).map(({ status }) => status)
    t.deepEqual([...statuses].sort(), [200, 412])
    const winner = statuses.indexOf(200) + 1
    t.deepEqual(((await api.get(one)).json as ShownRRset).records, [`10.${winner}.0.${round}`])
  }
  const { records } = (await api.get(one)).json as ShownRRset
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), records)
})
