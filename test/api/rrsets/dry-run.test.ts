import fc from 'fast-check'
import { newZone, rrset, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { test } from '../../support/serial.ts'
import type { ShownChange } from '../../support/state/history.ts'
import { snapshot } from '../../support/state/snapshot.ts'

// Dry runs (contract §15.3).

const service = useService()

const prepare = () => newZone(service(), {})

const BEFORE = { ttl: 3600, records: ['192.0.2.1'] }
const CHANGED = { subname: 'www', type: 'A', before: BEFORE, after: { ttl: 60, records: ['192.0.2.1'] } }
const DELETED = { subname: 'www', type: 'A', before: BEFORE, after: null }
const CREATED = { subname: 'x', type: 'A', before: null, after: BEFORE }

const REQUESTS: [what: string, method: string, path: 'one' | 'rrsets', body: unknown, changes: ShownChange[]][] = [
  ['a creation', 'POST', 'rrsets', rrset({ subname: 'x' }), [CREATED]],
  ['creations', 'POST', 'rrsets', [rrset({ subname: 'x' })], [CREATED]],
  [
    'changes of many, in their order',
    'PUT',
    'rrsets',
    [rrset({ subname: 'x' }), rrset({ records: [] })],
    [CREATED, DELETED],
  ],
  ['changes of some members', 'PATCH', 'rrsets', [{ subname: 'www', type: 'A', ttl: 60 }], [CHANGED]],
  ['a replacement', 'PUT', 'one', rrset({ ttl: 60 }), [CHANGED]],
  ['a change', 'PATCH', 'one', { ttl: 60 }, [CHANGED]],
  ['a deletion by an empty array', 'PATCH', 'one', { records: [] }, [DELETED]],
  ['a deletion', 'DELETE', 'one', undefined, [DELETED]],
  ['what is there already', 'PUT', 'one', rrset(), []],
  ['the deletion of what is absent', 'PATCH', 'rrsets', [{ subname: 'y', type: 'A', records: [] }], []],
]

for (const [what, method, path, body, changes] of REQUESTS) {
  test(`a dry run of ${what} tells the changes and leaves nothing behind`, async (t) => {
    const site = await prepare()
    const before = await snapshot(service().system.db)
    const calls = service().proxy.calls.length
    const { status, json, headers } = await site.api.send(method, `${site[path]}?dry_run=true`, body)
    t.deepEqual([status, json], [200, { changes }])
    t.is(headers['etag'], undefined)
    t.is(await snapshot(service().system.db), before)
    t.is(service().proxy.calls.length, calls)
  })
}

test('the deletion of an RRset that cannot exist is a dry run without changes', async (t) => {
  const { api, rrsets } = await prepare()
  const { status, json } = await api.delete(`${rrsets}A_B../A/?dry_run=true`)
  t.deepEqual([status, json], [200, { changes: [] }])
})

test('a dry run has the errors of the real request', async (t) => {
  const { account, api, domain, rrsets, one } = await prepare()
  const { id, api: reader } = await addToken(service(), account.id)
  await addPolicies(service(), id, { write: false })
  const before = await snapshot(service().system.db)
  const tag = { 'if-match': '"x"' }
  const both = async (
    client: Client,
    method: string,
    path: string,
    body?: unknown,
    headers: typeof tag | object = {},
  ) =>
    Promise.all(
      ['?dry_run=true', ''].map(async (query) => {
        const { status, text } = await client.send(method, path + query, body, { headers: { ...headers } })
        return [status, text]
      }),
    )
  const cases = [
    both(service().anonymous, 'PUT', one, rrset()),
    both(reader, 'PUT', one, rrset({ ttl: 60 })),
    both(reader, 'DELETE', one),
    both(reader, 'PATCH', rrsets, [rrset({ ttl: 60 })]),
    both(api, 'PUT', `${rrsets}absent/A/`, rrset()),
    both(api, 'PUT', one, rrset({ ttl: 1 })),
    both(api, 'POST', rrsets, rrset()),
    both(api, 'POST', rrsets, [rrset({ records: ['x'] }), rrset({ subname: 'x' })]),
    both(api, 'PUT', one, rrset({ ttl: 60 }), tag),
    both(api, 'DELETE', one, undefined, tag),
    both(api, 'PATCH', rrsets, [rrset({ ttl: 60 })], tag),
    both(api, 'PATCH', `/domains/not-${domain}/rrsets/`, [rrset()]),
  ]
  const statuses = [401, 403, 403, 403, 404, 400, 400, 400, 412, 412, 412, 404]
  for (const [i, [dry, real]] of (await Promise.all(cases)).entries()) {
    t.is(dry![0], statuses[i])
    t.deepEqual(dry, real)
  }
  t.is(await snapshot(service().system.db), before)
})

test('dry_run is true or false, and no other value', async (t) => {
  const { api, one } = await prepare()
  for (const value of ['', '1', 'yes', 'True', 'true%20']) {
    const { status, text } = await api.patch(`${one}?dry_run=${value}`, { ttl: 60 })
    t.deepEqual([status, text], [400, '{"dry_run":["Must be a valid boolean."]}'], value)
  }
  t.like((await api.get(`${one}?dry_run=1`)).json, BEFORE)
  t.is((await api.patch(`${one}?dry_run=false`, { ttl: 60 })).status, 200)
  t.like((await api.get(one)).json, { ttl: 60 })
})

const NOT_SUPPORTED = '{"dry_run":["Not supported here."]}'

/** The writes of the document, dry runs apart; with the name in place of `{name}`. */
async function writesWithout(domain: string): Promise<[method: string, path: string][]> {
  const { json } = await service().anonymous.get('/openapi.json')
  const { paths } = json as { paths: Record<string, Record<string, { parameters: unknown }>> }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
      .filter(([, { parameters }]) => !JSON.stringify(parameters).includes('/query.dry_run"'))
      .map(([method]): [string, string] => {
        const filled = path.replace('{name}', domain).replace('{action}', 'reset-password').replace(/{\w+}/g, 'x')
        return [method.toUpperCase(), `//root${filled}`]
      }),
  )
}

