import {
  newDomain,
  newRRset,
  newZone,
  rrset,
  type RRsetBody,
  setMinimumTtl,
  shared,
  succeeded,
} from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const NULL = 'This field may not be null.'
const BLANK = 'This field may not be blank.'
const NO_STRING = 'Not a valid string.'
const NO_INTEGER = 'A valid integer is required.'
const NUL = 'Null characters are not allowed.'
const SURROGATE = 'Surrogate characters are not allowed: U+D800.'
const TTL_HIGH = 'Ensure this value is less than or equal to 86400.'
const TTL_LOW = 'Ensure this value is greater than or equal to 60.'
const TYPE_SYNTAX = 'Type must be uppercase alphanumeric and start with a letter.'
const TYPE_LONG = 'Ensure this field has no more than 10 characters.'
const SUBNAME_LONG = 'Ensure this field has no more than 178 characters.'
const SUBNAME_SYNTAX =
  "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not " +
  'exceed 63 characters.'
const notLowercase = (subname: string) => `Invalid value (not lowercase): ${subname}`
const notUppercase = (type: string) => `Invalid value (not uppercase): ${type}`
const unsupported = (type: string) => `The ${type} RR set type is currently unsupported.`
const noList = (type: string) => `Expected a list of items but got type "${type}".`
const DUPLICATE = 'Duplicate: records must be semantically unique'
const NO_ADDRESS = 'Record content for type A malformed: Text input is malformed.'

const object = (...texts: string[]) => ({ non_field_errors: texts })

/** A subname of `length` characters, in labels of 63 at most. */
function subnameOf(length: number, letter = 'a'): string {
  return `${letter.repeat(50)}.`.repeat(3) + letter.repeat(length - 153)
}

/**
 * Wrong members of a POST, and the problems of each: examples of each kind. test/dns/names.test.ts, types.test.ts and
 * rrset.test.ts have more of them.
 */
const CREATION: [members: RRsetBody, problems: Record<string, string[]>][] = [
  [{ subname: null }, { subname: [NULL] }],
  [{ subname: true }, { subname: [NO_STRING] }],
  [{ subname: ['www'] }, { subname: [NO_STRING] }],
  [{ subname: {} }, { subname: [NO_STRING] }],
  [{ subname: 'a\0' }, { subname: [NUL] }],
  [{ subname: 'a\ud800' }, { subname: [SURROGATE] }],
  [{ subname: 'X' }, { subname: [notLowercase('X'), SUBNAME_SYNTAX] }],
  [{ subname: '@' }, { subname: [SUBNAME_SYNTAX] }],
  [{ subname: 'a..b' }, { subname: [SUBNAME_SYNTAX] }],
  [{ subname: 'a\nb' }, { subname: [SUBNAME_SYNTAX] }],
  [{ subname: '\u00dc' }, { subname: [notLowercase('\u00dc'), SUBNAME_SYNTAX] }],
  [{ subname: subnameOf(179) }, { subname: [SUBNAME_LONG] }],
  [{ subname: `${subnameOf(178)}.` }, { subname: [SUBNAME_LONG, SUBNAME_SYNTAX] }],
  [{ subname: subnameOf(179, 'A') }, { subname: [SUBNAME_LONG, notLowercase(subnameOf(179, 'A')), SUBNAME_SYNTAX] }],
  [{ type: null }, { type: [NULL] }],
  [{ type: '' }, { type: [BLANK] }],
  [{ type: '  ' }, { type: [BLANK] }],
  [{ type: false }, { type: [NO_STRING] }],
  [{ type: ['A'] }, { type: [NO_STRING] }],
  [{ type: 'A\0' }, { type: [NUL] }],
  [{ type: '\ud800' }, { type: [SURROGATE] }],
  [{ type: 'txt' }, { type: [notUppercase('txt'), TYPE_SYNTAX] }],
  [{ type: 1 }, { type: [TYPE_SYNTAX] }],
  [{ type: 'ABCDEFGHIJK' }, { type: [TYPE_LONG] }],
  [{ type: 'SOA' }, { type: ['You cannot tinker with the SOA RR set. It is managed automatically.'] }],
  [{ type: 'TYPE1' }, { type: ['Generic type format is not supported.'] }],
  [{ type: 'TYPEX' }, { type: ['Generic type format is not supported.'] }],
  [{ type: 'ALIAS' }, { type: [unsupported('ALIAS')] }],
  [{ type: 'WKS' }, { type: [unsupported('WKS')] }],
  [{ type: 'ABCDEFGHIJ' }, { type: [unsupported('ABCDEFGHIJ')] }],
  [{ records: [] }, { records: ['This field must not be empty when using POST.'] }],
  [
    { subname: 'X', type: 'x', ttl: 'x', records: [1] },
    {
      subname: [notLowercase('X'), SUBNAME_SYNTAX],
      type: [notUppercase('x'), TYPE_SYNTAX],
      ttl: [NO_INTEGER],
      records: ['Item 0: Must be a string.'],
    },
  ],
]

