import { payload, solved } from '../../support/clients/captchas.ts'
import { allLettersTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import {
  accountOf,
  activationLink,
  canLogIn,
  freshEmail,
  PASSWORD,
  person,
  said,
} from '../../support/clients/people.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11: where captchas are required while they are on.

const service = useService({ REGISTRATION: 'open', CAPTCHA: 'on' })

const REQUIRED = '{"captcha":["This field is required."]}'
const UNKNOWN = '{"captcha":["CAPTCHA does not exist."]}'
const WRONG = '{"captcha":["CAPTCHA could not be validated. Please obtain a new one and try again."]}'

for (const [confirmation, EMAIL_CONFIRMATION] of [
  ['with confirmation', 'on'],
  ['without confirmation', 'off'],
] as const) {
  test(`without a solved captcha, a sign-up makes no account and sends no mail: ${confirmation}`, async (t) => {
    await withService({ REGISTRATION: 'open', CAPTCHA: 'on', EMAIL_CONFIRMATION }, async (own) => {
      const email = freshEmail()
      const captcha = await solved(own)
      for (const [answer, body] of [
        [undefined, REQUIRED],
        [{ ...captcha, id: 'nothing' }, UNKNOWN],
        [{ ...(await solved(own)), solution: payload({}) }, WRONG],
      ] as const) {
        const refused = await own.anonymous.post('/auth/', { email, password: PASSWORD, captcha: answer })
        t.deepEqual(said(refused), [400, body])
      }
      t.is(await accountOf(own, email), undefined)
      t.deepEqual(await allLettersTo(own.system, email), [])
      t.is((await own.anonymous.post('/auth/', { email, password: PASSWORD, captcha })).status, 202)
      if (EMAIL_CONFIRMATION === 'on') {
        t.is((await own.anonymous.post((await people.linkTo(own, email)).path)).status, 200)
      }
      t.true(await canLogIn(own, email, PASSWORD))
      const again = await own.anonymous.post('/auth/', { email, password: PASSWORD, captcha })
      t.deepEqual(said(again), [400, UNKNOWN])
    })
  })
}

test('a password reset requires a captcha', async (t) => {
  const { email } = await person(service())
  t.deepEqual(said(await service().anonymous.post('/auth/account/reset-password/', { email })), [400, REQUIRED])
  const body = { email, captcha: await solved(service()) }
  t.is((await service().anonymous.post('/auth/account/reset-password/', body)).status, 202)
  t.is((await people.linkTo(service(), email)).action, 'reset-password')
})

test('while captchas are off, the captcha field is ignored', async (t) => {
  await withService({ REGISTRATION: 'open' }, async (own) => {
    const { path } = await activationLink(own, { captcha: 'nonsense' })
    t.is((await own.anonymous.post(path, { captcha: [] })).status, 200)
    const { email } = await person(own)
    t.is((await own.anonymous.post('/auth/account/reset-password/', { email, captcha: 1 })).status, 202)
  })
})
