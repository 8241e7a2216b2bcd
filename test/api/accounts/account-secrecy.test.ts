import { freshName } from '../../support/clients/api.ts'
import type { Answer } from '../../support/clients/client.ts'
import * as people from '../../support/clients/people.ts'
import { freshEmail, PASSWORD, person } from '../../support/clients/people.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §3.1: no answer reveals whether an account exists. (bench/accounts.ts checks its timing.)

const service = useService({
  REGISTRATION: 'open',
  THROTTLE: 'on',
  THROTTLE_RATES: 'account_management_active=10000/min; login_failure=10000/min',
})

/** An answer without the parts that differ between any two requests. */
function comparable({ status, headers, text }: Answer): unknown {
  const { date, 'x-request-id': id, ratelimit, ...rest } = headers
  return [status, rest, text, typeof date, typeof id, String(ratelimit).replace(/[rt]=\d+/g, '')]
}

const post = (path: string, body: unknown) => service().anonymous.post(path, body)

for (const [what, ask] of [
  ['registration', (email: string) => post('/auth/', { email, password: PASSWORD })],
  ['registration without password', (email: string) => post('/auth/', { email, password: null })],
  ['registration with a domain', (email: string) => post('/auth/', { email, password: PASSWORD, domain: freshName() })],
  ['registration with a bad password', (email: string) => post('/auth/', { email, password: 'x' })],
  ['login', (email: string) => post('/auth/login/', { email, password: 'wrong' })],
  ['login without password', (email: string) => post('/auth/login/', { email })],
  ['reset', (email: string) => post('/auth/account/reset-password/', { email })],
  ['deletion', (email: string) => post('/auth/account/delete/', { email, password: 'wrong' })],
  ['change of address', (email: string) => change({ email, password: 'wrong', new_email: freshEmail() })],
] as const) {
  test(`${what}: the answer is the same for every account state and for no account`, async (t) => {
    const states = ['pending', 'active', 'disabled'] as const
    const emails = await Promise.all(states.map(async (state) => (await person(service(), { state })).email))
    emails.push((await person(service(), { passwordHash: null })).email)
    const expected = comparable(await ask(freshEmail()))
    for (const email of emails) t.deepEqual(comparable(await ask(email)), expected)
  })
}

function change(body: unknown): Promise<Answer> {
  return post('/auth/account/change-email/', body)
}

test('change of address: the answer is the same whether or not the new address is taken', async (t) => {
  const { credentials } = await person(service())
  const taken = await person(service())
  const free = comparable(await change({ ...credentials, new_email: freshEmail() }))
  t.deepEqual(comparable(await change({ ...credentials, new_email: taken.email })), free)
})

test('the log contains no password and no confirmation code', async (t) => {
  const someone = await person(service())
  const secret = 'canary in a coal mine'
  const { code, path } = await people.resetLink(service(), someone)
  await service().anonymous.get(path)
  await service().anonymous.post(path, { new_password: secret })
  await service().anonymous.post(path, { new_password: secret })
  await post('/auth/login/', { email: someone.email, password: secret })
  await post('/auth/login/', { email: someone.email, password: `${secret}!` })
  await post('/auth/', { email: freshEmail(), password: secret })
  await service().anonymous.get('/')
  const log = service().logged()
  t.true(log.includes('/api/v1/v/:action/:code'))
  t.false(log.includes(secret) || log.includes(code) || log.includes('argon2'))
})
