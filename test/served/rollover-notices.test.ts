import { tellOwners } from '../../src/service/rollovers/owner-notices.ts'
import { accessOfOperator, begin } from '../../src/service/rollovers/rollovers.ts'
import { one, query } from '../../src/store/database.ts'
import { later } from '../../src/time.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { lettersTo } from '../support/clients/mails.ts'
import { addToken } from '../support/clients/tokens.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type TestService, useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §15.10: the owner of a domain is told what happens to its keys, and by whom; nobody can hide that.

const service = useService()
const throttled = useService({ THROTTLE: 'on' })
const pathOf = (name: string) => `/domains/${name}/rollover/`

/** All that the mails to an address say happened, oldest first, without the times. */
function told({ system }: TestService, email: string): string[] {
  const lines = lettersTo(system, email).flatMap(({ text }) => text.split('\n'))
  return lines.flatMap((line) => /^- 20\S+ \S+ UTC, (.+)$/.exec(line)?.[1] ?? [])
}

test('the owner is told of each step, and who took it', async (t) => {
  const { system } = service()
  const { id, api } = await service().account()
  const stranger = await service().account()
  const [email, other] = [await emailOf(system, id), await emailOf(system, stranger.id)]
  const may = { permDeleteDomain: true }
  const ci = await addToken(service(), id, { ...may, name: 'ci\n"x"' })
  const login = await addToken(service(), id, { ...may, name: 'login', mfa: false })
  const bound = await addToken(service(), stranger.id, { ...may, name: 'theirs', userOverrideId: id })
  const name = await newDomain(api)
  const expected: string[] = []
  const isTold = async (what: string) => {
    expected.push(`${name}: ${what}`)
    await eventuallyIs(() => told(service(), email), expected)
  }
  succeeded(await ci.api.post(pathOf(name), { emergency: true }), 201)
  await isTold(String.raw`the replacement of its keys was begun, with the token "ci\n\"x\""`)
  await eventually(async () => ((await api.get(pathOf(name))).json as { phase: string }).phase === 'await-ds')
  succeeded(await login.api.post(`${pathOf(name)}confirm/`, { force: true }), 200)
  const forced =
    'its new keys were confirmed by force, although the parent zone may have the DS record of the former ones'
  await eventuallyIs(async () => (await api.get(pathOf(name))).status, 404)
  expected.push(`${name}: ${forced}, with the token "login"`)
  await isTold('the replacement of its keys has ended')
  succeeded(await bound.api.post(pathOf(name), { return: true }), 201)
  await isTold(`its former keys were called back, with the token "theirs" of ${other}`)
  succeeded(await bound.api.delete(pathOf(name)), 204)
  await isTold(`the replacement of its keys was cancelled, with the token "theirs" of ${other}`)
  await begin(await accessOfOperator(system, name), { emergency: false })
  await isTold('the replacement of its keys was begun, by the operator of this service')
  t.deepEqual(told(service(), email), expected)
  t.deepEqual(told(service(), other), [])
})

test('beyond the rates, notices wait and come in one mail: none is lost', async (t) => {
  const { system } = throttled()
  const { id, api } = await throttled().account()
  const email = await emailOf(system, id)
  const [noisy, quiet] = [await newDomain(api), await newDomain(api)]
  const letters = () => lettersTo(system, email).length
  const makeNoise = async () => {
    succeeded(await api.post(pathOf(noisy)), 201)
    succeeded(await api.delete(pathOf(noisy)), 204)
  }
  // As many mails as the rates allow in an hour.
  while (letters() < 3) {
    const before = letters()
    await makeNoise()
    await eventually(() => letters() > before)
  }
  for (let count = 0; count < 4; count++) await makeNoise()
  succeeded(await api.post(pathOf(quiet)), 201)
  const waiting = () => query(system.db, 'select from rollover_notices where account_id = :id', { id })
  const held = `select from rollover_notices where account_id = :id and name = :quiet and due > :now`
  await eventually(async () => (await query(system.db, held, { id, quiet, now: system.now() })).length === 1)
  t.is(letters(), 3)
  await tellOwners({ ...system, counters: undefined, now: () => later(system.now(), 3_600) })
  // It is not sent before that time.
  const sql = 'select subject, text from mails where recipient = :email'
  const { subject, text } = await one<{ subject: string; text: string }>(system.db, sql, { email })
  t.is(letters(), 3)
  t.is(subject, 'The keys of your domains')
  t.true(text.includes(`UTC, ${quiet}: the replacement of its keys was begun`), text)
  t.regex(text, /\n- and \d others, which the history of the domains has\n/)
  t.deepEqual(await waiting(), [])
})