/** Members that are wrong for every method. */
const ANY: [members: RRsetBody, problems: Record<string, string[]>][] = [
  [{ ttl: null }, { ttl: [NULL] }],
  [{ ttl: '' }, { ttl: [NO_INTEGER] }],
  [{ ttl: 'x' }, { ttl: [NO_INTEGER] }],
  [{ ttl: '1h' }, { ttl: [NO_INTEGER] }],
  [{ ttl: '0x10' }, { ttl: [NO_INTEGER] }],
  [{ ttl: '1e3' }, { ttl: [NO_INTEGER] }],
  [{ ttl: 3600.5 }, { ttl: [NO_INTEGER] }],
  [{ ttl: '3600.5' }, { ttl: [NO_INTEGER] }],
  [{ ttl: true }, { ttl: [NO_INTEGER] }],
  [{ ttl: [3600] }, { ttl: [NO_INTEGER] }],
  [{ ttl: {} }, { ttl: [NO_INTEGER] }],
  [{ ttl: '\u0666\u0660' }, { ttl: [NO_INTEGER] }],
  [{ ttl: '\0' }, { ttl: [NO_INTEGER] }],
  [{ ttl: 'x'.repeat(1001) }, { ttl: ['String value too large.'] }],
  [{ ttl: '1'.repeat(1000) }, { ttl: [TTL_HIGH] }],
  [{ ttl: 86401 }, { ttl: [TTL_HIGH] }],
  [{ ttl: 2 ** 31 }, { ttl: [TTL_HIGH] }],
  [{ ttl: 1e20 }, { ttl: [TTL_HIGH] }],
  [{ ttl: 59 }, { ttl: [TTL_LOW] }],
  [{ ttl: 0 }, { ttl: [TTL_LOW] }],
  [{ ttl: -1 }, { ttl: [TTL_LOW] }],
  [{ ttl: '-3600' }, { ttl: [TTL_LOW] }],
  [{ ttl: -1e20 }, { ttl: [TTL_LOW] }],
  [{ records: null }, { records: [NULL] }],
  [{ records: '192.0.2.1' }, { records: [noList('str')] }],
  [{ records: {} }, { records: [noList('dict')] }],
  [{ records: 1 }, { records: [noList('int')] }],
  [{ records: 1.5 }, { records: [noList('float')] }],
  [{ records: true }, { records: [noList('bool')] }],
  [{ records: [1] }, { records: ['Item 0: Must be a string.'] }],
  [{ records: [null] }, { records: [`Item 0: ${NULL}`] }],
  [{ records: [''] }, { records: [`Item 0: ${BLANK}`] }],
  [{ records: ['192.0.2.1', ' \t\n'] }, { records: [`Item 1: ${BLANK}`] }],
  [{ records: ['a\0'] }, { records: [`Item 0: ${NUL}`] }],
  [{ records: ['\ud800'] }, { records: [`Item 0: ${SURROGATE}`] }],
  [
    { records: ['192.0.2.1', ['x'], null, {}, '', true] },
    {
      records: [
        ...['Item 1: Must be a string.', `Item 2: ${NULL}`, 'Item 3: Must be a string.', `Item 4: ${BLANK}`],
        'Item 5: Must be a string.',
      ],
    },
  ],
  [
    { ttl: 1, records: [''] },
    { ttl: [TTL_LOW], records: [`Item 0: ${BLANK}`] },
  ],
  [{ records: Array(4092).fill('x') }, { records: ['Ensure this field has no more than 4091 elements.'] }],
  [
    { records: ['x'.repeat(63_997)] },
    { records: ['Ensure this field has no more than 64000 characters after JSON encoding (it has 64001).'] },
  ],
  [{ records: ['1.2.3.4', '1.2.3.4', 'x'] }, object(NO_ADDRESS)],
  [{ records: ['1.2.3.4', ' 1.2.3.4'] }, object(DUPLICATE)],
]

