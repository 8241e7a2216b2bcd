import {
  callsFor,
  freshName,
  newDomain,
  rrset,
  shared,
  type ShownDomain,
  type ShownRRset,
} from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies } from '../../support/clients/tokens.ts'
import { ask, lookUp, transfer } from '../../support/dns/dns.ts'
import { isConsistent } from '../../support/dns/zone.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { unrepaired } from '../../support/state/marks.ts'

// Contract §7.7. The parser's own tests are in test/dns/zonefile.test.ts.

const service = useService({ NAMESERVERS: 'ns1.example.net, ns2.example.net' })

const NS = '@ 3600 NS ns1.example.net., ns2.example.net.'

function create(api: Client, name: string, zonefile: unknown): Promise<Answer> {
  return api.post('/domains/', { name, zonefile })
}

/** Each RRset of a domain as `subname ttl type content, content`, sorted. */
async function rrsetsOf(api: Client, name: string): Promise<string[]> {
  const rrsets = (await api.get(`/domains/${name}/rrsets/`)).json as ShownRRset[]
  return rrsets
    .map(({ subname, ttl, type, records }) => `${subname || '@'} ${ttl} ${type} ${records.join(', ')}`)
    .sort()
}

/** Whether a domain exists nowhere: not in the API, DNS, PowerDNS or the table of marks. */
async function isAbsent(api: Client, name: string): Promise<boolean> {
  const { powerDns } = service()
  return (
    (await api.get(`/domains/${name}/`)).status === 404 &&
    (await ask(powerDns, name, 'SOA')).rcode === 'REFUSED' &&
    (await service().pdns('GET', `/zones/${name}.`)).status === 404 &&
    (await unrepaired(service(), name)).length === 0
  )
}

/** A zone file with every kind of line, for a domain of any name. */
const MIXED = `; a zone
$ORIGIN example.com.
outside IN A 192.0.2.99 x
$ORIGIN DOMAIN.
$TTL 1h
@ IN SOA ns.example.com. hostmaster.example.com. ( 2024010101
    86400 7200 3600000 172800 ) ; ignored
  IN NS ns.example.com.
  IN DNSKEY 257 3 13 AAAA
@ 30 IN MX 10 Mail
mail A 192.0.2.1
     AAAA 2001:DB8::1
WWW IN 2d CNAME mail.DOMAIN.
sub 300 IN NS ns.sub
    600 IN NS ns.example.com.
    IN DS 12345 13 2 (
      0123456789abcdef0123456789abcdef
      0123456789abcdef0123456789ABCDEF )
ns.sub A 192.0.2.2
*.wild TXT one "two;three" ; four
_sip._tcp SRV 1 2 5060 mail
`

test('a domain is created with the RRsets of a zone file, and DNS answers them once the response arrives', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const answer = await create(api, name, MIXED.replaceAll('DOMAIN', name))
  t.is(answer.status, 201, answer.text)
  const { published, touched, ...domain } = answer.json as ShownDomain
  t.deepEqual(Object.keys(answer.json as object), ['created', 'published', 'name', 'keys', 'minimum_ttl', 'touched'])
  t.is(domain.name, name)
  t.is(published, domain.created)
  t.is(touched, domain.created)
  t.is(domain.keys.length, 1)
  t.deepEqual(
    await rrsetsOf(api, name),
    [
      NS,
      `@ 60 MX 10 Mail.${name}.`,
      'mail 3600 A 192.0.2.1',
      'mail 3600 AAAA 2001:db8::1',
      `www 86400 CNAME mail.${name}.`,
      `sub 300 NS ns.sub.${name}., ns.example.com.`,
      `sub 3600 DS 12345 13 2 ${'0123456789abcdef'.repeat(4)}`,
      'ns.sub 3600 A 192.0.2.2',
      '*.wild 3600 TXT "one" "two;three"',
      `_sip._tcp 3600 SRV 1 2 5060 mail.${name}.`,
    ].sort(),
  )
  t.deepEqual(await lookUp(service().powerDns, `mail.${name}`, 'AAAA'), ['2001:db8::1'])
  t.deepEqual(await lookUp(service().powerDns, `x.wild.${name}`, 'TXT'), ['"one" "two;three"'])
  await isConsistent(t, service())
})

test('an import is one publication, whatever its size, and the domain can be written then', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const lines = Array.from({ length: 450 }, (_, i) => `host${i} A 192.0.2.${i % 256}\n`)
  service().proxy.calls.length = 0
  t.is((await create(api, name, lines.join(''))).status, 201)
  t.is(service().proxy.calls.filter(({ method }) => method === 'POST').length, 1)
  t.is(service().proxy.calls.filter(({ method }) => method === 'PATCH').length, 0)
  // The check that it is absent, its keys, the private half, and the flush; the creation has the name in its body.
  t.is(callsFor(service(), name) + 1, 5)
  t.is((await rrsetsOf(api, name)).length, 451)
  // The domain can be written, too.
  t.is((await api.post(`/domains/${name}/rrsets/`, rrset())).status, 201)
  t.is((await api.patch(`/domains/${name}/rrsets/host7/A/`, { records: ['192.0.2.99'] })).status, 200)
  t.is((await api.delete(`/domains/${name}/rrsets/host8/A/`)).status, 204)
  await isConsistent(t, service())
})

