import test from 'ava'
import type { Name } from '../../src/dns/names.ts'
import { inSlices } from '../../src/flow/slices.ts'
import type { FoundRRset, FoundZone } from '../../src/nameserver/nameserver.ts'
import { type AdoptionOptions, planContents } from '../../src/service/adoption/adoption-plan.ts'
import type { ZoneState } from '../../src/service/zone/changes.ts'

// What an adoption makes of each kind of contents. test/served/adoption.test.ts does it with real zones.

const domain = { id: 1, name: 'a.example', minimumTtl: 60 }
const state: ZoneState = { domain, current: [], policies: [], keepsNs: false, labelProblem: () => undefined }

const found = (zone: Partial<FoundZone> = {}): FoundZone => ({
  kind: 'Native',
  account: '',
  serial: 1,
  presigned: false,
  denial: '',
  metadata: [],
  rrsets: [],
  ...zone,
})

const rrset = (rrset: Partial<FoundRRset>): FoundRRset => ({
  name: 'www.a.example.',
  type: 'A',
  ttl: 300,
  records: ['192.0.2.1'],
  disabled: 0,
  comments: 0,
  ...rrset,
})

const plan = (zone: FoundZone, options: Partial<AdoptionOptions> = {}) =>
  inSlices(planContents(zone, state, { clampTtl: false, dropDisabled: false, ...options }))

const EMPTY = { rrsets: [], normalised: [], givenUp: [], obstacles: [] }

test('what the API accepts is kept as it is', async (t) => {
  const txt = rrset({ name: 'a.example.', type: 'TXT', records: ['"a;b"', '"c"'] })
  const wildcard = rrset({ name: '*.a.example.', type: 'CNAME', records: ['x.'] })
  t.deepEqual(await plan(found({ rrsets: [rrset({}), txt, wildcard] })), {
    ...EMPTY,
    rrsets: [
      { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] },
      { subname: '', type: 'TXT', ttl: 300, records: ['"a;b"', '"c"'] },
      { subname: '*', type: 'CNAME', ttl: 300, records: ['x.'] },
    ],
  })
})

const normalised: [what: string, rrset: Partial<FoundRRset>, text: string][] = [
  ['upper case in a name', { name: 'WWW.A.example.' }, 'WWW.A.example. A: the name becomes www.a.example.'],
  [
    'a record in another spelling',
    { type: 'MX', records: ['010 MAIL.a.example.'] },
    'www.a.example. MX: 010 MAIL.a.example. becomes 10 MAIL.a.example.',
  ],
  [
    'a record that is there twice',
    { records: ['192.0.2.1', '192.0.2.1'] },
    'www.a.example. A: 192.0.2.1 is there twice, and stays once',
  ],
]

for (const [what, change, text] of normalised) {
  test(`${what} is normalised, and the plan says so`, async (t) => {
    const { normalised, obstacles, rrsets } = await plan(found({ rrsets: [rrset(change)] }))
    t.deepEqual([normalised, obstacles], [[text], []])
    t.is(rrsets.length, 1)
  })
}

test('the plan says which comments and metadata the domain will not have', async (t) => {
  const zone = found({ metadata: ['ALLOW-AXFR-FROM', 'SOA-EDIT-API'], rrsets: [rrset({ comments: 2 })] })
  t.deepEqual((await plan(zone)).givenUp, [
    'metadata, which stay at PowerDNS but not in the database: ALLOW-AXFR-FROM',
    'www.a.example. A: 2 comments',
  ])
})