test('a write that has no dry runs refuses to be one, with a token or without, and leaves nothing behind', async (t) => {
  const { account, domain } = await prepare()
  const rights = { mfa: false, permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  const { api } = await addToken(service(), account.id, rights)
  const before = await snapshot(service().system.db)
  const writes = await writesWithout(domain)
  t.true(writes.length > 20, String(writes.length))
  for (const [method, path] of writes) {
    const { status, text } = await api.send(method, `${path}?dry_run=true`, {})
    t.deepEqual([status, text], [400, NOT_SUPPORTED], `${method} ${path}`)
  }
  t.is((await service().anonymous.post('/auth/login/?dry_run=true', {})).text, NOT_SUPPORTED)
  t.is(await snapshot(service().system.db), before)
})

test('a domain is deleted with dry_run=false, and with no other value', async (t) => {
  const { api, domain } = await prepare()
  for (const value of ['', '1', 'yes', 'False', 'false&dry_run=true']) {
    const { status, text } = await api.delete(`/domains/${domain}/?dry_run=${value}`)
    t.deepEqual([status, text], [400, NOT_SUPPORTED], value)
  }
  t.is((await api.get(`/domains/${domain}/?dry_run=true`)).status, 200)
  t.is((await api.delete(`/domains/${domain}/?dry_run=false`)).status, 204)
  t.is((await api.get(`/domains/${domain}/`)).status, 404)
})

const CONTENTS: Record<string, string[]> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  CNAME: ['target.test.'],
  TXT: ['"a"', '"b"'],
}

const ITEM = fc
  .record({
    subname: fc.constantFrom('www', 'mail', 'a.b'),
    type: fc.constantFrom(...Object.keys(CONTENTS)),
    ttl: fc.constantFrom(60, 3600),
  })
  .chain((item) => fc.shuffledSubarray(CONTENTS[item.type]!).map((records) => ({ ...item, records })))
const REQUEST = fc.tuple(
  fc.constantFrom('POST', 'PUT', 'PUT', 'PATCH', 'PATCH'),
  fc.uniqueArray(ITEM, { selector: ({ subname, type }) => `${type} ${subname}`, maxLength: 3 }),
)

async function contents(api: Client, rrsets: string): Promise<Map<string, string>> {
  const { json } = succeeded(await api.get(rrsets), 200)
  const shown = json as ShownRRset[]
  return new Map(
    shown.map(({ subname, type, ttl, records }) => [
      JSON.stringify([subname, type]),
      JSON.stringify({ ttl, records: [...records].sort() }),
    ]),
  )
}

test('a dry run of random requests tells exactly what the real request then does', async (t) => {
  const { api, rrsets } = await prepare()
  const tally = { changing: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(REQUEST, async ([method, items]) => {
      const dry = await api.send(method, `${rrsets}?dry_run=true`, items)
      const before = await contents(api, rrsets)
      const real = await api.send(method, rrsets, items)
      if (real.status >= 400) {
        tally.refused++
        t.deepEqual([dry.status, dry.text], [real.status, real.text])
        return
      }
      t.is(dry.status, 200)
      const expected = new Map(before)
      const { changes } = dry.json as { changes: ShownChange[] }
      if (changes.length > 0) tally.changing++
      const stateOf = (state: ShownChange['before']) =>
        state === null ? undefined : JSON.stringify({ ttl: state.ttl, records: [...state.records].sort() })
      for (const { subname, type, before: old, after } of changes) {
        const key = JSON.stringify([subname, type])
        t.is(stateOf(old), before.get(key))
        t.not(stateOf(old), stateOf(after))
        if (after === null) expected.delete(key)
        else expected.set(key, stateOf(after)!)
      }
      t.deepEqual([...(await contents(api, rrsets))].sort(), [...expected].sort())
    }),
    { numRuns: 150, seed: SEED },
  )
  t.true(tally.changing > 20 && tally.refused > 20, JSON.stringify(tally))
})
