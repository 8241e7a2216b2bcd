import { generateSecret } from '../../../src/service/tokens/secrets.ts'
import * as people from '../../support/clients/people.ts'
import {
  accountOf,
  activationLink,
  canLogIn,
  freshEmail,
  INVALID_CODE,
  type Link,
  NO_USER,
  OVERTAKEN,
  PASSWORD,
  type Person,
  person,
  said,
} from '../../support/clients/people.ts'
import { setState } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11.3: what confirmation codes allow.

const service = useService({ REGISTRATION: 'open' })

const BODY = { new_password: 'another password' }
const ACTIONS = ['activate-account', 'change-email', 'reset-password', 'delete-account'] as const
type Action = (typeof ACTIONS)[number]

/** A person that has received the mail for an action, and the link in it. */
async function linkFor(action: Action): Promise<{ someone: Person; link: Link }> {
  if (action === 'activate-account') {
    const link = await activationLink(service())
    return { someone: link, link }
  }
  const someone = await person(service())
  if (action === 'reset-password') return { someone, link: await people.resetLink(service(), someone) }
  if (action === 'delete-account') return { someone, link: await people.deletionLink(service(), someone) }
  return { someone, link: await people.emailChangeLink(service(), someone, freshEmail()) }
}

const post = async (path: string) => said(await service().anonymous.post(path, BODY))

/** All rows of `accounts`, to check that nothing has changed. */
async function accounts(): Promise<string> {
  return JSON.stringify(await service().sql('select * from accounts order by id'))
}

for (const action of ACTIONS) {
  test(`${action}: forged codes are refused`, async (t) => {
    const { link } = await linkFor(action)
    const before = await accounts()
    const other = link.code[0] === 'x' ? 'y' : 'x'
    for (const code of [
      generateSecret(),
      other + link.code.slice(1),
      link.code.slice(1),
      `${link.code}x`,
      link.code.toLowerCase(),
      '%00',
      'x'.repeat(5000),
      encodeURIComponent("' or true --"),
    ]) {
      t.deepEqual(await post(`/v/${action}/${code}/`), [400, INVALID_CODE], code)
    }
    t.is(await accounts(), before)
    t.is((await post(link.path))[0], 200)
  })

  test(`${action}: its code is valid for no other action`, async (t) => {
    const { link } = await linkFor(action)
    const before = await accounts()
    for (const wrong of ACTIONS.filter((name) => name !== action)) {
      t.deepEqual(await post(`/v/${wrong}/${link.code}/`), [409, OVERTAKEN], wrong)
    }
    t.is(await accounts(), before)
    t.is((await post(link.path))[0], 200)
  })

  test(`${action}: a code works once`, async (t) => {
    const { link } = await linkFor(action)
    t.is((await post(link.path))[0], 200)
    const after = await accounts()
    t.deepEqual(await post(link.path), action === 'delete-account' ? [400, NO_USER] : [409, OVERTAKEN])
    t.is(await accounts(), after)
  })

  test(`${action}: of ten simultaneous uses of a code, one succeeds`, async (t) => {
    const { link } = await linkFor(action)
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(link.path)))
    t.is(answers.filter(([status]) => status === 200).length, 1)
    const refused = action === 'delete-account' ? [400, NO_USER] : [409, OVERTAKEN]
    for (const answer of answers.filter(([status]) => status !== 200)) t.deepEqual(answer, refused)
  })

  test(`${action}: a code expires`, async (t) => {
    const { system } = service()
    const { now } = system
    const { link } = await linkFor(action)
    const later = (seconds: number) => () => new Date(Date.parse(now()) + seconds * 1000).toISOString()
    system.now = later(12 * 3600 + 1)
    const expired = await post(link.path)
    system.now = later(12 * 3600 - 60)
    const valid = await post(link.path)
    system.now = now
    t.deepEqual(expired, [400, INVALID_CODE])
    t.is(valid[0], 200)
  })

  test(`${action}: the code of a deleted account is 400 with "This user does not exist"`, async (t) => {
    const { link, someone } = await linkFor(action)
    await service().sql('delete from accounts where id = :id', { id: someone.id })
    t.deepEqual(await post(link.path), [400, NO_USER])
  })

  test(`${action}: the code of a disabled account is 403`, async (t) => {
    const { link, someone } = await linkFor(action)
    await setState(service(), someone.id, 'disabled')
    const before = await accounts()
    t.deepEqual(await post(link.path), [403, '{"detail":"User inactive."}'])
    t.is(await accounts(), before)
  })

  test(`${action}: GET neither checks the code nor uses it up`, async (t) => {
    const { link } = await linkFor(action)
    const good = await service().anonymous.get(link.path)
    const forged = await service().anonymous.get(`/v/${action}/${generateSecret()}/`)
    t.deepEqual([good.status, forged.status], [200, 200])
    t.is(good.text, forged.text)
    t.is((await post(link.path))[0], 200)
  })
}

