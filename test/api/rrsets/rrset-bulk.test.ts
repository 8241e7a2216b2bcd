import {
  callsFor,
  domainOf,
  newDomain,
  newRRset,
  newZone,
  rrset,
  type RRsetBody,
  shared,
  type ShownRRset,
} from '../../support/clients/api.ts'
import { addPolicies } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService({ THROTTLE: 'off' })

const REQUIRED = ['This field is required.']
const NULL = ['This field may not be null.']
const EXISTS = 'Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'
const LONE = '(No other RRsets are allowed alongside CNAME.)'
const object = (text: string) => ({ non_field_errors: [text] })
const conflict = (holders: string) => object(`RRset with conflicting type present at same subname: ${holders}. ${LONE}`)
const same = (positions: string) => object(`Same subname and type as in position(s) ${positions}, but must be unique.`)
const NO_ADDRESS = object('Record content for type A malformed: Text input is malformed.')
const cname = (members: RRsetBody = {}) => rrset({ type: 'CNAME', records: ['a.test.'], ...members })
const txt = (members: RRsetBody = {}) => rrset({ type: 'TXT', records: ['"a"'], ...members })

type Method = 'POST' | 'PUT' | 'PATCH'

/**
 * Items for a zone with an A and a TXT RRset at `old` and a CNAME at `alias`, and the complete problems. For those that
 * single requests have, too, rrset-fields.test.ts compares both.
 */
const WRONG: [title: string, methods: Method[], items: unknown[], problems: object[]][] = [
  [
    'items that are not objects',
    ['POST', 'PUT', 'PATCH'],
    ['x', 1, 1.5, true, null, [], rrset()],
    ['str', 'int', 'float', 'bool', 'NoneType', 'list']
      .map((type) => object(`Expected a dictionary, but got ${type}.`))
      .concat([{} as never]),
  ],
  [
    'a subname or type that is not a string, before any other problem',
    ['POST', 'PUT', 'PATCH'],
    [
      rrset({ subname: [], ttl: 1 }),
      rrset({ type: {} }),
      rrset({ subname: null, type: null }),
      rrset({ subname: 1, type: true }),
      rrset(),
    ],
    [
      { subname: ['Expected a string, but got list.'] },
      { type: ['Expected a string, but got dict.'] },
      { subname: NULL, type: NULL },
      { subname: ['Expected a string, but got int.'], type: ['Expected a string, but got bool.'] },
      {},
    ],
  ],
  [
    'every item with the subname and type of another, before its fields',
    ['POST', 'PUT', 'PATCH'],
    [rrset(), txt(), rrset({ ttl: 1 }), rrset({ subname: '' }), rrset({ subname: ' www ' }), { type: 'A' }],
    [same('2, 4'), {}, same('0, 4'), same('5'), same('0, 2'), same('3')],
  ],
  [
    'missing fields for an existing RRset',
    ['PUT'],
    [{ subname: 'old', type: 'A' }],
    [{ ttl: REQUIRED, records: REQUIRED }],
  ],
  [
    'missing fields for an absent RRset',
    ['PATCH'],
    [
      rrset({ ttl: undefined }),
      txt({ records: undefined }),
      { subname: 'x', type: 'A' },
      txt({ subname: 'x', ttl: undefined, records: 1 }),
    ],
    [
      { ttl: REQUIRED },
      { records: REQUIRED },
      { ttl: REQUIRED, records: REQUIRED },
      { ttl: REQUIRED, records: ['Expected a list of items but got type "int".'] },
    ],
  ],
  [
    'missing fields of a deletion',
    ['PUT'],
    [
      { subname: 'old', type: 'A', records: [] },
      { type: 'A', records: [] },
    ],
    [{ ttl: REQUIRED }, { ttl: REQUIRED }],
  ],
  [
    'RRsets that exist, and those that conflict with a CNAME',
    ['POST'],
    [rrset({ subname: 'old', records: ['x'] }), rrset({ subname: 'alias', records: ['x'] }), cname({ subname: 'old' })],
    [object(EXISTS), conflict('database (CNAME)'), conflict('0 (A), database (A, TXT)')],
  ],
  [
    'conflicts with other items, with their positions first',
    ['PUT', 'PATCH'],
    [txt(), cname(), rrset(), cname({ subname: 'old' }), txt({ subname: 'old' }), cname({ subname: '' })],
    [
      conflict('1 (CNAME)'),
      conflict('0 (TXT), 2 (A)'),
      conflict('1 (CNAME)'),
      conflict('4 (TXT), database (A, TXT)'),
      conflict('3 (CNAME)'),
      conflict('database (NS)'),
    ],
  ],
  [
    'conflicts with RRsets that the request does not delete',
    ['PATCH'],
    [
      { subname: 'old', type: 'A', records: [] },
      cname({ subname: 'old' }),
      { subname: 'alias', type: 'CNAME', ttl: 120 },
      rrset({ subname: 'alias' }),
    ],
    [{}, conflict('database (TXT)'), conflict('3 (A)'), conflict('2 (CNAME), database (CNAME)')],
  ],
  [
    'problems of different stages in different items',
    ['PATCH'],
    [
      rrset({ subname: 'new' }),
      { subname: 'old', type: 'A', ttl: 120 },
      { subname: 'old', type: 'TXT', records: [] },
      { subname: 'nowhere', type: 'A', records: [] },
      'x',
      { subname: 'x', type: 5 },
      txt(),
      txt(),
      { type: 'A', records: [], ttl: 1 },
      rrset({ subname: 'alias' }),
      rrset({ subname: 'bad', records: ['x'] }),
    ],
    [
      {},
      {},
      {},
      {},
      object('Expected a dictionary, but got str.'),
      { type: ['Expected a string, but got int.'] },
      same('7'),
      same('6'),
      { ttl: ['Ensure this value is greater than or equal to 60.'] },
      conflict('database (CNAME)'),
      NO_ADDRESS,
    ],
  ],
]