const obstacles: [what: string, zone: Partial<FoundZone>, text: string][] = [
  ['a secondary zone', { kind: 'Slave' }, 'it is a zone of the kind Slave, so its contents come from elsewhere'],
  ['a presigned zone', { presigned: true }, 'it is presigned: its keys are not here'],
  [
    'a zone with stored signatures',
    { rrsets: [rrset({ type: 'RRSIG', records: ['x'] })] },
    'it is presigned: its keys are not here',
  ],
  [
    'an ALIAS record',
    { rrsets: [rrset({ type: 'ALIAS', records: ['x.y.'] })] },
    'www.a.example. ALIAS: The ALIAS RR set type is currently unsupported.',
  ],
  [
    'a LUA record',
    { rrsets: [rrset({ type: 'LUA', records: ['A "ifportup(443, {\'192.0.2.1\'})"'] })] },
    'www.a.example. LUA: The LUA RR set type is currently unsupported.',
  ],
  [
    'a name with an escape',
    { rrsets: [rrset({ name: 'a\\.b.a.example.' })] },
    'a\\.b.a.example. A: the API has no such names',
  ],
  [
    'a name outside of the zone',
    { rrsets: [rrset({ name: 'ns.other.example.' })] },
    'ns.other.example. A: the API has no such names',
  ],
  [
    'a type of the signer',
    { rrsets: [rrset({ type: 'KEY', records: ['x'] })] },
    'www.a.example. KEY: the API has no such type',
  ],
  [
    'a TTL below the minimum',
    { rrsets: [rrset({ ttl: 5 })] },
    'www.a.example. A: the TTL 5 is not between 60 and 86400 (--clamp-ttl changes it)',
  ],
  [
    'a disabled record',
    { rrsets: [rrset({ disabled: 1 })] },
    'www.a.example. A: 1 disabled record (--drop-disabled leaves them out)',
  ],
  [
    'a CNAME beside other RRsets',
    { rrsets: [rrset({ type: 'CNAME', records: ['x.'] }), rrset({ name: 'WWW.a.example.' })] },
    'www.a.example. CNAME: RRset with conflicting type present at same subname: database (A). ' +
      '(No other RRsets are allowed alongside CNAME.)',
  ],
]

for (const [what, zone, text] of obstacles) {
  test(`${what} keeps a zone from being adopted`, async (t) => {
    t.true((await plan(found(zone))).obstacles.includes(text), JSON.stringify((await plan(found(zone))).obstacles))
  })
}

test('a TTL that the API refuses is clamped if the operator asks for it', async (t) => {
  const zone = found({ rrsets: [rrset({ ttl: 5 }), rrset({ type: 'TXT', records: ['"x"'], ttl: 604_800 })] })
  const { rrsets, normalised, obstacles } = await plan(zone, { clampTtl: true })
  const ttls = rrsets.map(({ ttl }) => ttl)
  t.deepEqual(ttls, [60, 86_400])
  t.deepEqual(normalised, [
    'www.a.example. A: the TTL 5 becomes 60',
    'www.a.example. TXT: the TTL 604800 becomes 86400',
  ])
  t.deepEqual(obstacles, [])
})

test('a CNAME may stand beside records that are left out', async (t) => {
  const cname = rrset({ type: 'CNAME', records: ['x.'] })
  const zone = found({ rrsets: [cname, rrset({ records: [], disabled: 1 })] })
  const { rrsets, obstacles } = await plan(zone, { dropDisabled: true })
  t.deepEqual(rrsets, [{ subname: 'www', type: 'CNAME', ttl: 300, records: ['x.'] }])
  t.deepEqual(obstacles, [])
})

test('disabled records are left out if the operator asks for it', async (t) => {
  const zone = found({ rrsets: [rrset({ disabled: 2 }), rrset({ type: 'TXT', records: [], disabled: 1 })] })
  const { rrsets, givenUp, obstacles } = await plan(zone, { dropDisabled: true })
  t.deepEqual(rrsets, [{ subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] }])
  t.deepEqual(givenUp, ['www.a.example. A: 2 disabled records', 'www.a.example. TXT: 1 disabled record'])
  t.deepEqual(obstacles, [])
})

test('a zone with NS or DS below a delegation, or names below a DNAME, is not adopted', async (t) => {
  const ns = (name: Name) => rrset({ name, type: 'NS', records: ['ns.example.'] })
  const dname = rrset({ name: 'd.a.example.', type: 'DNAME', records: ['x.example.'] })
  const below = [ns('Y.x.a.example.'), rrset({ name: 'z.x.a.example.' }), rrset({ name: 'e.d.a.example.' })]
  const { obstacles } = await plan(found({ rrsets: [ns('a.example.'), ns('x.a.example.'), dname, ...below] }))
  t.deepEqual(obstacles, [
    'y.x.a.example. NS would be occluded by x.a.example. NS. (No NS or DS is allowed below a delegation.)',
    'e.d.a.example. A would be occluded by d.a.example. DNAME. (Nothing is allowed below a DNAME.)',
  ])
})