/** Changes of an active account's credentials, each of which voids all earlier codes. */
const CHANGES: [string, (someone: Person) => Promise<void>][] = [
  [
    'a password reset',
    async (someone) => {
      const { path } = await people.resetLink(service(), someone, people.linksTo(service(), someone.email).length + 1)
      await service().anonymous.post(path, { new_password: PASSWORD })
    },
  ],
  [
    'a change of address',
    async (someone) => {
      await service().anonymous.post((await people.emailChangeLink(service(), someone, freshEmail())).path)
    },
  ],
]

for (const [what, change] of CHANGES) {
  for (const action of ['change-email', 'reset-password', 'delete-account'] as const) {
    test(`${action}: ${what} voids the code`, async (t) => {
      const { link, someone } = await linkFor(action)
      await change(someone)
      const before = await accounts()
      t.deepEqual(await post(link.path), [409, OVERTAKEN])
      t.is(await accounts(), before)
    })
  }
}

test('using one of two links to reset the password voids the other, even within the same microsecond', async (t) => {
  const { system } = service()
  const { now } = system
  const instant = now()
  system.now = () => instant
  const someone = await person(service())
  for (const count of [1, 2]) await people.resetLink(service(), someone, count)
  const links = people.linksTo(service(), someone.email)
  const answers = [await post(links[0]!.path), await post(links[1]!.path)]
  system.now = now
  t.is(answers[0]![0], 200)
  t.deepEqual(answers[1], [409, OVERTAKEN])
})

test('of eight different links of one account used at once, one succeeds', async (t) => {
  const someone = await person(service())
  const links: Link[] = []
  for (let i = 0; i < 4; i++) {
    links.push(
      await people.resetLink(service(), someone, 2 * i + 1),
      await people.deletionLink(service(), someone, 2 * i + 2),
    )
  }
  const answers = await Promise.all(links.map(({ path }) => post(path)))
  t.is(answers.filter(([status]) => status === 200).length, 1)
  for (const [status, text] of answers) t.true(status === 200 || text === OVERTAKEN || text === NO_USER, text)
})

test('the code of one account does not affect another, whatever the body contains', async (t) => {
  const { link, someone } = await linkFor('reset-password')
  const other = await person(service())
  const body = { ...BODY, user: other.id, email: other.email, account: other.id, id: other.id }
  t.is((await service().anonymous.post(link.path, body)).status, 200)
  t.true(await canLogIn(service(), other.email, PASSWORD))
  t.true(await canLogIn(service(), someone.email, BODY.new_password))
})

test('what the code contains overrides the body', async (t) => {
  const someone = await person(service())
  const [wanted, injected] = [freshEmail(), freshEmail()]
  const { path } = await people.emailChangeLink(service(), someone, wanted)
  t.is((await service().anonymous.post(path, { new_email: injected, email: injected })).status, 200)
  t.is((await accountOf(service(), wanted))!.id, someone.id)
})

test('an invalid code is reported before an invalid body', async (t) => {
  const { link } = await linkFor('reset-password')
  const send = (path: string) =>
    service().anonymous.post(path, undefined, { body: '{', headers: { 'content-type': 'application/json' } })
  t.deepEqual(said(await send(`/v/reset-password/${generateSecret()}/`)), [400, INVALID_CODE])
  t.true((await send(link.path)).text.startsWith('{"detail":"JSON parse error - '))
  t.is((await post(link.path))[0], 200)
})

test('the database and the log contain no usable code', async (t) => {
  const { link } = await linkFor('reset-password')
  await eventually(async () => !JSON.stringify(await service().sql('select payload from work')).includes(link.code))
  for (const table of ['confirmations', 'work', 'accounts']) {
    const rows = await service().sql(`select * from ${table}`)
    t.false(JSON.stringify(rows).includes(link.code), table)
  }
  t.false(service().logged().includes(link.code))
})

test('expired codes are deleted', async (t) => {
  const { link } = await linkFor('reset-password')
  await service().sql(`update confirmations set expires = expires - interval '13 h'`)
  t.deepEqual(await post(link.path), [400, INVALID_CODE])
  await linkFor('reset-password')
  t.is((await service().sql('select from confirmations')).length, 1)
})
