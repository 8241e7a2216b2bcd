import { tellOwners } from '../../src/service/rollovers/owner-notices.ts'
import { accessOfOperator, begin } from '../../src/service/rollovers/rollovers.ts'
import { type Db, one, query, transaction } from '../../src/store/database.ts'
import * as notices from '../../src/store/domains/rollover-notices.ts'
import type { System } from '../../src/system.ts'
import { later } from '../../src/time.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { lettersTo } from '../support/clients/mails.ts'
import { addToken } from '../support/clients/tokens.ts'
import { defer, eventually, eventuallyIs } from '../support/eventually.ts'
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
  const ci = await addToken(service(), id, { ...may, name: 'ci\n"x"\u202e' })
  const login = await addToken(service(), id, { ...may, name: 'login', mfa: false })
  const bound = await addToken(service(), stranger.id, { ...may, name: 'theirs', userOverrideId: id })
  const name = await newDomain(api)
  const expected: string[] = []
  const isTold = async (what: string) => {
    expected.push(`${name}: ${what}`)
    await eventuallyIs(() => told(service(), email), expected)
  }
  succeeded(await ci.api.post(pathOf(name), { emergency: true }), 201)
  await isTold(String.raw`the replacement of its keys was begun, with the token "ci\n\"x\"\u202e"`)
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
  const sql = `select payload ->> 'subject' as subject, payload ->> 'text' as text from work where payload ->> 'to' = :email`
  const { subject, text } = await one<{ subject: string; text: string }>(system.db, sql, { email })
  t.is(letters(), 3)
  t.is(subject, 'The keys of your domains')
  t.true(text.includes(`UTC, ${quiet}: the replacement of its keys was begun`), text)
  t.regex(text, /\n- and \d others: see the history of your domains, also of deleted ones\n/)
  t.deepEqual(await waiting(), [])
})

/** The account's mails that wait, and those that were sent. */
async function mailed(email: string): Promise<string> {
  const { system } = throttled()
  const sql = `select payload ->> 'text' as text from work where payload ->> 'to' = :email`
  const mails = await query<{ text: string }>(system.db, sql, { email })
  return [...mails, ...lettersTo(system, email)].map(({ text }) => text).join('\n')
}

const FAR = 100

/** Adds a notice that is due far in the future, so that the service itself does not send it. */
async function addNotice(trx: Db, id: string, name: string): Promise<void> {
  const now = later(throttled().system.now(), FAR)
  await notices.add(trx, { ownerId: id, name }, { ownerId: id, tokenId: null }, { event: 'begin', now })
}

const tellLater = (more: Partial<System> = {}) => {
  const { system } = throttled()
  return tellOwners({ ...system, counters: undefined, now: () => later(system.now(), 2 * FAR), ...more })
}

test('whoever makes domains, replaces their keys and deletes them hides nothing of the others', async (t) => {
  const { system } = throttled()
  const { id, api } = await throttled().account()
  const email = await emailOf(system, id)
  const victim = await newDomain(api)
  const young = await newDomain(api)
  for (let i = 0; i < 300; i++) await addNotice(system.db, id, `gone${i}.example`)
  for (let i = 0; i < 300; i++) await addNotice(system.db, id, young)
  await addNotice(system.db, id, victim)
  await tellLater()
  const text = await mailed(email)
  t.true(text.includes(`UTC, ${victim}: the replacement of its keys was begun`), text)
  t.regex(text, /\n- and 401 others: /)
  t.deepEqual(await query(system.db, 'select from rollover_notices where account_id = :id', { id }), [])
})

test('what no mail has told yet comes with the next one', async (t) => {
  const { system } = throttled()
  const { id } = await throttled().account()
  const email = await emailOf(system, id)
  await query(
    system.db,
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select 'many' || n || '.example', :id, 60, 1, 0, now(), now(), now() from generate_series(1, 250) as n`,
    { id },
  )
  for (let n = 1; n <= 250; n++) await addNotice(system.db, id, `many${n}.example`)
  await tellLater()
  t.is((await query(system.db, 'select from rollover_notices where account_id = :id', { id })).length, 50)
  await tellLater()
  const text = await mailed(email)
  for (let n = 1; n <= 250; n++) t.true(text.includes(`UTC, many${n}.example: `), `${n}`)
  await query(system.db, `delete from domains where name like 'many%'`)
})

test('what is committed while a mail is written comes with the next one', async (t) => {
  const { system } = throttled()
  const { id, api } = await throttled().account()
  const email = await emailOf(system, id)
  const [early, late] = [await newDomain(api), await newDomain(api)]
  const [inserted, allowed, committed] = [defer(), defer(), defer()]
  const slow = transaction(system.db, async (trx) => {
    await addNotice(trx, id, early)
    inserted.resolve()
    await allowed.promise
  }).then(committed.resolve)
  await inserted.promise
  await addNotice(system.db, id, late)
  // Asked when the notices were read, and before they are removed.
  const count = async () => {
    allowed.resolve()
    await committed.promise
    return []
  }
  await tellLater({ counters: { count } as unknown as System['counters'] })
  await slow
  t.true((await mailed(email)).includes(late))
  await tellLater()
  t.true((await mailed(email)).includes(early))
})
