import test from 'ava'
import { Invalid } from '../../../src/errors.ts'
import { checkCaptcha } from '../../../src/service/accounts/captchas.ts'
import { query } from '../../../src/store/database.ts'
import { useService, withService } from '../../support/harness.ts'

// Contract §11.2: captchas.

const service = useService({ CAPTCHA: 'on' })

const DOES_NOT_EXIST = { captcha: ['CAPTCHA does not exist.'] }
const NOT_VALIDATED = { captcha: ['CAPTCHA could not be validated. Please obtain a new one and try again.'] }

interface Shown {
  id: string
  challenge: string
  kind: string
}

/** A new captcha, and its solution, which is nowhere to be seen but in the picture and in the database. */
async function newCaptcha(): Promise<{ id: string; solution: string }> {
  const { id } = (await service().anonymous.post('/captcha/', {})).json as Shown
  const [row] = await query<{ solution: string }>(service().system.db, 'select solution from captchas where id = :id', {
    id,
  })
  return { id, solution: row!.solution }
}

/** The body that a request with this answer to a captcha gets; undefined if it is right. */
async function judged(id: string, solution: string): Promise<unknown> {
  try {
    await checkCaptcha(service().system, { id, solution })
    return undefined
  } catch (error) {
    return (error as Invalid).problems
  }
}

for (const body of [undefined, {}, { kind: 'image' }, { kind: 'image', id: 1, solution: 'x', other: null }]) {
  test(`${JSON.stringify(body)} asks for an image`, async (t) => {
    const { status, text, json, headers } = await service().anonymous.post('/captcha/', body)
    t.is(status, 201)
    t.is(headers['allow'], 'POST, OPTIONS')
    const { id, challenge } = json as Shown
    t.is(text, JSON.stringify({ id, challenge, kind: 'image' }))
    t.regex(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const image = Buffer.from(challenge, 'base64')
    t.is(image.toString('base64'), challenge)
    // A PNG of 300 times 100 pixels (PNG specification §§5.2, 11.2.2).
    t.is(image.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
    t.deepEqual([image.readUInt32BE(16), image.readUInt32BE(20)], [300, 100])
    t.is(image.subarray(-8, -4).toString(), 'IEND')
  })
}

test('each is another picture of another text', async (t) => {
  const all = await Promise.all(Array.from({ length: 5 }, () => service().anonymous.post('/captcha/')))
  t.is(new Set(all.map(({ json }) => (json as Shown).challenge)).size, 5)
  t.is(new Set(all.map(({ json }) => (json as Shown).id)).size, 5)
  const [first, second] = [await newCaptcha(), await newCaptcha()]
  t.regex(first.solution, /^[A-Z2-9]{6}$/)
  t.not(first.solution, second.solution)
})

for (const [kind, shown] of [
  ['audio', 'audio'],
  ['x', 'x'],
  ['', ''],
  ['Image', 'Image'],
  [5, '5'],
  [true, 'true'],
  [['image'], '[\\"image\\"]'],
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

test('a token that is presented must be good', async (t) => {
  const { api } = await service().account()
  t.is((await api.post('/captcha/')).status, 201)
  const headers = { authorization: 'Token unknown' }
  const { status, text } = await service().anonymous.post('/captcha/', undefined, { headers })
  t.deepEqual([status, text], [401, '{"detail":"Invalid token."}'])
})

test('a captcha is good for one answer, in whatever case', async (t) => {
  const { id, solution } = await newCaptcha()
  t.is(await judged(id, ` ${solution.toLowerCase()} `), undefined)
  t.deepEqual(await judged(id, solution), DOES_NOT_EXIST)
})

test('a wrong answer uses it up, too', async (t) => {
  const { id, solution } = await newCaptcha()
  t.deepEqual(await judged(id, `${solution}x`), NOT_VALIDATED)
  t.deepEqual(await judged(id, solution), DOES_NOT_EXIST)
})

test('of twenty answers at once one is heard', async (t) => {
  const { id, solution } = await newCaptcha()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => judged(id, solution)))
  t.is(outcomes.filter((outcome) => outcome === undefined).length, 1)
  t.is(outcomes.filter((outcome) => JSON.stringify(outcome) === JSON.stringify(DOES_NOT_EXIST)).length, 19)
})

for (const id of ['', 'x', '00000000-0000-4000-8000-000000000000', "' or true"]) {
  test(`there is no captcha ${JSON.stringify(id)}`, async (t) => {
    t.deepEqual(await judged(id, 'x'), DOES_NOT_EXIST)
  })
}

for (const [seconds, outcome] of [
  [86_399, undefined],
  [86_401, NOT_VALIDATED],
  [2 * 86_400 + 1, DOES_NOT_EXIST],
] as const) {
  test.serial(`after ${seconds} s an answer is ${outcome === undefined ? 'good' : 'too late'}`, async (t) => {
    const { system } = service()
    const { now } = system
    const { id, solution } = await newCaptcha()
    const then = new Date(Date.now() + seconds * 1000).toISOString().replace('Z', '000Z')
    system.now = () => then
    // Making one clears away what is long over.
    await newCaptcha()
    const told = await judged(id, solution)
    system.now = now
    t.deepEqual(told, outcome)
  })
}

test('without the setting there is no such path', async (t) => {
  await withService({}, async ({ anonymous }) => {
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const { status, text, headers } = await anonymous.send(method, '/captcha/')
      t.deepEqual([status, text, headers['allow']], [404, '{"detail":"Not found."}', undefined])
    }
  })
})
