import fc from 'fast-check'
import { COLLECTION_ITEMS } from '../../../src/limits.ts'
import {
  freshName,
  newDomain,
  newReservedDomain,
  newRRset,
  newZone,
  setMinimumTtl,
  succeeded,
} from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { depth } from '../../support/depth.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { test } from '../../support/serial.ts'
import { contentsOf } from '../../support/state/history.ts'
import { snapshot } from '../../support/state/snapshot.ts'

// A zone file for a domain that exists (contract §15.4).

const service = useService({ LOCAL_PUBLIC_SUFFIXES: 'dyn.example.net' })

const put = (api: Client, name: string, text: string, query = '', headers: Record<string, string> = {}) =>
  api.send('PUT', `/domains/${name}/zonefile/${query}`, undefined, {
    headers: { 'content-type': 'text/dns', ...headers },
    body: text,
  })

async function exported(api: Client, name: string): Promise<string> {
  return succeeded(await api.get(`/domains/${name}/zonefile/`), 200).text
}

const prepare = () => newZone(service(), {})

const NS = { ttl: 3600, records: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'] }
const A = { ttl: 3600, records: ['192.0.2.1'] }

test('a zone file replaces all RRsets; its apex NS are applied, and the answer tells the changes', async (t) => {
  const { api, domain } = await prepare()
  const text = `$TTL 300\n@ NS ns1.example.org.\nmail A 192.0.2.7\n`
  const { status, json, headers } = await put(api, domain, text)
  t.is(status, 200)
  t.is(headers['content-type'], 'application/json')
  t.deepEqual(json, {
    changes: [
      { subname: '', type: 'NS', before: NS, after: { ttl: 300, records: ['ns1.example.org.'] } },
      { subname: 'mail', type: 'A', before: null, after: { ttl: 300, records: ['192.0.2.7'] } },
      { subname: 'www', type: 'A', before: A, after: null },
    ],
  })
  t.deepEqual(await contentsOf(api, domain), { ' NS': '300 ns1.example.org.', 'mail A': '300 192.0.2.7' })
  t.deepEqual(await lookUp(service().powerDns, `mail.${domain}`, 'A'), ['192.0.2.7'])
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), [])
  t.deepEqual(await lookUp(service().powerDns, domain, 'NS'), ['ns1.example.org.'])
})

test('without apex NS in the file, those of the domain stay; so do DNSKEY, CDS and CDNSKEY', async (t) => {
  const { api, domain } = await prepare()
  const key = `257 3 13 ${Buffer.alloc(64, 7).toString('base64')}`
  await newRRset(api, domain, { subname: '', type: 'DNSKEY', records: [key] })
  await newRRset(api, domain, { subname: '', type: 'CDS', records: [`1 13 2 ${'ab'.repeat(32)}`] })
  const { json } = await put(api, domain, '; nothing\n')
  t.deepEqual(json, { changes: [{ subname: 'www', type: 'A', before: A, after: null }] })
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' CDS', ' DNSKEY', ' NS'])
})

test('export, edit, put is a round trip', async (t) => {
  const { api, domain } = await prepare()
  const text = await exported(api, domain)
  t.deepEqual((await put(api, domain, text)).json, { changes: [] })
  const edited = text.replace('192.0.2.1', '192.0.2.2').replaceAll('ns1.zoneplane.test.', 'ns9.zoneplane.test.')
  const { changes } = (await put(api, domain, edited)).json as { changes: unknown[] }
  t.is(changes.length, 2)
  t.deepEqual((await exported(api, domain)).split('\n').slice(2), edited.split('\n').slice(2))
})

test('a TTL below the minimum stays if the file repeats it; another one is raised', async (t) => {
  const { api, domain } = await prepare()
  await newRRset(api, domain, { subname: 'low', ttl: 60 })
  await setMinimumTtl(service(), domain, 600)
  const text = await exported(api, domain)
  t.deepEqual((await put(api, domain, text)).json, { changes: [] })
  await put(api, domain, text.replace('\t60\t', '\t61\t'))
  t.like(await contentsOf(api, domain), { 'low A': '600 192.0.2.1' })
})

