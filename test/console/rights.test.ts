import test from 'ava'
import { mayWrite, mayWriteIn } from '../../console/tokens/may-write.ts'
import type { Policy } from '../../console/tokens/policies.ts'
import { deedsOf, domainWords, limitsOf, policiesFor, type Role, roleLimits } from '../../console/tokens/rights.ts'

const ALL = { perm_create_domain: true, perm_delete_domain: true, perm_manage_tokens: true }
const NONE = { perm_create_domain: false, perm_delete_domain: false, perm_manage_tokens: false }
const DENIES = { domain: null, subname: null, type: null, perm_write: false }
const ALLOWS = { ...DENIES, type: 'TXT', perm_write: true }

for (const [token, policies, words] of [
  [ALL, [], undefined],
  [ALL, [ALLOWS], undefined],
  [NONE, [], 'This token may only read and write records.'],
  [NONE, [DENIES], 'This token may only read.'],
  [NONE, [DENIES, ALLOWS], 'This token may only read and write some records.'],
  [{ ...NONE, perm_manage_tokens: true }, [DENIES], 'This token may only read and manage tokens.'],
  [ALL, [DENIES], 'This token may not write records.'],
  [ALL, [DENIES, ALLOWS], 'This token may not write all records.'],
  [{ ...NONE, perm_manage_tokens: true }, [], 'This token may not create domains or delete domains.'],
  [{ ...NONE, perm_create_domain: true }, [], 'This token may not delete domains or manage tokens.'],
] as const) {
  test(`${JSON.stringify({ token, policies })}: ${words ?? 'everything'}`, (t) => {
    t.is(limitsOf(token, [...policies]), words)
  })
}

const HOST = { domain: 'a.test', subname: 'www', type: null, perm_write: true }
const WHOLE = { domain: 'a.test', subname: null, type: null, perm_write: true }
const FREE = { ...DENIES, perm_write: true }
const CREATES = { ...NONE, perm_create_domain: true }

for (const [token, policies, words] of [
  [ALL, [], 'May write all records, create domains, delete domains, and manage tokens.'],
  [NONE, [], 'May write all records.'],
  [NONE, [FREE], 'May write all records.'],
  [NONE, [DENIES], 'May only read.'],
  [{ ...NONE, perm_delete_domain: true }, [DENIES], 'May only read.'],
  [NONE, [DENIES, WHOLE], 'May write everything in a.test.'],
  [NONE, [DENIES, { ...HOST, subname: '' }], 'May write any type at a.test itself.'],
  [
    NONE,
    [DENIES, { ...HOST, subname: '_acme-challenge.www', type: 'TXT' }],
    'May write TXT at _acme-challenge.www.a.test.',
  ],
  [NONE, [DENIES, { ...HOST, type: 'A' }, { ...HOST, type: 'AAAA' }], 'May write A and AAAA at www.a.test.'],
  [
    NONE,
    [DENIES, { ...HOST, type: 'A' }, { ...HOST, type: 'TXT', domain: 'b.test' }],
    'May write A at www.a.test and TXT at www.b.test.',
  ],
  [NONE, [DENIES, ALLOWS], 'May write TXT at any name of any domain.'],
  [NONE, [DENIES, ...['a', 'b', 'c'].map((subname) => ({ ...HOST, subname }))], 'May write what 4 policies allow.'],
  [NONE, [DENIES, WHOLE, { ...HOST, perm_write: false }], 'May write what 3 policies allow.'],
  [NONE, [FREE, { ...HOST, type: 'NS', perm_write: false }], 'May write all records but NS at www.a.test.'],
  [NONE, [FREE, { ...WHOLE, perm_write: false }, HOST], 'May write all records with exceptions.'],
  [
    { ...CREATES, perm_delete_domain: true },
    [DENIES, WHOLE],
    'May write everything in a.test, create domains, and delete domains of which it may write all.',
  ],
  [{ ...CREATES, auto_policy: true }, [DENIES], 'May create domains and write those.'],
  [{ ...NONE, perm_manage_tokens: true }, [DENIES], 'May manage tokens.'],
] as const) {
  test(`${JSON.stringify({ token, policies })} in a sentence: ${words}`, (t) => {
    t.is(deedsOf({ auto_policy: false, ...token }, [...policies]), words)
  })
}

test('a role decides by the policies: viewers write nothing, others what their policies allow', (t) => {
  const may = (role: Role | undefined, policies: (typeof WHOLE)[] = []) => {
    const all: Policy[] = policiesFor({ policies, membership: role === undefined ? null : { role } })
    const isOne = mayWrite(all, { domain: 'a.test', subname: 'www', type: 'A' }).may
    t.is(mayWriteIn(all, 'a.test'), isOne)
    return isOne
  }
  t.deepEqual(
    ([undefined, 'viewer', 'editor', 'admin'] as const).map((role) => may(role)),
    [true, false, true, true],
  )
  t.false(may('viewer', [WHOLE]))
  t.true(may('editor', [WHOLE]))
})

test('a role says what it may not, and where', (t) => {
  t.is(roleLimits({ role: 'admin', domains: null }), undefined)
  t.is(roleLimits({ role: 'viewer', domains: null }), 'As viewer, you may only read.')
  const domains = ['a.test', 'b.test']
  t.is(roleLimits({ role: 'editor', domains }), 'As editor, you may read, and write records: only a.test and b.test.')
  t.is(domainWords([]), 'no domain any more')
  t.is(domainWords(Array.from({ length: 7 }, (_, i) => `d${i}`)), 'only 7 domains')
})
