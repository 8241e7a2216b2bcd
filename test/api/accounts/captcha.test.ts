import type { Challenge } from 'altcha-lib'
import test from 'ava'
import { Invalid } from '../../../src/errors.ts'
import { checkCaptcha } from '../../../src/service/accounts/captchas.ts'
import { newCaptcha, payload, type Shown, solution, solved } from '../../support/clients/captchas.ts'
import { useService, withService } from '../../support/harness.ts'

// Contract §11.2: captchas.

const service = useService({ CAPTCHA: 'on' })

const DOES_NOT_EXIST = { captcha: ['CAPTCHA does not exist.'] }
const NOT_VALIDATED = { captcha: ['CAPTCHA could not be validated. Please obtain a new one and try again.'] }

/** The error body for this solution of a captcha; undefined if the solution is right. */
async function problemsOf(id: string, solution: string): Promise<unknown> {
  try {
    await checkCaptcha(service().system, { id, solution })
    return undefined
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems
  }
}

for (const body of [undefined, {}, { kind: 'altcha' }, { kind: 'altcha', id: 1, solution: 'x', other: null }]) {
  test(`${JSON.stringify(body)} asks for a proof of work`, async (t) => {
    const asked = Math.floor(Date.now() / 1000)
    const { status, text, json, headers } = await service().anonymous.post('/captcha/', body)
    t.is(status, 201)
    t.is(headers['allow'], 'POST, OPTIONS')
    const { id, challenge } = json as Shown
    t.is(text, JSON.stringify({ id, challenge, kind: 'altcha' }))
    t.regex(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const { parameters, signature } = JSON.parse(challenge) as Challenge
    const { nonce, salt, keyPrefix, expiresAt, ...others } = parameters
    t.deepEqual(others, { algorithm: 'PBKDF2/SHA-256', cost: 5000, keyLength: 32 })
    for (const octets of [nonce, salt, keyPrefix]) t.regex(octets, /^[0-9a-f]{32}$/)
    t.regex(signature!, /^[0-9a-f]{64}$/)
    t.true(expiresAt! >= asked + 3600 && expiresAt! <= Date.now() / 1000 + 3600)
  })
}

test('each challenge is new, and robots can skip no counter', async (t) => {
  const all = await Promise.all(Array.from({ length: 5 }, () => newCaptcha(service())))
  t.is(new Set(all.map(({ challenge }) => challenge)).size, 5)
  t.is(new Set(all.map(({ id }) => id)).size, 5)
  const quarters = new Set<number>()
  for (let left = 60; left > 0 && quarters.size < 4; left--) {
    const { challenge } = await newCaptcha(service())
    const { counter } = (decoded(await solution(challenge)) as { solution: { counter: number } }).solution
    t.true(counter < 800)
    quarters.add(Math.floor(counter / 200))
  }
  t.is(quarters.size, 4)
})

function decoded(base64: string): unknown {
  return JSON.parse(Buffer.from(base64, 'base64').toString())
}

for (const [kind, shown] of [
  ['audio', 'audio'],
  ['image', 'image'],
  ['x', 'x'],
  ['', ''],
  ['Altcha', 'Altcha'],
  [5, '5'],
  [true, 'true'],
  [['altcha'], '[\\"altcha\\"]'],
] as const) {
  test(`kind ${JSON.stringify(kind)} is refused`, async (t) => {
    const { status, text } = await service().anonymous.post('/captcha/', { kind })
    t.deepEqual([status, text], [400, `{"kind":["\\"${shown}\\" is not a valid choice."]}`])
  })
}

test('kind null is refused', async (t) => {
  const { status, text } = await service().anonymous.post('/captcha/', { kind: null })
  t.deepEqual([status, text], [400, '{"kind":["This field may not be null."]}'])
})

test('an invalid token is 401', async (t) => {
  const { api } = await service().account()
  t.is((await api.post('/captcha/')).status, 201)
  const headers = { authorization: 'Token unknown' }
  const { status, text } = await service().anonymous.post('/captcha/', undefined, { headers })
  t.deepEqual([status, text], [401, '{"detail":"Invalid token."}'])
})

test('a captcha accepts one solution', async (t) => {
  const { id, solution } = await solved(service())
  t.is(await problemsOf(id, ` ${solution}\n`), undefined)
  t.deepEqual(await problemsOf(id, solution), DOES_NOT_EXIST)
})

test('what the widget sends beside the solution is ignored', async (t) => {
  const { id, challenge } = await newCaptcha(service())
  const { solution: found } = decoded(await solution(challenge)) as { solution: object }
  t.is(await problemsOf(id, payload({ challenge: 'other', solution: { ...found, time: 1.5 }, more: [] })), undefined)
})

test('a captcha does not accept the solution of another', async (t) => {
  const [one, other] = [await solved(service()), await newCaptcha(service())]
  t.deepEqual(await problemsOf(other.id, one.solution), NOT_VALIDATED)
  t.is(await problemsOf(one.id, one.solution), undefined)
})

test('a wrong solution uses up the captcha, too', async (t) => {
  const { id, solution } = await solved(service())
  t.deepEqual(await problemsOf(id, 'wrong'), NOT_VALIDATED)
  t.deepEqual(await problemsOf(id, solution), DOES_NOT_EXIST)
})

test('of twenty simultaneous solutions, one is accepted', async (t) => {
  const { id, solution } = await solved(service())
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => problemsOf(id, solution)))
  t.is(outcomes.filter((outcome) => outcome === undefined).length, 1)
  t.is(outcomes.filter((outcome) => JSON.stringify(outcome) === JSON.stringify(DOES_NOT_EXIST)).length, 19)
})