test('a dry run tells the changes and leaves nothing behind', async (t) => {
  const { api, domain } = await prepare()
  const before = await snapshot(service().system.db)
  const calls = service().proxy.calls.length
  const { status, json } = await put(api, domain, 'x 60 A 192.0.2.1\n', '?dry_run=true')
  t.is(status, 200)
  t.is((json as { changes: unknown[] }).changes.length, 2)
  t.is(await snapshot(service().system.db), before)
  t.is(service().proxy.calls.length, calls)
})

test('what is wrong with the file is told as at an import, and nothing changes', async (t) => {
  const { api, domain } = await prepare()
  const before = await snapshot(service().system.db)
  const cases: [text: string, problems: string[]][] = [
    [
      'x A 192.0.2.300\n',
      [
        'Zonefile contains syntax error in line 1. Reason: Record content for type A malformed: Text input is malformed.',
      ],
    ],
    [
      `x MX 10 $url.\n${'0'.repeat(32)} A 192.0.2.1\nw WKS 192.0.2.1 6 25\n`,
      [
        `x.${domain}/MX: Cannot parse record contents: invalid exchange: \\$url.`,
        `w.${domain}/WKS: The WKS RR set type is currently unsupported.`,
      ],
    ],
  ]
  for (const [text, problems] of cases) {
    const { status, json } = await put(api, domain, text)
    t.is(status, 400)
    const told = (json as { zonefile: string[] }).zonefile
    for (const problem of problems) t.true(told.includes(problem), JSON.stringify(told))
  }
  t.is(await snapshot(service().system.db), before)
})

test('the body is text/dns in UTF-8, and not empty', async (t) => {
  const { api, domain } = await prepare()
  for (const type of ['application/json', 'text/plain', '']) {
    t.is((await put(api, domain, 'x 60 A 192.0.2.1\n', '', { 'content-type': type })).status, 415)
  }
  t.is((await put(api, domain, '')).text, '{"non_field_errors":["No data provided"]}')
  const { status, text } = await api.send('PUT', `/domains/${domain}/zonefile/`, undefined, {
    headers: { 'content-type': 'text/dns' },
    body: Buffer.from([0x78, 0xff]),
  })
  t.deepEqual([status, text], [400, '{"detail":"The text is not valid UTF-8."}'])
  t.is((await put(api, domain, 'x 60 A 192.0.2.1\n', '', { 'content-type': 'Text/DNS; charset=utf-8' })).status, 200)
})

test('policies apply to the RRsets that change, and to no others', async (t) => {
  const { account, api, domain } = await prepare()
  const { id, api: limited } = await addToken(service(), account.id)
  await addPolicies(service(), id, { write: false }, { subname: 'www', write: true })
  const text = await exported(api, domain)
  t.is((await put(limited, domain, text.replace('192.0.2.1', '192.0.2.2'))).status, 200)
  const { status, json } = await put(limited, domain, `${text}x 60 A 192.0.2.1\n`)
  t.deepEqual([status, json], [403, { detail: 'Insufficient token permissions.' }])
  t.is((await put(limited, domain, text.replace(/.*NS.*ns1.*\n/, ''))).status, 403)
  t.like(await contentsOf(api, domain), { 'www A': '3600 192.0.2.2' })
})

test('If-Match takes the tag of the domain', async (t) => {
  const { api, domain } = await prepare()
  const tag = (await api.get(`/domains/${domain}/`)).headers['etag'] as string
  await newRRset(api, domain, { subname: 'other' })
  const text = await exported(api, domain)
  const edited = text.replaceAll('192.0.2.1', '192.0.2.2')
  t.is((await put(api, domain, edited, '', { 'if-match': tag })).status, 412)
  const fresh = (await api.get(`/domains/${domain}/`)).headers['etag'] as string
  t.is((await put(api, domain, edited, '?dry_run=true', { 'if-match': fresh })).status, 200)
  t.is((await put(api, domain, edited, '', { 'if-match': fresh })).status, 200)
  t.is((await put(api, domain, text, '', { 'if-none-match': '*' })).status, 412)
})

