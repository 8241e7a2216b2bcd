import { allLettersTo, type Letter, letterTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import { type Person, person } from '../../support/clients/people.ts'
import { addFactor, addToken, codeFor, forgetCodes } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11.1: notices of changes that a thief of the password or of a token would make.

const service = useService()

const login = { mfa: true, permManageTokens: true }

/** The latest mail, once `count` have arrived. */
async function notice({ email }: Person, count = 1): Promise<Letter> {
  return letterTo(service().system, email, count)
}

test('a new password is noticed', async (t) => {
  const someone = await person(service())
  const { path } = await people.resetLink(service(), someone)
  t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
  t.is((await notice(someone, 2)).subject, 'Your password was changed')
})

test('a new address is noticed at the old one', async (t) => {
  const someone = await person(service())
  const { path } = await people.emailChangeLink(service(), someone, people.freshEmail())
  t.is((await service().anonymous.post(path)).status, 200)
  t.is((await notice(someone)).subject, 'Your e-mail address was changed')
})

test('the first use of a factor and the deletion of a used one are noticed, other uses and deletions are not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, login)
  const [factor, unused] = [
    await addFactor(service(), someone.id, { used: false }),
    await addFactor(service(), someone.id, { used: false }),
  ]
  const verify = async () => {
    await forgetCodes(service(), factor)
    return api.post(`/auth/totp/${factor}/verify/`, { code: await codeFor(service(), factor) })
  }
  t.is((await verify()).text, '{"detail":"Your TOTP token has been activated!"}')
  t.is((await notice(someone)).subject, 'A second factor was added to your account')
  t.is((await verify()).text, '{"detail":"The code was correct."}')
  t.is((await api.delete(`/auth/totp/${unused}/`)).status, 204)
  t.is((await api.delete(`/auth/totp/${factor}/`)).status, 204)
  t.is((await notice(someone, 2)).subject, 'A second factor was removed from your account')
})

test('a token that may manage tokens is noticed, whether at its creation or later; others and logins are not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, login)
  const make = async (body: object) => ((await api.post('/auth/tokens/', body)).json as { id: string }).id
  const plain = await make({ name: 'plain', perm_create_domain: true })
  t.is((await service().anonymous.post('/auth/login/', someone.credentials)).status, 200)
  const created = await make({ name: 'one\n"', perm_manage_tokens: true })
  const { subject, text } = await notice(someone)
  t.is(subject, 'A token may manage your account')
  t.true(text.includes('The API token "one\\n\\"" may now'))
  t.is((await api.patch(`/auth/tokens/${created}/`, { name: 'renamed' })).status, 200)
  t.is((await api.patch(`/auth/tokens/${plain}/`, { perm_delete_domain: true })).status, 200)
  t.is((await api.patch(`/auth/tokens/${plain}/`, { perm_manage_tokens: true })).status, 200)
  t.true((await notice(someone, 2)).text.includes('The API token "plain" may now'))
  t.is((await allLettersTo(service().system, someone.email)).length, 2)
})
