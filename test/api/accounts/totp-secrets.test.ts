import { randomBytes } from 'node:crypto'
import { base32, codeAt, stepAt } from '../../../src/service/accounts/totp-codes.ts'
import { encryptAgain } from '../../../src/service/operation/stored-secrets.ts'
import { query } from '../../../src/store/database.ts'
import { linkTo, person } from '../../support/clients/people.ts'
import { addFactor, addToken, codeFor, stopClocks } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { startService } from '../../support/servers/service.ts'

// Contract §12: the secrets of TOTP factors are encrypted in the database, and bound to their factor.

const service = useService()

const LOGIN = { mfa: false, permManageTokens: true }

test('the database does not contain the secret that the creation of a factor returns', async (t) => {
  const { id: accountId, email } = await person(service())
  const { api } = await addToken(service(), accountId, LOGIN)
  await api.post('/auth/totp/', {})
  const created = await service().anonymous.post((await linkTo(service(), email)).path)
  const { id, secret } = created.json as { id: string; secret: string }
  const [row] = await query<{ secret: Buffer }>(service().system.db, 'select secret from totp_factors where id = :id', {
    id,
  })
  const octets = Buffer.from(decodeBase32(secret))
  t.is(base32(octets), secret)
  t.is(row!.secret.length, 12 + 16 + 32)
  t.false(row!.secret.includes(octets.subarray(0, 4)))
  const code = codeAt(octets, stepAt(service().system.now()))
  t.is((await api.post(`/auth/totp/${id}/verify/`, { code })).status, 200)
})

test('a secret that was copied to another factor is of no use', async (t) => {
  const [victim, thief] = [await person(service()), await person(service())]
  const [theirs, known] = [await addFactor(service(), victim.id), await addFactor(service(), thief.id)]
  const code = await codeFor(service(), known)
  await query(
    service().system.db,
    'update totp_factors set secret = (select secret from totp_factors where id = :known) where id = :theirs',
    { known, theirs },
  )
  const { api } = await addToken(service(), victim.id, LOGIN)
  t.is((await api.post(`/auth/totp/${theirs}/verify/`, { code })).status, 503)
  t.true(service().logged().includes(`no key of KEY_ENCRYPTION_KEYS decrypts the secret of TOTP factor ${theirs}`))
  await query(service().system.db, 'delete from totp_factors where id = :theirs', { theirs })
})

test('the key can be changed: with both keys all factors work, and after encrypt-again without the old one', async (t) => {
  const { system, backends } = service()
  const key = randomBytes(32).toString('base64')
  const old = system.config.keyEncryptionKeys[0]!.toString('base64')
  const both = await startService(backends, { KEY_ENCRYPTION_KEYS: `${key}, ${old}` })
  const single = await startService(backends, { KEY_ENCRYPTION_KEYS: key })
  stopClocks(service(), both, single)
  const { id } = await person(service())
  const factor = await addFactor(service(), id)
  const { secret } = await addToken(service(), id, LOGIN)
  const verify = async ({ clientOf }: typeof both, offset: number) => {
    const code = await codeFor(service(), factor, offset)
    return (await clientOf(secret).post(`/auth/totp/${factor}/verify/`, { code })).status
  }
  try {
    t.deepEqual([await verify(single, -1), await verify(both, -1)], [503, 200])
    const code = await codeFor(service(), factor, 1)
    t.true((await encryptAgain(both.system)).factors > 0)
    const answer = await single.clientOf(secret).post(`/auth/totp/${factor}/verify/`, { code })
    t.is(answer.status, 200)
  } finally {
    await Promise.all([both.stop(), single.stop()])
  }
})

/** RFC 4648 §6, without padding. */
function decodeBase32(text: string): number[] {
  const bits = Array.from(text, (symbol) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(symbol).toString(2).padStart(5, '0'),
  )
  return bits
    .join('')
    .match(/.{8}/g)!
    .map((octet) => parseInt(octet, 2))
}