test('below a local public suffix, no NS RRset can be changed', async (t) => {
  const operator = await service().account()
  await newReservedDomain(service(), operator.id, 'dyn.example.net').catch(() => undefined)
  const { api } = await service().account()
  const domain = await newDomain(api, 'child.dyn.example.net')
  const text = await exported(api, domain)
  t.deepEqual((await put(api, domain, text)).json, { changes: [] })
  const { status, json } = await put(api, domain, `${text}x 60 NS ns.example.org.\n`)
  t.deepEqual([status, json], [400, { zonefile: [`x.${domain}/NS: Cannot modify NS records for this domain.`] }])
})

test('PowerDNS refuses an RRset of the file: the error names it, and nothing changes', async (t) => {
  const { api, domain } = await prepare()
  const before = await contentsOf(api, domain)
  service().proxy.fail(({ method }) =>
    method === 'PATCH' ? { refuse: 422, error: `Record x.${domain}./A '192.0.2.1': Not in expected format` } : 'pass',
  )
  const { status, json } = await put(api, domain, 'x 60 A 192.0.2.1\n')
  service().proxy.heal()
  t.is(status, 400)
  t.regex(
    (json as { zonefile: string[] }).zonefile[0]!,
    new RegExp(`^x.${domain}/A: The DNS backend refused this RRset: `),
  )
  t.deepEqual(await contentsOf(api, domain), before)
})

test('a zone file with more RRsets than one request to PowerDNS takes is published in batches', async (t) => {
  const { api, domain } = await prepare()
  const count = COLLECTION_ITEMS + 500
  const lines = Array.from({ length: count }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join('')
  const { status, json } = await put(api, domain, lines)
  t.is(status, 200)
  t.is((json as { changes: unknown[] }).changes.length, count + 1)
  for (const i of [0, COLLECTION_ITEMS, count - 1]) {
    t.deepEqual(await lookUp(service().powerDns, `h${i}.${domain}`, 'A'), ['192.0.2.1'])
  }
  const { json: undone } = await put(api, domain, 'www 3600 A 192.0.2.1\n')
  t.is((undone as { changes: unknown[] }).changes.length, count + 1)
  t.deepEqual(await lookUp(service().powerDns, `h1.${domain}`, 'A'), [])
})

const RRSET = fc
  .record({
    subname: fc.constantFrom('@', 'www', 'mail', 'a.b', '*'),
    type: fc.constantFrom<[string, string[]]>(
      ['A', ['192.0.2.1', '192.0.2.2']],
      ['MX', ['10 a.test.', '20 .']],
      ['TXT', ['"a b;"', '"\\"\\200"']],
      ['NS', ['ns1.test.', 'ns2.test.']],
    ),
    ttl: fc.constantFrom(60, 3600),
  })
  .chain(({ subname, type: [type, texts], ttl }) =>
    fc.shuffledSubarray(texts, { minLength: 1 }).map((records) => ({ subname, type, ttl, records })),
  )
const ZONE = fc.uniqueArray(RRSET, { selector: ({ subname, type }) => `${type} ${subname}`, maxLength: 8 })

test('after any zone file, the domain has exactly its RRsets, and the export put again changes nothing', async (t) => {
  const { api } = await service().account()
  const domain = await newDomain(api, freshName())
  await fc.assert(
    fc.asyncProperty(ZONE, async (rrsets) => {
      const lines = rrsets.flatMap(({ subname, type, ttl, records }) =>
        records.map((text) => `${subname} ${ttl} ${type} ${text}\n`),
      )
      const kept = Object.entries(await contentsOf(api, domain)).filter(
        ([key]) => key === ' NS' && !rrsets.some(({ subname, type }) => subname === '@' && type === 'NS'),
      )
      succeeded(await put(api, domain, lines.join('') || ';'), 200)
      const expected = rrsets.map(({ subname, type, ttl, records }) => [
        `${subname.replace('@', '')} ${type}`,
        `${ttl} ${[...records].sort().join(' ')}`,
      ])
      t.deepEqual(
        await contentsOf(api, domain),
        Object.fromEntries([...kept, ...expected].sort()) as Record<string, string>,
      )
      t.deepEqual((await put(api, domain, await exported(api, domain))).json, { changes: [] })
    }),
    { numRuns: depth(20, 60), seed: SEED },
  )
})
