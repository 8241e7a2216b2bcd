import { payload, solution, solved } from '../../support/clients/captchas.ts'
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

test('a captcha sent at sign-up is checked there, and not required again at activation', async (t) => {
  const email = freshEmail()
  const captcha = await solved(service())
  const wrong = { ...captcha, id: 'nothing' }
  const refused = await service().anonymous.post('/auth/', { email, password: PASSWORD, captcha: wrong })
  t.deepEqual(said(refused), [400, UNKNOWN])
  t.is(await accountOf(service(), email), undefined)
  const link = await activationLink(service(), { captcha })
  t.is((await service().anonymous.post(link.path)).status, 200)
  const again = await service().anonymous.post('/auth/', { email, password: PASSWORD, captcha })
  t.deepEqual(said(again), [400, UNKNOWN])
})

test('after a sign-up without captcha, the activation requires one', async (t) => {
  const { path, email } = await activationLink(service())
  t.deepEqual(said(await service().anonymous.post(path)), [400, REQUIRED])
  const wrong = await service().anonymous.post(path, {
    captcha: { ...(await solved(service())), solution: payload({}) },
  })
  const text = 'CAPTCHA could not be validated. Please obtain a new one and try again.'
  t.deepEqual(said(wrong), [400, JSON.stringify({ captcha: [text] })])
  t.is((await accountOf(service(), email))!.state, 'pending')
  t.is((await service().anonymous.post(path, { captcha: await solved(service()) })).status, 200)
  t.true(await canLogIn(service(), email, PASSWORD))
})

test('the activation page contains a captcha if one is required', async (t) => {
  const { path, email } = await activationLink(service())
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const first = await service().anonymous.post(path, undefined, { headers, body: '' })
  t.is(first.status, 400)
  t.is(first.headers['content-type'], 'text/html; charset=utf-8')
  const [, id, challenge] = /name="captcha\.id" value="([^"]+)"[^]*data-challenge="([^"]+)"/.exec(first.text)!
  const answer = await solution(challenge!.replaceAll('&quot;', '"'))
  const body = new URLSearchParams({ 'captcha.id': id!, 'captcha.solution': answer }).toString()
  const second = await service().anonymous.post(path, undefined, { headers, body })
  t.is(second.status, 200)
  t.true(second.text.includes('Success! Your account has been activated'))
  t.true(await canLogIn(service(), email, PASSWORD))
})

test('a password reset requires a captcha', async (t) => {
  const { email } = await person(service())
  t.deepEqual(said(await service().anonymous.post('/auth/account/reset-password/', { email })), [400, REQUIRED])
  const body = { email, captcha: await solved(service()) }
  t.is((await service().anonymous.post('/auth/account/reset-password/', body)).status, 202)
  t.is((await people.linkTo(service(), email)).action, 'reset-password')
})

test('without e-mail confirmation, the sign-up requires a captcha', async (t) => {
  const settings = { REGISTRATION: 'open', CAPTCHA: 'on', EMAIL_CONFIRMATION: 'off' }
  await withService(settings, async ({ anonymous }) => {
    t.deepEqual(said(await anonymous.post('/auth/', { email: freshEmail(), password: PASSWORD })), [400, REQUIRED])
  })
})

test('while captchas are off, the captcha field is ignored', async (t) => {
  await withService({ REGISTRATION: 'open' }, async (own) => {
    const { path } = await activationLink(own, { captcha: 'nonsense' })
    t.is((await own.anonymous.post(path, { captcha: [] })).status, 200)
    const { email } = await person(own)
    t.is((await own.anonymous.post('/auth/account/reset-password/', { email, captcha: 1 })).status, 202)
  })
})
