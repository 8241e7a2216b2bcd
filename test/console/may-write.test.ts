import test from 'ava'
import fc from 'fast-check'
import { mayWrite, mayWriteIn } from '../../console/tokens/may-write.ts'
import { isDefault, placeOf, type Policy, sentenceOf, subnameOf } from '../../console/tokens/policies.ts'
import { patternProblems } from '../../src/dns/subname-patterns.ts'
import { mayWrite as serviceMayWrite } from '../../src/service/tokens/policies.ts'

const DOMAINS = ['example.org', 'www.example.org']
const DOMAIN = fc.constantFrom(...DOMAINS)
const TYPE = fc.constantFrom('A', 'TXT')
const PATTERN = fc
  .array(fc.constantFrom('a', 'b', '*', '**'), { minLength: 1, maxLength: 3 })
  .map((labels) => labels.join('.'))
  .filter((pattern) => patternProblems(pattern).length === 0)

/** The subnames of up to four labels: of those in policies, one that is in none, and that of a wildcard record. */
const SUBNAMES = ['', ...['a', 'b', 'c', '*'].flatMap((first) => [first, ...below(first, 3)])]

function below(first: string, more: number): string[] {
  if (more === 0) return []
  const names = ['a', 'b', 'c'].map((label) => `${first}.${label}`)
  return [...names, ...names.flatMap((name) => below(name, more - 1))]
}

const SUBNAME = fc.constantFrom('', 'a', '*', '*.a', 'a.b', 'b.a.b', ...SUBNAMES)
const NAMED = fc.oneof(
  fc.constant({ subname: null, subname_pattern: null }),
  fc.record({ subname: SUBNAME, subname_pattern: fc.constant(null) }),
  fc.record({ subname: fc.constant(null), subname_pattern: PATTERN }),
)
type StoredPolicy = Required<Policy>
const DEFAULT = { domain: null, subname: null, subname_pattern: null, type: null }

/** Policies that the service allows: none, or no scope twice, and a default policy among them. */
const POLICIES = fc.oneof(
  { weight: 1, arbitrary: fc.constant<StoredPolicy[]>([]) },
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.uniqueArray(
          fc
            .record({ domain: fc.option(DOMAIN), named: NAMED, type: fc.option(TYPE), perm_write: fc.boolean() })
            .map(({ named, ...policy }) => ({ ...policy, ...named })),
          { selector: (policy) => JSON.stringify({ ...policy, perm_write: null }), maxLength: 20, size: 'max' },
        ),
        fc.boolean(),
      )
      .map(([policies, may]): StoredPolicy[] => [
        { ...DEFAULT, perm_write: may },
        ...policies.filter((policy) => !isDefault(policy)),
      ]),
  },
)

test('a token may write in a domain if there is an RRset that it may write', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, (policies, domain) => {
      const isAny = SUBNAMES.some((subname) =>
        ['A', 'TXT', 'MX'].some((type) => mayWrite(policies, { domain, subname, type }).may),
      )
      t.is(mayWriteIn(policies, domain), isAny)
    }),
    { numRuns: 3000 },
  )
})

test('a token may write in a domain also if its patterns together leave little', (t) => {
  const may = (permitted: string, ...denied: string[]) =>
    mayWriteIn(
      [
        { ...DEFAULT, perm_write: false },
        { ...DEFAULT, subname_pattern: permitted, perm_write: true },
        ...denied.map((pattern) => ({ ...DEFAULT, subname_pattern: pattern, perm_write: false })),
      ],
      'example.org',
    )
  t.true(may('**', '*'))
  t.true(may('**', '*.**'))
  t.false(may('**', '*', '*.**'))
  t.true(may('**', '*', '*.*', '*.*.*.**'))
  t.false(may('**', '*', '*.*', '*.*.*', '*.*.*.**'))
})

test('the console and the service agree on what a token may write', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, SUBNAME, TYPE, (policies, domain, subname, type) => {
      const rows = policies.map((policy) => ({
        domainId: policy.domain === null ? null : DOMAINS.indexOf(policy.domain),
        subname: policy.subname ?? policy.subname_pattern,
        isPattern: policy.subname_pattern !== null,
        type: policy.type,
        permWrite: policy.perm_write,
      }))
      const { may, policy } = mayWrite(policies, { domain, subname, type })
      t.is(may, serviceMayWrite(rows, DOMAINS.indexOf(domain), { subname, type }))
      // The policy that is named is the reason.
      t.is(policy?.perm_write ?? true, may)
      t.is(policy === undefined, policies.length === 0)
    }),
    { numRuns: 20_000 },
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
  t.is(
    sentence({ domain, subname_pattern: '_acme-challenge.**', type: 'TXT' }),
    'May write TXT at names like _acme-challenge.**.example.org.',
  )
  t.is(
    sentence({ subname_pattern: '*.dyn', perm_write: false }),
    'May not write any type at names like *.dyn of any domain.',
  )
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