function title(members: RRsetBody): string {
  const json = JSON.stringify(members)
  return json.length < 60 ? json : `${json.slice(0, 50)}… (${json.length})`
}

const zone = () => newZone(service())

/** A new zone that no test changes. */
const untouched = shared(zone)

for (const [members, problems] of [...CREATION, ...ANY]) {
  const texts = Object.values(problems).flat().join(' ')
  test(`POST ${title(members)} is refused: ${texts.slice(0, 80)}`, async (t) => {
    const { api, rrsets } = await untouched()
    const answer = await api.post(rrsets, rrset(members))
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems)])
    t.is(((await api.get(rrsets)).json as unknown[]).length, 1)
  })
}

for (const method of ['PUT', 'PATCH']) {
  test(`${method} refuses the same TTLs and records`, async (t) => {
    const { api, domain, rrsets } = await zone()
    const shown = await newRRset(api, domain)
    for (const [members, problems] of ANY) {
      const answer = await api.send(method, `${rrsets}www/A/`, method === 'PUT' ? rrset(members) : members)
      t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems)], title(members))
    }
    t.deepEqual((await api.get(`${rrsets}www/A/`)).json, shown)
  })
}

const ACCEPTED: [members: RRsetBody, shown: object][] = [
  [{ subname: ' www ' }, { subname: 'www' }],
  [{ subname: 1.25 }, { subname: '1.25' }],
  [{ subname: '\t\nn2\u00a0' }, { subname: 'n2' }],
  [{ subname: '*' }, { subname: '*' }],
  [{ subname: '_a._b' }, { subname: '_a._b' }],
  [{ subname: subnameOf(178) }, { subname: subnameOf(178) }],
  [{ type: ' A ' }, { type: 'A' }],
  [{ ttl: 60 }, { ttl: 60 }],
  [{ ttl: 86400 }, { ttl: 86400 }],
  [{ ttl: '3600' }, { ttl: 3600 }],
  [{ ttl: ' 3600 ' }, { ttl: 3600 }],
  [{ ttl: '3600.0' }, { ttl: 3600 }],
  [{ ttl: '+3600' }, { ttl: 3600 }],
  [{ ttl: '3600'.padStart(1000, '0') }, { ttl: 3600 }],
  [{ records: [' 192.0.2.1\n'] }, { records: ['192.0.2.1'] }],
]

const written = shared(zone)

for (const [i, [members, shown]] of ACCEPTED.entries()) {
  test(`POST ${title(members)} is accepted`, async (t) => {
    const { api, rrsets } = await written()
    t.like(succeeded(await api.post(rrsets, rrset({ subname: `n${i}`, ...members })), 201).json, shown)
  })
}

