import { allLettersTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import { freshEmail, PASSWORD, person, said } from '../../support/clients/people.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §14, `mail`: nobody fills somebody else's mailbox.

const RATES = 'account_management_active=1000/min; account_management_passive=1000/min'

const service = useService({ REGISTRATION: 'open', THROTTLE: 'on', THROTTLE_RATES: RATES })

const post = (path: string, body: unknown) => service().anonymous.post(path, body)

/** How many mails an address has got. */
async function count(email: string, { system } = service()): Promise<number> {
  return (await allLettersTo(system, email)).length
}

test('of password resets for one address, in any case, three cause a mail; the answers are the same', async (t) => {
  const { email, id } = await person(service())
  const answers = new Set<string>()
  for (let i = 0; i < 5; i++) {
    const { status, text } = await post('/auth/account/reset-password/', { email: i % 2 ? email.toUpperCase() : email })
    answers.add(`${status} ${text}`)
  }
  t.is(answers.size, 1)
  t.is(await count(email), 3)
  const line = /.*too many of its kind.*/.exec(service().logged())![0]
  t.like(JSON.parse(line), { level: 'warn', kind: 'reset-password', account: id })
  t.false(service().logged().includes(email))
})

test('mails of other kinds, and to other recipients, are counted apart', async (t) => {
  const someone = await person(service())
  for (let i = 0; i < 4; i++) t.is((await post('/auth/account/delete/', someone.credentials)).status, 202)
  t.is(await count(someone.email), 3)
  t.is((await post('/auth/account/reset-password/', { email: someone.email })).status, 202)
  t.is(await count(someone.email), 4)
  const newEmail = freshEmail()
  const change = { ...someone.credentials, new_email: newEmail }
  for (let i = 0; i < 4; i++) t.is((await post('/auth/account/change-email/', change)).status, 202)
  t.is(await count(newEmail), 3)
  t.is(await count(someone.email), 4)
})

test('a sign-up without mail leaves the link of the third one, but not its password, which a stranger may know', async (t) => {
  const email = freshEmail()
  const sent = []
  for (const password of ['first password', 'second password', 'third password']) {
    t.is((await post('/auth/', { email, password })).status, 202)
    sent.push(await people.linkTo(service(), email, sent.length + 1))
  }
  const fourth = await post('/auth/', { email, password: 'fourth password' })
  t.deepEqual(said(fourth), [202, '{"detail":"Welcome! Please check your mailbox."}'])
  t.is(await count(email), 3)
  t.is((await post(sent[2]!.path, {})).status, 200)
  for (const password of ['third password', 'fourth password'])
    t.false(await people.canLogIn(service(), email, password))
  const reset = await people.linkTo(service(), email, 4)
  t.is((await post(reset.path, { new_password: PASSWORD })).status, 200)
  t.true(await people.canLogIn(service(), email, PASSWORD))
})

test('notices are counted, too; the log has those that are not sent', async (t) => {
  const { id, email } = await person(service())
  const { api } = await addToken(service(), id, { permManageTokens: true })
  for (let i = 0; i < 4; i++) t.is((await api.post('/auth/tokens/', { perm_manage_tokens: true })).status, 201)
  t.is(await count(email), 3)
  const lines = service().logged().split('\n')
  t.is(lines.filter((line) => line.includes('"kind":"managing-token"') && line.includes(id)).length, 1)
})

test('the rates of half a day hold, too, and are a setting', async (t) => {
  const settings = { THROTTLE: 'on', THROTTLE_RATES: `${RATES}; mail=100/h, 2/12h` }
  await withService(settings, async (own) => {
    const someone = await person(own)
    for (let i = 0; i < 3; i++) await own.anonymous.post('/auth/account/reset-password/', { email: someone.email })
    t.is(await count(someone.email, own), 2)
  })
})