/** A zone that no test changes. */
const untouched = shared(() =>
  newZone(service(), { subname: 'old' }, txt({ subname: 'old' }), cname({ subname: 'alias' })),
)

for (const [title, methods, items, problems] of WRONG) {
  for (const method of methods) {
    test(`${method} reports the problems of each item and changes nothing: ${title}`, async (t) => {
      const { api, domain, rrsets } = await untouched()
      const before = [(await api.get(rrsets)).json, await domainOf(api, domain)]
      const calls = callsFor(service(), domain)
      const answer = await api.send(method, rrsets, items)
      t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems)])
      t.is(answer.headers['content-length'], String(Buffer.byteLength(answer.text)))
      t.deepEqual([(await api.get(rrsets)).json, await domainOf(api, domain)], before)
      t.is(callsFor(service(), domain), calls)
    })
  }
}

/** Bodies for a collection that are not arrays. */
const BODIES: [body: string | undefined, PUT: string, POST: string][] = [
  ['{}', 'Expected a list of items but got dict.', ''],
  ['"x"', 'Expected a list of items but got str.', 'Invalid data. Expected a dictionary, but got str.'],
  ['1', 'Expected a list of items but got int.', 'Invalid data. Expected a dictionary, but got int.'],
  ['null', 'No data provided', 'No data provided'],
  [undefined, 'No data provided', 'No data provided'],
]

for (const [body, put, post] of BODIES) {
  test(`the collection refuses a body that is not a list: ${body ?? 'none'}`, async (t) => {
    const { api, rrsets } = await untouched()
    const options = { headers: { 'content-type': 'application/json' }, body: body ?? '' }
    for (const method of ['PUT', 'PATCH'] as const) {
      const answer = await api.send(method, rrsets, undefined, options)
      t.deepEqual([answer.status, answer.json], [400, object(put)])
    }
    const single = await api.send('POST', rrsets, undefined, options)
    t.is(single.status, 400)
    t.deepEqual(single.json, post === '' ? { type: REQUIRED, ttl: REQUIRED, records: REQUIRED } : object(post))
  })
}