/** TTLs as JSON, and as they are read; or their problem. */
for (const [json, read] of [
  ['3600.0', 3600],
  ['3.6e3', 3600],
  ['1e400', NO_INTEGER],
  ['9007199254740993', TTL_HIGH],
] as const) {
  test(`a TTL that is written as ${json} is ${read}`, async (t) => {
    const { api, rrsets } = await zone()
    const body = `{"subname":"www","type":"A","ttl":${json},"records":["192.0.2.1"]}`
    const answer = await api.post(rrsets, undefined, { body, headers: { 'content-type': 'application/json' } })
    if (read === 3600) t.like(answer.json, { ttl: read })
    else t.deepEqual([answer.status, answer.json], [400, { ttl: [read] }])
  })
}

test('subname and domain together have 255 octets at most', async (t) => {
  const { api } = await service().account()
  // In wire form, a name has two octets more than characters without the final dot.
  const domain = await newDomain(api, `${subnameOf(170)}.test`)
  const [fits, exceeds] = ['a'.repeat(50) + '.' + 'a'.repeat(26), 'a'.repeat(50) + '.' + 'a'.repeat(27)]
  t.is(`${fits}.${domain}`.length, 253)
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: fits }))).status, 201)
  const answer = await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: exceeds }))
  const text = 'This field combined with the domain name must not exceed 255 characters.'
  t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ subname: [text] })])
})

test("the minimum TTL is the domain's minimum_ttl; raising it does not change existing RRsets", async (t) => {
  const { api, domain, rrsets } = await zone()
  await newRRset(api, domain, { ttl: 60 })
  await setMinimumTtl(service(), domain, 3600)
  const low = JSON.stringify({ ttl: ['Ensure this value is greater than or equal to 3600.'] })
  t.is((await api.post(rrsets, rrset({ subname: 'b', ttl: 3599 }))).text, low)
  t.is((await api.patch(`${rrsets}www/A/`, { ttl: 60 })).text, low)
  t.like((await api.patch(`${rrsets}www/A/`, { records: ['192.0.2.9'] })).json, { ttl: 60, records: ['192.0.2.9'] })
  t.is((await api.post(rrsets, rrset({ subname: 'b', ttl: 3600 }))).status, 201)
})

const EXISTS = 'Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'
const conflict = (types: string) =>
  `RRset with conflicting type present at same subname: database (${types}). ` +
  '(No other RRsets are allowed alongside CNAME.)'
const CNAME_MULTIPLE = 'CNAME RRset cannot have multiple records.'
const CNAME_APEX = 'CNAME RRset cannot have empty subname.'

/** Different names of 5 characters. */
const NAMES = Array.from({ length: 4091 }, (_, i) => `${(i + 46_656).toString(36)}.`)

