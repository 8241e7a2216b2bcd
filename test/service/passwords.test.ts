import { hash } from '@node-rs/argon2'
import test from 'ava'
import { Throttled } from '../../src/errors.ts'
import {
  HASHES_WAITING,
  hashPassword,
  isOutdated,
  passwordProblems,
  verifyPassword,
} from '../../src/service/accounts/passwords.ts'

const SHORT = 'This password is too short. It must contain at least 8 characters.'
const LONG = 'Ensure this field has no more than 128 characters.'

for (const [password, problems] of [
  ['', [SHORT]],
  ['1234567', [SHORT]],
  ['12345678', []],
  ['\u{1f511}'.repeat(7), [SHORT]],
  ['\u{1f511}'.repeat(128), []],
  ['x'.repeat(128), []],
  ['x'.repeat(129), [LONG]],
] as const) {
  const length = `${Array.from(password).length} characters (${password.length} units)`
  test.serial(`a password of ${length} is ${problems.length === 0 ? 'accepted' : 'refused'}`, (t) => {
    t.deepEqual(passwordProblems(password), problems)
  })
}

test.serial('a hash is argon2id with our parameters and a random salt, and verifies only its password', async (t) => {
  const [one, two] = [await hashPassword('correct horse', undefined), await hashPassword('correct horse', undefined)]
  t.regex(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(one, two)
  t.true(await verifyPassword(one, 'correct horse', undefined))
  t.false(await verifyPassword(one, 'correct horsf', undefined))
  t.false(await verifyPassword(one, '', undefined))
})

test.serial('without a hash no password is accepted', async (t) => {
  t.false(await verifyPassword(null, '', undefined))
  t.false(await verifyPassword(null, 'correct horse', undefined))
})

test.serial('a hash with other parameters still verifies, and counts as outdated', async (t) => {
  t.false(isOutdated(await hashPassword('correct horse', undefined)))
  for (const other of [{ memoryCost: 8192 }, { timeCost: 3 }, { parallelism: 2 }]) {
    const old = await hash('correct horse', { memoryCost: 19_456, timeCost: 2, parallelism: 1, ...other })
    t.true(isOutdated(old), old)
    t.true(await verifyPassword(old, 'correct horse', undefined))
  }
  t.true(isOutdated('$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$bm90aGluZyB0aGF0IGFueWJvZHkgaGFzIGhhc2hlZA'))
})

test.serial('when many passwords wait to be hashed, further ones are throttled', async (t) => {
  const asked = Array.from({ length: HASHES_WAITING * 2 }, () => verifyPassword(null, 'guess', undefined))
  const results = await Promise.allSettled(asked)
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
  t.true(refused.length > 0 && refused.length < HASHES_WAITING)
  for (const error of refused) {
    t.true(error instanceof Throttled)
    t.is(error.message, 'Request was throttled. Expected available in 1 second.')
  }
  t.false(await verifyPassword(null, 'guess', undefined))
})

test.serial('however many passwords of strangers wait, that of a trusted client is compared at once', async (t) => {
  let compared = 0
  const strangers = Array.from({ length: HASHES_WAITING }, async () => {
    await verifyPassword(null, 'guess', undefined)
    compared++
  })
  await strangers[0]
  t.false(await verifyPassword(null, 'guess', 'owner@example.test'))
  t.true(compared < HASHES_WAITING / 2, `${compared} before`)
  await Promise.all(strangers)
})

test.serial('however many passwords of other accounts wait, an account waits for one of each', async (t) => {
  let compared = 0
  const others = Array.from({ length: 3 * HASHES_WAITING }, async (_, i) => {
    await verifyPassword(null, 'guess', `other ${i % 3}`)
    compared++
  })
  await others[0]
  t.false(await verifyPassword(null, 'guess', 'owner@example.test'))
  t.true(compared < 8, `${compared} before`)
  await Promise.all(others)
})