test('TTLs are clamped; without any TTL, records get the minimum', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  t.is((await create(api, name, 'n TXT n\na 1 A 192.0.2.1\nb 90000 A 192.0.2.1\nc 0 TXT c')).status, 201)
  t.deepEqual(await rrsetsOf(api, name), [
    NS,
    'a 60 A 192.0.2.1',
    'b 86400 A 192.0.2.1',
    'c 60 TXT "c"',
    'n 60 TXT "n"',
  ])
})

const someone = shared(() => service().account())

for (const [what, zonefile, rrsets] of [
  ['an empty text', '', []],
  ['a BOM and CRLF', '\ufeffa A 192.0.2.1\r\nb A 192.0.2.2\r\n', ['a 60 A 192.0.2.1', 'b 60 A 192.0.2.2']],
  ['a comment of 10 MB', `a A 192.0.2.1 ;${'x'.repeat(10_000_000)}`, ['a 60 A 192.0.2.1']],
] as const) {
  test(`${what}: imported`, async (t) => {
    const { api } = await someone()
    const name = freshName()
    t.is((await create(api, name, zonefile)).status, 201)
    t.deepEqual(await rrsetsOf(api, name), [NS, ...rrsets].sort())
  })
}

const inLine = (line: number, reason: string) => [`Zonefile contains syntax error in line ${line}. Reason: ${reason}`]

/** Zone files for DOMAIN, and the errors that they cause: one of each kind. */
const refused: [what: string, zonefile: unknown, texts: string[]][] = [
  [
    'a syntax error',
    'a A 192.0.2.1\n\n; x\nb A 192.0.2\n',
    inLine(4, 'Record content for type A malformed: Text input is malformed.'),
  ],
  ['a SOA elsewhere', 'a SOA a b 1 2 3 4 5', ['Zonefile includes an SOA record for a name different from DOMAIN.']],
  [
    'an owner name that is too long',
    `${'a.'.repeat(90)}a A 192.0.2.1`,
    [`${'a.'.repeat(90)}a.DOMAIN/A: Ensure this field has no more than 178 characters.`],
  ],
  [
    'several invalid RRsets, all reported',
    '@ WKS x\n@ MX 10 $url.\na A 192.0.2.1\n@ DS 1 13 9 ab\nt TYPE65280 \\# 0',
    [
      'DOMAIN/WKS: The WKS RR set type is currently unsupported.',
      'DOMAIN/MX: Cannot parse record contents: invalid exchange: \\$url.',
      'DOMAIN/DS: DS RRset cannot have empty subname.',
      't.DOMAIN/TYPE65280: Generic type format is not supported.',
    ],
  ],
  [
    'mistakes of several kinds, all reported by line',
    'a A 192.0.2\n@ MX 10 $url.\nb CNAME c\nb A 192.0.2.1\n$INCLUDE x\nc WKS x\n',
    [
      ...inLine(1, 'Record content for type A malformed: Text input is malformed.'),
      'DOMAIN/MX: Cannot parse record contents: invalid exchange: \\$url.',
      'No other records with the same name are allowed alongside a CNAME record.',
      ...inLine(5, 'only the directives $TTL and $ORIGIN are allowed'),
      'c.DOMAIN/WKS: The WKS RR set type is currently unsupported.',
    ],
  ],
  [
    'more mistakes than are listed',
    'a A x\n'.repeat(500),
    [
      ...Array.from(
        { length: 100 },
        (_, i) => inLine(i + 1, 'Record content for type A malformed: Text input is malformed.')[0]!,
      ),
      'There are more problems: these are the first 100.',
    ],
  ],
  [
    'more invalid RRsets than are listed',
    Array.from({ length: 101 }, (_, i) => `a${i} WKS x\n`).join(''),
    [
      ...Array.from({ length: 100 }, (_, i) => `a${i}.DOMAIN/WKS: The WKS RR set type is currently unsupported.`),
      'There are more problems: these are the first 100.',
    ],
  ],
  ['null', null, ['This field may not be null.']],
  ['a list', ['a A 192.0.2.1'], ['Not a valid string.']],
  ['a number', 5, inLine(1, 'expecting a type')],
]

for (const [what, zonefile, texts] of refused) {
  test(`${what}: the import is refused and leaves nothing`, async (t) => {
    const { api } = await someone()
    const name = freshName()
    const answer = await create(api, name, zonefile)
    t.is(answer.status, 400)
    t.is(answer.text, JSON.stringify({ zonefile: texts.map((text) => text.replace('DOMAIN', name)) }))
    t.true(await isAbsent(api, name))
  })
}

