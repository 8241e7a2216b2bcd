import test from 'ava'
import { hashSecret } from '../../src/service/tokens/authentication.ts'
import { query } from '../../src/store/database.ts'
import { present } from '../../src/store/tokens.ts'
import { useService } from '../support/harness.ts'

const service = useService()

const CHANGES: [what: string, sql: string][] = [
  ['none is there', 'select'],
  ['a default policy comes', 'insert into policies (created, token_id) values (now(), :id)'],
  ['another one comes', `insert into policies (created, token_id, subname) values (now(), :id, 'a')`],
  ['one allows what it did not', `update policies set perm_write = true where token_id = :id and subname = 'a'`],
  ['one is about something else', `update policies set subname = 'b' where token_id = :id and subname = 'a'`],
  ['one is what it was', `update policies set subname = 'a' where token_id = :id and subname = 'b'`],
  [
    'one goes and an equal one comes',
    `with gone as (delete from policies where token_id = :id and subname = 'a' returning *)
     insert into policies (created, token_id, type) select now(), token_id, 'A' from gone`,
  ],
  ['one goes', `delete from policies where token_id = :id and type = 'A'`],
]

test('a token whose policies have changed, in whatever way, has another fingerprint, and its policies are told', async (t) => {
  const { system } = service()
  const { tokenId, secret } = await service().account()
  const look = (known: string) => present(system.db, hashSecret(secret), '192.0.2.1', system.now(), known)
  let latest = ''
  for (const [what, sql] of CHANGES) {
    await query(system.db, sql, { id: tokenId })
    const token = await look(latest)
    t.not(token!.policies, null, what)
    t.not(token!.policiesFingerprint, latest, what)
    latest = token!.policiesFingerprint

    const again = await look(latest)
    t.is(again!.policies, null, what)
    t.is(again!.policiesFingerprint, latest, what)
  }
})
