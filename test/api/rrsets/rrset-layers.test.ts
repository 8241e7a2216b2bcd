import { newDomain, newRRset, newZone, rrset, type RRsetBody, succeeded } from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const EXISTS = 'Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'
const conflict = (types: string) =>
  `RRset with conflicting type present at same subname: database (${types}). ` +
  '(No other RRsets are allowed alongside CNAME.)'
const DUPLICATE = 'Duplicate: records must be semantically unique'
const NO_ADDRESS = 'Record content for type A malformed: Text input is malformed.'
const CNAME_MULTIPLE = 'CNAME RRset cannot have multiple records.'
const CNAME_APEX = 'CNAME RRset cannot have empty subname.'

/** Different names of 5 characters. */
const NAMES = Array.from({ length: 4091 }, (_, i) => `${(i + 46_656).toString(36)}.`)

const object = (...texts: string[]) => ({ non_field_errors: texts })

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

for (const method of ['PUT', 'PATCH']) {
  test(`${method} has the same layers from the content on`, async (t) => {
    const { api, domain } = await newZone(service())
    const shown = await newRRset(api, domain)
    await newRRset(api, domain, { subname: 'alias', type: 'CNAME', records: ['a.test.'] })
    const rows: [path: string, members: RRsetBody, text: string][] = [
      ['www/A', { records: ['1.2.3.4', '1.2.3.4', 'x'] }, NO_ADDRESS],
      ['www/A', { records: ['1.2.3.4', ' 1.2.3.4'] }, DUPLICATE],
      ['alias/CNAME', { subname: 'alias', type: 'CNAME', records: ['a.test.', 'b.test.'] }, CNAME_MULTIPLE],
    ]
    for (const [path, members, text] of rows) {
      const answer = await api.send(method, `/domains/${domain}/rrsets/${path}/`, rrset(members))
      t.deepEqual([answer.status, answer.text], [400, JSON.stringify(object(text))])
    }
    t.deepEqual((await api.get(`/domains/${domain}/rrsets/www/A/`)).json, shown)
  })
}