for (const text of [
  '[',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1}',
  '[1]]',
  '[1] x',
  '[{]',
  '[{}',
  '["x]',
  '[1]\u00a0',
  '[NaN]',
]) {
  test(`invalid JSON is reported as a parse error: ${text}`, async (t) => {
    const { api, rrsets } = await untouched()
    // Also if the body is long enough to be read in pieces.
    const long = text.replace('[', `[${`{"type":"A","comment":"${'x'.repeat(1000)}]["},`.repeat(100)}`)
    for (const body of [text, text === '[,1]' ? text : long]) {
      const answer = await api.send('PATCH', rrsets, undefined, {
        headers: { 'content-type': 'application/json' },
        body,
      })
      t.is(answer.status, 400)
      t.regex((answer.json as { detail: string }).detail, /^JSON parse error - ./)
    }
  })
}

test('POST creates all items, and returns them in their order, as GET shows them', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  const calls = callsFor(service(), domain)
  const items = [
    rrset({ subname: 'b' }),
    { type: 'TXT', ttl: 60, records: ['"x"'] },
    rrset({ subname: 'a' }),
    txt({ subname: 'a' }),
  ]
  const answer = await api.post(rrsets, items)
  t.is(answer.status, 201)
  const created = answer.json as ShownRRset[]
  const keys = created.map(({ subname, type }) => [subname, type])
  t.deepEqual(keys, [
    ['b', 'A'],
    ['', 'TXT'],
    ['a', 'A'],
    ['a', 'TXT'],
  ])
  t.is(callsFor(service(), domain), calls + 1)
  for (const shown of created) {
    t.deepEqual(Object.keys(shown), ['created', 'domain', 'subname', 'name', 'records', 'ttl', 'type', 'touched'])
    t.deepEqual((await api.get(`${rrsets}${shown.subname}.../${shown.type}/`)).json, shown)
  }
  t.deepEqual(await lookUp(service().powerDns, `a.${domain}`, 'TXT'), ['"a"'])
  const { published, touched } = await domainOf(api, domain)
  t.deepEqual([published, touched], [created[0]!.created, created[0]!.touched])
})

for (const method of ['PUT', 'PATCH'] as const) {
  test(`${method} creates, changes, deletes and keeps RRsets, and returns those that remain`, async (t) => {
    const { api, domain, rrsets } = await newZone(service())
    const old = await newRRset(api, domain, { subname: 'old', records: ['192.0.2.1', '192.0.2.2'] })
    const kept = await newRRset(api, domain, { subname: 'kept', records: ['192.0.2.1', '192.0.2.2'] })
    await newRRset(api, domain, { subname: 'gone' })
    const calls = callsFor(service(), domain)
    const answer = await api.send(method, rrsets, [
      rrset({ subname: 'new' }),
      { ...old, ttl: 120, created: null, touched: '' },
      rrset({ subname: 'gone', records: [] }),
      rrset({ subname: 'nowhere', records: [] }),
      rrset({ subname: 'kept', records: ['192.0.2.2', '192.0.2.1'] }),
    ])
    t.is(answer.status, 200)
    const [created, changed, same, ...rest] = answer.json as ShownRRset[]
    t.deepEqual(rest, [])
    t.like(created, { subname: 'new', name: `new.${domain}.`, ttl: 3600 })
    t.is(changed!.touched, created!.touched)
    t.deepEqual(changed, { ...old, ttl: 120, touched: created!.touched })
    // Accepted unchanged, in the order in which it was last written.
    t.deepEqual(same, { ...kept, touched: created!.touched })
    t.is(callsFor(service(), domain), calls + 1)
    const list = (await api.get(rrsets)).json as ShownRRset[]
    t.deepEqual(list.map(({ subname }) => subname).sort(), ['', 'kept', 'new', 'old'])
    t.deepEqual(await lookUp(service().powerDns, `new.${domain}`, 'A'), ['192.0.2.1'])
    t.deepEqual(await lookUp(service().powerDns, `gone.${domain}`, 'A'), [])
  })
}

test('PATCH of an existing RRset changes the given fields and requires no others', async (t) => {
  const { api, rrsets } = await newZone(service(), { subname: 'a' }, { subname: 'b' }, { subname: '' })
  const { json } = await api.patch(rrsets, [
    { subname: 'a', type: 'A', ttl: 120 },
    { subname: 'b', type: 'A', records: ['192.0.2.9'] },
    { type: 'A' },
    { type: 'NS', records: [] },
  ])
  const shown = json as ShownRRset[]
  const contents = shown.map(({ subname, ttl, records }) => [subname, ttl, ...records])
  t.deepEqual(contents, [
    ['a', 120, '192.0.2.1'],
    ['b', 3600, '192.0.2.9'],
    ['', 3600, '192.0.2.1'],
  ])
})

