import test from 'ava'
import fc from 'fast-check'
import { patternProblems } from '../../src/dns/subname-patterns.ts'
import { Denied } from '../../src/errors.ts'
import { authoriseWrites, mayWrite } from '../../src/service/tokens/policies.ts'
import type { Policy } from '../../src/store/tokens/tokens.ts'

const DOMAIN = fc.constantFrom(1, 2)
const SUBNAME = fc.constantFrom('', 'a', 'b', '*', 'a.b', 'b.b', '*.a', 'a.b.a', 'b.a.c.a', '*.a.b', 'c.c.c.b')
const PATTERN = fc
  .array(fc.constantFrom('a', 'b', '*', '**'), { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'))
  .filter((pattern) => patternProblems(pattern).length === 0)
const TYPE = fc.constantFrom('A', 'TXT')
const KEY = fc.record({ subname: SUBNAME, type: TYPE })

const NAMED = fc.oneof(
  fc.constant({ subname: null, isPattern: false }),
  fc.record({ subname: SUBNAME, isPattern: fc.constant(false) }),
  fc.record({ subname: PATTERN, isPattern: fc.constant(true) }),
)
const POLICY = fc
  .record({ domainId: fc.option(DOMAIN), named: NAMED, type: fc.option(TYPE), permWrite: fc.boolean() })
  .map(({ named, ...policy }): Policy => ({ ...policy, ...named }))

/** Policies that the database allows: no scope twice, and a default policy among them. */
const POLICIES = fc
  .tuple(uniquePolicies(POLICY), fc.boolean())
  .map(([policies, permWrite]) => [
    { domainId: null, subname: null, isPattern: false, type: null, permWrite },
    ...policies.filter(({ domainId, subname, type }) => (domainId ?? subname ?? type) !== null),
  ])

function uniquePolicies(policy: fc.Arbitrary<Policy>): fc.Arbitrary<Policy[]> {
  const scope = ({ domainId, subname, isPattern, type }: Policy) => JSON.stringify([domainId, subname, isPattern, type])
  return fc.uniqueArray(policy, { selector: scope, maxLength: 30, size: 'max' })
}

/** The rules of contract 6.4 for any two policies that match: which one comes first. */
function firstOf(one: Policy, other: Policy): Policy {
  const differ = (of: (policy: Policy) => boolean) => of(one) !== of(other)
  const rules: ((policy: Policy) => boolean)[] = [
    (policy) => policy.domainId !== null,
    (policy) => policy.subname !== null && !policy.isPattern,
    (policy) => policy.subname !== null,
  ]
  const rule = rules.find(differ)
  if (rule !== undefined) return rule(one) ? one : other
  if (!one.isPattern || one.subname === other.subname) return one.type === null ? other : one
  const [labels, others] = [one, other].map((policy) => policy.subname!.split('.').reverse())
  for (let i = 0; ; i++) {
    const [label, another] = [labels![i], others![i]]
    // Only left of the same `**` can one end before the other.
    if (label === undefined) return other
    if (another === undefined) return one
    if (label === another && label === '**' && labels!.length !== others!.length) {
      return labels!.length > others!.length ? one : other
    }
    if (label !== another) return ['**', '*'].find((kind) => [label, another].includes(kind)) === label ? other : one
  }
}

function matches(
  { domainId, subname, isPattern, type }: Policy,
  domain: number,
  key: { subname: string; type: string },
) {
  if ((domainId ?? domain) !== domain || (type ?? key.type) !== key.type) return false
  if (!isPattern) return (subname ?? key.subname) === key.subname
  const kinds: Record<string, string> = { '*': '[^.]+', '**': String.raw`[^.]+(\.[^.]+)*` }
  const labels = subname!.split('.').map((label) => kinds[label] ?? label)
  return new RegExp(`^${labels.join(String.raw`\.`)}$`).test(key.subname)
}

function decide(policies: Policy[], domainId: number, key: { subname: string; type: string }): boolean {
  return policies.filter((policy) => matches(policy, domainId, key)).reduce(firstOf).permWrite
}

test('without policies every RRset may be written', (t) => {
  t.true(mayWrite([], 1, { subname: '', type: 'A' }))
})

test('of policies that match, the most specific one decides: 100,000 cases', (t) => {
  const cases = fc.array(fc.record({ domainId: DOMAIN, key: KEY }), { minLength: 20, maxLength: 20 })
  let patterns = 0
  fc.assert(
    fc.property(POLICIES, cases, (policies, all) => {
      for (const { domainId, key } of all) {
        t.is(mayWrite(policies, domainId, key), decide(policies, domainId, key))
        if (policies.filter((policy) => matches(policy, domainId, key)).reduce(firstOf).isPattern) patterns++
      }
    }),
    { numRuns: 5000 },
  )
  // The cases are worth it.
  t.true(patterns > 10_000)
})

test('a write is refused if one of its RRsets is forbidden', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, fc.array(KEY), (policies, domainId, keys) => {
      const allowed = keys.every((key) => decide(policies, domainId, key))
      const authorise = () => {
        authoriseWrites(policies, domainId, keys)
      }
      if (allowed) t.notThrows(authorise)
      else t.throws(authorise, { instanceOf: Denied, message: 'Insufficient token permissions.' })
    }),
    { numRuns: 1000 },
  )
})