/** The RRsets of the zone, those posted, and the problems: only those of the first layer that fails. */
const LAYERS: [title: string, before: RRsetBody[], members: RRsetBody, problems: object][] = [
  [
    'wrong fields are reported before an existing RRset',
    [rrset()],
    { ttl: 1 },
    { ttl: ['Ensure this value is greater than or equal to 60.'] },
  ],
  ['an existing RRset is reported before the content', [rrset()], { records: ['x'] }, object(EXISTS)],
  ['an existing RRset is reported before duplicates', [rrset()], { records: ['1.2.3.4', '1.2.3.4'] }, object(EXISTS)],
  [
    'an existing CNAME is reported as existing, not as conflicting',
    [rrset({ type: 'CNAME', records: ['a.test.'] })],
    { type: 'CNAME', records: ['b.test.'] },
    object(EXISTS),
  ],
  [
    'a conflict with a CNAME is reported before the content',
    [rrset({ type: 'CNAME', records: ['a.test.'] })],
    { records: ['x'] },
    object(conflict('CNAME')),
  ],
  [
    'a conflict of a CNAME names all types, sorted, and is reported before the rules of the CNAME',
    [rrset({ type: 'TXT', records: ['"a"'] }), rrset(), rrset({ type: 'AAAA', records: ['::1'] })],
    { type: 'CNAME', records: ['a.test.', 'b.test.'] },
    object(conflict('A, AAAA, TXT')),
  ],
  [
    'a CNAME at an apex conflicts with its NS RRset',
    [],
    { subname: '', type: 'CNAME', records: ['a.test.'] },
    object(conflict('NS')),
  ],
  ['malformed content is reported before duplicates', [], { records: ['1.2.3.4', '1.2.3.4', 'x'] }, object(NO_ADDRESS)],
  [
    'only the first malformed record is reported',
    [],
    { type: 'MX', records: ['10 a.test.', 'x a.test.', '10 a'] },
    object('Record content for type MX malformed: expecting an integer'),
  ],
  [
    'duplicates are reported before the size after canonicalisation',
    [],
    { type: 'TXT', records: [`"${'\u00fc'.repeat(9000)}"`, ` "${'\u00fc'.repeat(9000)}"`] },
    object(DUPLICATE),
  ],
  [
    'duplicates are reported before the rules of the type',
    [],
    { type: 'CNAME', records: ['a.test.', '\\065.test.'] },
    object(DUPLICATE),
  ],
  [
    'the size after canonicalisation is reported before that of the message',
    [],
    {
      type: 'TXT',
      records: [
        `"${'\u00fc'.repeat(15_950)}"`,
        `"${'\u00fc'.repeat(15_951)}"`,
        ...Array.from({ length: 500 }, (_, i) => `"${i}"`),
      ],
    },
    { records: ['Ensure this field has no more than 64000 characters after JSON encoding (it has 325165).'] },
  ],
  [
    'the size of the message is reported before the rules of the type',
    [],
    { type: 'CNAME', records: NAMES },
    object(`Total length of RRset exceeds limit by 8134 bytes.`),
  ],
]

for (const [i, [title, before, members, problems]] of LAYERS.entries()) {
  test(title, async (t) => {
    const { api } = await service().account()
    // All of the same length, as the length of the owner name counts.
    const rrsets = `/domains/${await newDomain(api, `l${100 + i}.test`)}/rrsets/`
    for (const body of before) succeeded(await api.post(rrsets, body), 201)
    const list = (await api.get(rrsets)).text
    const answer = await api.post(rrsets, rrset(members))
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems)])
    t.is((await api.get(rrsets)).text, list)
  })
}

test('at an apex without NS RRset, all rules of a CNAME apply', async (t) => {
  const { api, rrsets } = await newZone(service())
  succeeded(await api.delete(`${rrsets}@/NS/`), 204)
  const answer = await api.post(rrsets, rrset({ subname: '', type: 'CNAME', records: ['a.test.', 'b.test.'] }))
  t.deepEqual([answer.status, answer.text], [400, JSON.stringify(object(CNAME_MULTIPLE, CNAME_APEX))])
})

for (const method of ['POST', 'PUT', 'PATCH']) {
  test(`a bulk ${method} reports the same problems at the items that have them, however often they occur`, async (t) => {
    const { api, rrsets } = await untouched()
    const required = ['This field is required.']
    // Subnames and types that are no texts, or have characters that none may have, are another thing in a bulk write.
    const isText = (value: unknown) => typeof value === 'string' && !/[\0\ud800]/.test(value)
    const rows = [...CREATION, ...ANY, ...LAYERS.flatMap(([, before, ...row]) => (before.length === 0 ? [row] : []))]
      .filter(([{ subname = '', type = '' }]) => isText(subname) && isText(type))
      // The length of a message depends on names. No records are a deletion in PUT and PATCH.
      .filter(([{ records }]) => records !== NAMES && (method === 'POST' || JSON.stringify(records) !== '[]'))
    const again = rows.filter(([members]) => !('subname' in members))
    const all = [...rows, ...again, ...again].map(([members, problems], i) => [
      { subname: `n${i}`, ...members },
      problems,
    ])
    const items = [...all.map(([members]) => rrset(members)), rrset(), { subname: 'x' }]
    const answer = await api.send(method, rrsets, items)
    const expected = [...all.map(([, problems]) => problems), {}, { type: required, ttl: required, records: required }]
    t.deepEqual([answer.status, answer.json], [400, expected])
  })
}