test('one request can replace a CNAME by other RRsets and other RRsets by a CNAME', async (t) => {
  const { api, domain, rrsets } = await newZone(service(), {})
  const there = await api.patch(rrsets, [{ subname: 'www', type: 'A', records: [] }, cname()])
  t.is(there.status, 200)
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'CNAME'), ['a.test.'])
  const back = await api.put(rrsets, [rrset(), txt(), cname({ records: [] })])
  t.is(back.status, 200)
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
})

test('a request without effect changes nothing', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  const before = await domainOf(api, domain)
  const calls = callsFor(service(), domain)
  for (const [method, items, status] of [
    ['POST', [], 201],
    ['PUT', [], 200],
    ['PATCH', [], 200],
    ['PUT', [rrset({ records: [] })], 200],
    ['PATCH', [{ subname: 'www', type: 'A', records: [] }], 200],
  ] as const) {
    const answer = await api.send(method, rrsets, items)
    t.deepEqual([answer.status, answer.text], [status, '[]'])
  }
  t.is(callsFor(service(), domain), calls)
  t.deepEqual(await domainOf(api, domain), before)
})

for (const method of ['POST', 'PUT', 'PATCH'] as const) {
  test(`one forbidden item forbids a ${method}, even if others are wrong; an item with wrong fields is not checked`, async (t) => {
    const owner = await service().account()
    const domain = await newDomain(owner.api)
    const rrsets = `/domains/${domain}/rrsets/`
    await addPolicies(
      service(),
      owner.tokenId,
      { write: false },
      { domain, write: true },
      { domain, subname: 'no', write: false },
    )
    const forbidden = await owner.api.send(method, rrsets, [
      rrset(),
      'x',
      rrset({ records: ['x'], subname: 'b' }),
      rrset({ subname: 'no' }),
    ])
    t.deepEqual([forbidden.status, forbidden.text], [403, '{"detail":"Insufficient token permissions."}'])
    if (method !== 'POST') {
      t.is((await owner.api.send(method, rrsets, [rrset({ subname: 'no', records: [] })])).status, 403)
    }
    const wrong = await owner.api.send(method, rrsets, [rrset(), rrset({ subname: 'no', ttl: 1 })])
    t.deepEqual([wrong.status, wrong.json], [400, [{}, { ttl: ['Ensure this value is greater than or equal to 60.'] }]])
  })
}

/** Reasons for a refusal (422), as PowerDNS words them; `%` is the zone. */
const REFUSALS: [wording: string, problems: (reason: string) => object[]][] = [
  [
    "Record b.%/A '192.0.2.1': Not in expected format",
    (reason) => [{}, object(`The DNS backend refused this RRset: ${reason}`), {}, {}],
  ],
  [
    'RRset a.% IN TXT: Conflicts with pre-existing RRset',
    (reason) => [{}, {}, {}, object(`The DNS backend refused this RRset: ${reason}`)],
  ],
  [
    'something is wrong',
    (reason) => {
      const problem = object(`The DNS backend refused one of these RRsets: ${reason}`)
      return [problem, problem, {}, problem]
    },
  ],
]

for (const [wording, problems] of REFUSALS) {
  test(`a refusal by PowerDNS is reported at the items that it concerns: ${wording}`, async (t) => {
    const { api, domain, rrsets } = await newZone(service())
    const before = (await api.get(rrsets)).json
    const reason = wording.replace('%', `${domain}.`)
    service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422, error: reason } : 'pass'))
    const items = [
      rrset({ subname: 'a' }),
      rrset({ subname: 'b' }),
      rrset({ subname: 'c', records: [] }),
      txt({ subname: 'a' }),
    ]
    const answer = await api.put(rrsets, items)
    service().proxy.heal()
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems(reason))])
    t.deepEqual((await api.get(rrsets)).json, before)
    t.deepEqual(await lookUp(service().powerDns, `a.${domain}`, 'A'), [])
  })
}
