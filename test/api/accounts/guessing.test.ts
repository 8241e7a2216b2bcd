import { addKnownNetwork } from '../../../src/store/accounts/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { solved } from '../../support/clients/captchas.ts'
import type { Answer } from '../../support/clients/client.ts'
import * as people from '../../support/clients/people.ts'
import { freshEmail, PASSWORD, person, said } from '../../support/clients/people.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { type TestService, useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { activityOf } from '../../support/state/activity.ts'

// Contract §14, `login_failure_per_account`: strangers with many addresses stop guessing, and lock out nobody.

const RATES = 'account_management_active=1000/min; login_failure=1000/min; login_failure_per_account=3/h'
const SETTINGS = { THROTTLE: 'on', TRUSTED_PROXIES: '127.0.0.1', THROTTLE_RATES: RATES }
const WRONG = '{"detail":"Invalid username/password."}'
const OWNERS = '192.0.2.1'
const ENDPOINTS = ['/auth/login/', '/auth/account/change-email/', '/auth/account/delete/'] as const

const service = useService(SETTINGS)

interface Attempt {
  email: string
  password?: string
  from: string
  path?: string
  captcha?: unknown
}

function attempt({ email, password = PASSWORD, from, path = '/auth/login/', captcha }: Attempt, own = service()) {
  const body = { email, password, new_email: 'new@example.test', captcha }
  return own.anonymous.post(path, body, { headers: { 'x-forwarded-for': from } })
}

/** Wrong passwords from three addresses, at the three endpoints. */
async function attack(email: string, own?: TestService): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [i, path] of ENDPOINTS.entries()) {
    answers.push(await attempt({ email, password: 'wrong', from: `198.51.100.${i}`, path }, own))
  }
  return answers
}

/** What a stranger sees, without what differs between any two answers. */
function seen({ status, text, headers }: Answer) {
  return [status, text.replace(/\d+ seconds/, 'N seconds'), Object.keys(headers).sort()]
}

test('beyond the rate, a new address gets 429 at every endpoint, even with the right password, whether or not there is an account', async (t) => {
  const { email } = await person(service())
  const absent = freshEmail()
  for (const each of [email, absent]) {
    for (const answer of await attack(each)) t.deepEqual(said(answer), [403, WRONG])
  }
  for (const path of ENDPOINTS) {
    const right = await attempt({ email, from: '203.0.113.1', path })
    t.is(right.status, 429)
    const seconds = Number(right.headers['retry-after'])
    t.true(seconds > 3000 && seconds <= 3600)
    t.deepEqual(right.json, { detail: `Request was throttled. Expected available in ${seconds} seconds.` })
    const wrong = await attempt({ email, password: 'wrong', from: '203.0.113.1', path })
    const none = await attempt({ email: absent.toUpperCase(), from: '203.0.113.1', path })
    t.deepEqual(seen(wrong), seen(right))
    t.deepEqual(seen(none), seen(right))
  }
  const other = await person(service())
  t.is((await attempt({ email: other.email, from: '203.0.113.1' })).status, 200)
})

