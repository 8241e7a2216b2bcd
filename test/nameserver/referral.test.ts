import test from 'ava'
import { readReferral } from '../../src/nameserver/parents/referral.ts'
import type { Reply, ReplyRecord } from '../../src/nameserver/wire/messages.ts'

const record = (type: string, name: string, content = ''): ReplyRecord => ({ name, type, ttl: 300, content })
const message = (more: Partial<Reply>): Reply => ({
  ...{ rcode: 'NOERROR', isAuthoritative: true, isTruncated: false, answers: [], authorities: [], additionals: [] },
  ...more,
})

const NS = [record('NS', 'shop.example', 'ns2.test'), record('NS', 'shop.example', 'ns1.test')]
const REFERRAL = message({ isAuthoritative: false, authorities: NS })
const DS = message({ answers: [record('DS', 'shop.example', '1 13 2 ab'), record('RRSIG', 'shop.example')] })
const NO_DATA = message({ authorities: [record('SOA', 'example')] })
const NO_NAME = message({ rcode: 'NXDOMAIN', authorities: [record('SOA', 'example')] })

const none = (problem: string) => ({ ns: [], ds: [], dsTtl: null, glue: {}, problem })
const told = (more: object) => ({ ns: [], ds: [], dsTtl: null, glue: {}, problem: null, ...more })

const ROWS: [string, Reply | undefined, Reply | undefined, object][] = [
  ['a referral, and DS', REFERRAL, DS, told({ ns: ['ns1.test', 'ns2.test'], ds: ['1 13 2 ab'], dsTtl: 300 })],
  ['a referral without DS', REFERRAL, NO_DATA, told({ ns: ['ns1.test', 'ns2.test'] })],
  ['NS of the domain, from a server that serves both', message({ answers: NS }), NO_DATA, told({ ns: ['ns1.test', 'ns2.test'] })],
  ['no such name', NO_NAME, NO_NAME, told({})],
  ['a name without delegation', NO_DATA, NO_DATA, told({})],
  [
    'glue',
    message({ ...REFERRAL, additionals: [record('A', 'ns1.test', '192.0.2.1'), record('A', 'other.test', '192.0.2.2')] }),
    NO_DATA,
    told({ ns: ['ns1.test', 'ns2.test'], glue: { 'ns1.test': ['192.0.2.1'] } }),
  ],
  ['NS of the domain, from a server that has both, and whose parent zone lacks the name', message({ answers: NS }), NO_NAME, told({})],
  ['NS of a wildcard', message({ isAuthoritative: false, authorities: [record('NS', '*.example', 'ns1.test')] }), NO_DATA, told({})],
  ['NS of a wildcard elsewhere', message({ isAuthoritative: false, authorities: [record('NS', '*.test', 'ns1.test')] }), NO_DATA, none('is not authoritative for example')],
  ['no answer', undefined, undefined, none('does not answer')],
  ['no answer about DS', REFERRAL, undefined, none('does not answer')],
  ['a refusal', message({ rcode: 'REFUSED' }), undefined, none('answers REFUSED')],
  ['a failure about DS', REFERRAL, message({ rcode: 'SERVFAIL' }), none('answers SERVFAIL')],
  ['a referral to the root', message({ isAuthoritative: false, authorities: [record('NS', '.', 'a.root')] }), NO_DATA, none('is not authoritative for example')],
  ['a cache', message({ isAuthoritative: false }), DS, none('is not authoritative for example')],
  ['a referral instead of DS', REFERRAL, REFERRAL, none('is not authoritative for example')],
  ['DS asked of the domain itself', message({ answers: NS }), message({ authorities: [record('SOA', 'shop.example')] }), none('answers from the zone shop.example')],
  ['nothing, without proof', message({}), NO_DATA, none('answers without the SOA of example')],
  ['another zone', message({ authorities: [record('SOA', 'test')] }), NO_DATA, none('answers from the zone test')],
] // prettier-ignore

for (const [what, ns, ds, expected] of ROWS) {
  test(`a server of the parent zone answers with ${what}`, (t) => {
    t.deepEqual(readReferral('shop.example', 'example', ns, ds), expected as never)
  })
}

test('of more records than are useful, some are kept, and none of absurd length', (t) => {
  const many = Array.from({ length: 100 }, (_, i) => record('NS', 'shop.example', `ns${i}.test`))
  const long = record('DS', 'shop.example', `1 13 2 ${'ab'.repeat(30_000)}`)
  const { ns, ds } = readReferral('shop.example', 'example', message({ answers: many }), message({ answers: [long] }))
  t.is(ns.length, 32)
  t.deepEqual(ds, [])
})