test("problems of the name are reported with those of the zone file's type, and before those of its contents", async (t) => {
  const { api } = await service().account()
  t.is(
    (await create(api, '_x.test', null)).text,
    '{"name":["Domain names may not begin with an underscore."],"zonefile":["This field may not be null."]}',
  )
  t.is((await create(api, await newDomain(api), 'x A')).text, '{"name":["domain with this name already exists."]}')
  t.is(
    (await create(api, 'com', '?')).text,
    '{"name":["This domain name conflicts with an existing domain, or is disallowed by policy."]}',
  )
})

test('a zone file with too many records is refused; while it is read, the creation holds no lock that others would wait for', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const state = { isAnswered: false }
  const creating = create(api, name, 'a A 192.0.2.1\n'.repeat(250_001)).finally(() => (state.isAnswered = true))
  const looks: boolean[] = []
  while (!state.isAnswered) {
    const locks = await service().sql(`select from pg_locks join pg_database on pg_database.oid = database
       where locktype = 'advisory' and granted and datname = current_database()`)
    looks.push(locks.length > 0)
  }
  t.is((await creating).text, '{"zonefile":["Could not parse zonefile: it has more than 250000 records"]}')
  // Reading takes as long as hundreds of looks. Locks come afterwards, if at all.
  const first = looks.indexOf(true)
  t.true(looks.length > 40 && (first === -1 || first > 20), looks.map(Number).join(''))
  t.true(await isAbsent(api, name))
})

test('a policy that forbids one RRset forbids the import, before its contents are checked', async (t) => {
  const { api, tokenId } = await service().account()
  await addPolicies(service(), tokenId, { write: true }, { type: 'TXT', write: false })
  const name = freshName()
  const answer = await create(api, name, 'a A 192.0.2.1\nb TXT b\nc MX 1 _d')
  t.deepEqual([answer.status, answer.text], [403, '{"detail":"Insufficient token permissions."}'])
  t.true(await isAbsent(api, name))
  t.is((await create(api, name, 'a A 192.0.2.')).status, 400)
  t.is((await create(api, name, 'a A 192.0.2.1\nb.other.test. TXT b\n@ NS n')).status, 201)
  t.deepEqual(await rrsetsOf(api, name), [NS, 'a 60 A 192.0.2.1'])
})

test('a token that may write nothing can create a domain without importing RRsets', async (t) => {
  const { api, tokenId } = await service().account()
  await addPolicies(service(), tokenId, { write: false })
  t.is((await create(api, freshName(), 'a A 192.0.2.1')).status, 403)
  t.is((await create(api, freshName(), '@ NS n')).status, 201)
})

test('a token with auto_policy may import anything', async (t) => {
  const { api, tokenId } = await service().account()
  await addPolicies(service(), tokenId, { write: false })
  await service().sql('update tokens set auto_policy = true where id = :tokenId', { tokenId })
  const name = freshName()
  t.is((await create(api, name, 'a A 192.0.2.1')).status, 201)
  t.deepEqual(await rrsetsOf(api, name), [NS, 'a 60 A 192.0.2.1'])
  t.is((await api.delete(`/domains/${name}/rrsets/a/A/`)).status, 204)
})

test('below a local public suffix, an import with NS RRsets below the apex is refused', async (t) => {
  await withService({ LOCAL_PUBLIC_SUFFIXES: 'dyn.test' }, async (other) => {
    const { api } = await other.account()
    const answer = await create(api, 'a.dyn.test', '@ NS n\nb NS n\nc A 192.0.2.1')
    t.is(answer.status, 400)
    t.is(answer.text, '{"zonefile":["b.a.dyn.test/NS: Cannot modify NS records for this domain."]}')
    t.is((await create(api, 'a.dyn.test', '@ NS n\nc A 192.0.2.1')).status, 201)
  })
})

for (const [wording, text] of [
  ["Record a.NAME./A '192.0.2.1': no", 'a.NAME/A: The DNS backend refused this RRset: '],
  ['RRset a.NAME. IN A: no', 'a.NAME/A: The DNS backend refused this RRset: '],
  ['RRset NAME. IN NS has more than one', 'NAME/NS: The DNS backend refused this RRset: '],
  ["Name 'x' contains unsupported characters", 'The DNS backend refused this zone: '],
] as const) {
  test(`a refusal of the zone by PowerDNS is 400 and leaves nothing: ${wording}`, async (t) => {
    const { api } = await service().account()
    const name = freshName()
    const error = wording.replace('NAME', name)
    service().proxy.fail(({ method, path }) =>
      method === 'POST' && path.startsWith('/zones') ? { refuse: 422, error } : 'pass',
    )
    const answer = await create(api, name, 'a A 192.0.2.1')
    service().proxy.heal()
    t.is(answer.status, 400)
    t.is(answer.text, JSON.stringify({ zonefile: [`${text.replace('NAME', name)}${error}`] }))
    t.is((await create(api, name, 'a A 192.0.2.1')).status, 201)
    t.true((await transfer(service().powerDns, name)).includes(`a.${name}.`))
  })
}