for (const [what, before, after] of [
  ['address', OWNERS, OWNERS],
  ['IPv6 network', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2'],
] as const) {
  test(`from an ${what} from which the owner has logged in before, only the right password passes`, async (t) => {
    const { email } = await person(service())
    t.is((await attempt({ email, from: before })).status, 200)
    await attack(email)
    t.is((await attempt({ email, password: 'wrong', from: after })).status, 429)
    for (const path of ENDPOINTS) t.true((await attempt({ email, from: after, path })).status < 300)
    t.is((await attempt({ email, from: '2001:db8:0:2::1' })).status, 429)
  })
}

test('the last ten addresses are known', async (t) => {
  const { id, email } = await person(service())
  const addresses = Array.from({ length: 11 }, (_, i) => `192.0.2.${i}`)
  for (const from of addresses.slice(0, 10)) await addKnownNetwork(service().system.db, id, from, { isProved: true })
  for (const from of ['192.0.2.10', '192.0.2.10', '192.0.2.1']) t.is((await attempt({ email, from })).status, 200)
  await attack(email)
  const statuses: number[] = []
  for (const from of addresses) statuses.push((await attempt({ email, from })).status)
  t.deepEqual(statuses, [429, ...Array.from({ length: 10 }, () => 200)])
})

test('from a new address the owner resets the password, and logs in', async (t) => {
  const someone = await person(service())
  await attack(someone.email)
  const from = '192.0.2.77'
  t.is((await attempt({ email: someone.email, from })).status, 429)
  const { path } = await people.resetLink(service(), someone)
  const headers = { 'x-forwarded-for': from }
  t.is((await service().anonymous.post(path, { new_password: 'another password' }, { headers })).status, 200)
  t.is((await attempt({ email: someone.email, password: 'another password', from })).status, 200)
  t.is((await attempt({ email: someone.email, password: 'another password', from: '192.0.2.78' })).status, 429)
})

test('after the window, the right password is enough', async (t) => {
  await withService({ ...SETTINGS, THROTTLE_RATES: RATES.replace('3/h', '3/5s') }, async (own) => {
    const { email } = await person(own)
    await attack(email, own)
    const from = '203.0.113.4'
    t.is((await attempt({ email, from }, own)).status, 429)
    await eventually(async () => (await attempt({ email, from }, own)).status === 200)
  })
})

test('with captchas on, a solved one is accepted instead; below the rate it is not looked at', async (t) => {
  await withService({ ...SETTINGS, CAPTCHA: 'on' }, async (own) => {
    const { email } = await person(own)
    const captcha = await solved(own)
    t.is((await attempt({ email, from: '203.0.113.1', captcha: { id: 'x', solution: 'x' } }, own)).status, 200)
    t.is((await attempt({ email, from: '203.0.113.1', captcha }, own)).status, 200)
    await attack(email, own)
    t.is((await attempt({ email, from: '203.0.113.2' }, own)).status, 429)
    t.is((await attempt({ email, from: '203.0.113.2', captcha }, own)).status, 200)
    const again = await attempt({ email, from: '203.0.113.3', captcha }, own)
    t.deepEqual(said(again), [400, '{"captcha":["CAPTCHA does not exist."]}'])
    const wrong = await attempt({ email, password: 'wrong', from: '203.0.113.3', captcha: await solved(own) }, own)
    t.is(wrong.status, 429)
  })
})

test('somebody behind the same address keeps the owner out for a minute, and not at all if he solves captchas', async (t) => {
  const THROTTLE_RATES = 'login_failure=3/min; account_management_active=1000/min'
  await withService({ ...SETTINGS, THROTTLE_RATES, CAPTCHA: 'on' }, async (own) => {
    const { email } = await person(own)
    const from = '203.0.113.20'
    const guess = async (captcha?: unknown) => (await attempt({ email, password: 'wrong', from, captcha }, own)).status
    for (const status of [403, 403, 403, 429]) t.is(await guess(), status)
    t.is((await attempt({ email, from }, own)).status, 429)
    for (const path of ENDPOINTS) {
      t.true((await attempt({ email, from, path, captcha: await solved(own) }, own)).status < 300)
    }
    // Whoever guesses with captchas has the rate once more.
    const unsolved = { email, from, captcha: { id: 'x', solution: 'x' } }
    t.deepEqual(said(await attempt(unsolved, own)), [400, '{"captcha":["CAPTCHA does not exist."]}'])
    for (const status of [403, 403, 403, 429]) t.is(await guess(await solved(own)), status)
    t.is((await attempt({ email, from: '203.0.113.21' }, own)).status, 200)
  })
})

test('with captchas off, a captcha is ignored', async (t) => {
  const { email } = await person(service())
  await attack(email)
  t.is((await attempt({ email, from: '203.0.113.9', captcha: { id: 'x', solution: 'x' } })).status, 429)
})

test('strangers fill no activity: of a network one entry an hour, of all twenty, which count for no history', async (t) => {
  const { id, email } = await person(service())
  const { api } = await addToken(service(), id, { permManageTokens: true, permCreateDomain: true })
  const name = await newDomain(api)
  const octets = async () => service().sql('select history_octets from domains where name = :name', { name })
  const [before, counted] = [await activityOf(api), await octets()]
  const networks = [...Array.from({ length: 23 }, (_, i) => `203.0.113.${i}`), '2001:db8:0:7:']
  networks.reverse()
  for (const network of networks) {
    for (const each of network.includes(':') ? ['1', '2'] : ['', '']) {
      const from = network + (each && `:${each}`)
      t.true([403, 429].includes((await attempt({ email, password: 'wrong', from })).status))
    }
  }
  const refused = await eventually(
    () => activityOf(api, { type: 'login_failed' }),
    ({ length }) => length >= 20,
  )
  const addresses = refused.map(({ address }) => address)
  t.is(addresses.length, 20)
  t.is(new Set(addresses).size, 20)
  t.is(addresses.filter((address) => address!.startsWith('2001:')).length, 1)
  const logged = service()
    .logged()
    .split('\n')
    .filter((line) => line.includes('login_failed') && line.includes(id))
  t.is(logged.length, 2 * networks.length)
  t.deepEqual((await activityOf(api)).slice(20), before)
  t.deepEqual(await octets(), counted)
})
