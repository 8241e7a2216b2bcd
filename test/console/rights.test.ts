import test from 'ava'
import { limitsOf } from '../../console/model/rights.ts'

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
