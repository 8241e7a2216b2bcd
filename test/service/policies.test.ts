import test from 'ava'
import fc from 'fast-check'
import { Denied } from '../../src/errors.ts'
import { authoriseWrites, mayWrite } from '../../src/service/tokens/policies.ts'
import type { Policy } from '../../src/store/tokens/tokens.ts'

const DOMAIN = fc.constantFrom(1, 2)
const SUBNAME = fc.constantFrom('', 'www', '*')
const TYPE = fc.constantFrom('A', 'TXT')
const KEY = fc.record({ subname: SUBNAME, type: TYPE })

/** Policies that the database allows: no scope twice, and a default policy among them. */
const POLICIES = fc
  .uniqueArray(
    fc.record({
      domainId: fc.option(DOMAIN),
      subname: fc.option(SUBNAME),
      type: fc.option(TYPE),
      permWrite: fc.boolean(),
    }),
    { selector: (policy) => JSON.stringify([policy.domainId, policy.subname, policy.type]), maxLength: 20 },
  )
  .filter((policies) => policies.some(({ domainId, subname, type }) => (domainId ?? subname ?? type) === null))

/** The order of contract 6.4: the members that a policy names. */
const ORDER = ['domain+subname+type', 'domain+subname', 'domain+type', 'domain', 'subname+type', 'subname', 'type', '']

function named({ domainId, subname, type }: Policy): string {
  const members = { domain: domainId, subname, type }
  return Object.entries(members)
    .flatMap(([member, value]) => (value === null ? [] : member))
    .join('+')
}

function decide(policies: Policy[], domainId: number, key: { subname: string; type: string }): boolean {
  for (const step of ORDER) {
    const hit = policies.find(
      (policy) =>
        named(policy) === step &&
        (policy.domainId ?? domainId) === domainId &&
        (policy.subname ?? key.subname) === key.subname &&
        (policy.type ?? key.type) === key.type,
    )
    if (hit !== undefined) return hit.permWrite
  }
  throw new Error('there is no default policy')
}

test('without policies every RRset may be written', (t) => {
  t.true(mayWrite([], 1, { subname: '', type: 'A' }))
})

test('of the policies that match, the first in the order of contract 6.4 decides', (t) => {
  fc.assert(
    fc.property(POLICIES, DOMAIN, KEY, (policies, domainId, key) => {
      t.is(mayWrite(policies, domainId, key), decide(policies, domainId, key))
    }),
    { numRuns: 5000 },
  )
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
