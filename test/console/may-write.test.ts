import test from 'ava'
import fc from 'fast-check'
import { mayWrite, mayWriteIn } from '../../console/model/may-write.ts'
import { isDefault, placeOf, type Policy, sentenceOf, subnameOf } from '../../console/model/policies.ts'
import { mayWrite as serviceMayWrite } from '../../src/service/tokens/policies.ts'

const DOMAINS = ['example.org', 'www.example.org']
const DOMAIN = fc.constantFrom(...DOMAINS)
const SUBNAME = fc.constantFrom('', 'www', '*')
const TYPE = fc.constantFrom('A', 'TXT')

/** Policies that the service allows: none, or no scope twice, and a default policy among them. */
const POLICIES = fc
  .uniqueArray(
    fc.record({
      domain: fc.option(DOMAIN),
      subname: fc.option(SUBNAME),
      type: fc.option(TYPE),
      perm_write: fc.boolean(),
    }),
    { selector: ({ domain, subname, type }) => JSON.stringify([domain, subname, type]), maxLength: 20 },
  )
  .filter((policies) => policies.length === 0 || policies.some(isDefault))

test('a token may write in a domain if there is an RRset that it may write', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, (policies, domain) => {
      const isAny = ['', 'www', '*', 'other'].some((subname) =>
        ['A', 'TXT', 'MX'].some((type) => mayWrite(policies, { domain, subname, type }).may),
      )
      t.is(mayWriteIn(policies, domain), isAny)
    }),
    { numRuns: 5000 },
  )
})

test('the console and the service agree on what a token may write', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, SUBNAME, TYPE, (policies, domain, subname, type) => {
      const rows = policies.map((policy) => ({
        domainId: policy.domain === null ? null : DOMAINS.indexOf(policy.domain),
        subname: policy.subname,
        type: policy.type,
        permWrite: policy.perm_write,
      }))
      const { may, policy } = mayWrite(policies, { domain, subname, type })
      t.is(may, serviceMayWrite(rows, DOMAINS.indexOf(domain), { subname, type }))
      // The policy that is named is the reason.
      t.is(policy?.perm_write ?? true, may)
      t.is(policy === undefined, policies.length === 0)
    }),
    { numRuns: 5000 },
  )
})

test('a policy is a sentence', (t) => {
  const sentence = (members: Partial<Policy>, isOnly = false) =>
    sentenceOf({ domain: null, subname: null, type: null, perm_write: true, ...members }, isOnly)
  const domain = 'example.org'
  t.is(
    sentence({ domain, subname: '_acme-challenge.www', type: 'TXT' }),
    'May write TXT at _acme-challenge.www.example.org.',
  )
  t.is(sentence({ domain, subname: '', perm_write: false }), 'May not write any type at example.org itself.')
  t.is(sentence({ domain, type: 'A' }), 'May write A at any name of example.org.')
  t.is(sentence({ subname: 'www', type: 'A' }), 'May write A at www of any domain.')
  t.is(sentence({ subname: '', type: 'A' }), 'May write A at any domain itself.')
  t.is(sentence({ domain }), 'May write everything in example.org.')
  t.is(sentence({ domain, perm_write: false }), 'May not write anything in example.org.')
  t.is(sentence({ type: 'A', perm_write: false }), 'May not write A at any name of any domain.')
  t.is(sentence({}), 'May write everything else.')
  t.is(sentence({ perm_write: false }), 'May not write anything else.')
  t.is(sentence({ perm_write: false }, true), 'May not write anything.')
})

test('a name in its domain is a subname', (t) => {
  t.is(subnameOf('a.www.example.org', 'example.org'), 'a.www')
  t.is(subnameOf('example.org', 'example.org'), '')
})

for (const [subname, name] of [
  ['_acme-challenge.host', 'host.zone.test'],
  ['_acme-challenge', 'zone.test'],
  ['host', 'host.zone.test'],
  ['', 'zone.test'],
  [null, 'zone.test'],
] as const) {
  test(`programs of a token that may write at ${subname ?? 'every subname'} are set up for ${name}`, (t) => {
    const anywhere = { domain: null, subname: null, type: null, perm_write: false }
    const there = { ...anywhere, domain: 'zone.test', subname, perm_write: true }
    t.deepEqual(placeOf([anywhere, there]), { name, domain: 'zone.test' })
    t.is(placeOf([anywhere]), undefined)
  })
}