const KEY = '0'.repeat(64)
const WRONG: [what: string, solution: unknown][] = [
  ['an empty string', ''],
  ['not base64', '\u{1f511}%%%'],
  ['base64 of broken JSON', Buffer.from('{"solution":').toString('base64')],
  ['base64 of invalid UTF-8', Buffer.from([0xff, 0xfe, 0]).toString('base64')],
  ['null', payload(null)],
  ['a number', payload(5)],
  ['a string', payload('solution')],
  ['an array', payload([{ counter: 0, derivedKey: KEY }])],
  ['an empty object', payload({})],
  ['an object with a null solution', payload({ solution: null })],
  ['a counter alone', payload({ solution: { counter: 400 } })],
  ['a key alone', payload({ solution: { derivedKey: KEY } })],
  ["a key that is not its counter's", payload({ solution: { counter: 400, derivedKey: KEY } })],
  ['a negative counter', payload({ solution: { counter: -1, derivedKey: KEY } })],
  ['a counter that is not whole', payload({ solution: { counter: 1.5, derivedKey: KEY } })],
  ['a counter as text', payload({ solution: { counter: '1', derivedKey: KEY } })],
  ['a counter of 33 bits', payload({ solution: { counter: 2 ** 32, derivedKey: KEY } })],
  ['an infinite counter', Buffer.from(`{"solution":{"counter":1e999,"derivedKey":"${KEY}"}}`).toString('base64')],
  ['a key of one digit', payload({ solution: { counter: 1, derivedKey: 'a' } })],
  ['a key of objects', payload({ solution: { counter: 1, derivedKey: { length: 64 } } })],
  ['a prototype', Buffer.from('{"__proto__":{"solution":{"counter":1}}}').toString('base64')],
  ['arrays in arrays', Buffer.from('['.repeat(7000)).toString('base64')],
  ['objects in objects', Buffer.from('{"solution":'.repeat(500) + '1' + '}'.repeat(500)).toString('base64')],
  ['60 kB of base64', 'A'.repeat(60_000)],
]
for (const [what, wrong] of WRONG) {
  test(`a solution that is ${what} is wrong`, async (t) => {
    const { id } = await newCaptcha(service())
    const body = { email: 'nobody@example.test', captcha: { id, solution: wrong } }
    const { status, json } = await service().anonymous.post('/auth/account/reset-password/', body)
    t.deepEqual([status, json], [400, NOT_VALIDATED])
  })
}

test('a solution for a challenge that the client made easier is wrong', async (t) => {
  const { id, challenge } = await newCaptcha(service())
  const { parameters, signature } = JSON.parse(challenge) as Challenge
  const easy = { parameters: { ...parameters, cost: 1, keyPrefix: '0' }, signature }
  t.deepEqual(await problemsOf(id, await solution(JSON.stringify(easy))), NOT_VALIDATED)
})

for (const id of ['', 'x', '00000000-0000-4000-8000-000000000000', "' or true"]) {
  test(`captcha ${JSON.stringify(id)} does not exist`, async (t) => {
    t.deepEqual(await problemsOf(id, 'x'), DOES_NOT_EXIST)
  })
}

for (const [seconds, outcome] of [
  [3599, undefined],
  [3601, NOT_VALIDATED],
  [2 * 3600 + 1, DOES_NOT_EXIST],
] as const) {
  test.serial(`after ${seconds} s a solution is ${outcome === undefined ? 'accepted' : 'too late'}`, async (t) => {
    const { system } = service()
    const { now } = system
    const created = Date.now()
    const setTime = (time: number) => {
      const timestamp = new Date(time).toISOString().replace('Z', '000Z')
      system.now = () => timestamp
    }
    setTime(created)
    const { id, solution } = await solved(service())
    setTime(created + seconds * 1000)
    // Creating a captcha deletes those that expired long ago.
    await newCaptcha(service())
    const problems = await problemsOf(id, solution)
    system.now = now
    t.deepEqual(problems, outcome)
  })
}

test('without the setting, /captcha/ is 404', async (t) => {
  await withService({}, async ({ anonymous }) => {
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const { status, text, headers } = await anonymous.send(method, '/captcha/')
      t.deepEqual([status, text, headers['allow']], [404, '{"detail":"Not found."}', undefined])
    }
  })
})
