import test from 'ava'
import { base32, codeAt, matchingStep, stepAt } from '../../src/service/accounts/totp-codes.ts'

/** RFC 6238, appendix B, SHA-1: the time in seconds and the code, of eight digits; ours are its last six. */
const RFC_6238 = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
] as const

const SECRET = Buffer.from('12345678901234567890')

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('Z', '000Z')
}

for (const [seconds, code] of RFC_6238) {
  test(`the code at ${seconds} s is that of RFC 6238`, (t) => {
    t.is(codeAt(SECRET, stepAt(timeOf(seconds))), code.slice(2))
  })
}

test('a code matches in its own step, the one before and the one after', (t) => {
  const code = codeAt(SECRET, 37_037_036)
  const steps = [-2, -1, 0, 1, 2].map((offset) => {
    const [first, last] = [0, 29.999].map((second) => timeOf((37_037_036 + offset) * 30 + second))
    t.is(matchingStep(SECRET, code, first!, null), matchingStep(SECRET, code, last!, null))
    return matchingStep(SECRET, code, first!, null)
  })
  t.deepEqual(steps, [undefined, 37_037_036, 37_037_036, 37_037_036, undefined])
})

test('a code of the last used step or an earlier one does not match', (t) => {
  const now = timeOf(1111111111)
  const current = stepAt(now)
  for (const step of [current - 1, current, current + 1]) {
    const code = codeAt(SECRET, step)
    t.is(matchingStep(SECRET, code, now, step - 1), step)
    t.is(matchingStep(SECRET, code, now, step), undefined)
  }
})

for (const code of ['', '1', '0504711', '05047', '05047一', ' 050471']) {
  test(`${JSON.stringify(code)} matches nothing`, (t) => {
    t.is(matchingStep(SECRET, code, timeOf(1111111111), null), undefined)
  })
}

/** RFC 4648 §10, without padding. */
for (const [text, encoded] of [
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
] as const) {
  test(`${text} is ${encoded} in base32`, (t) => {
    t.is(base32(Buffer.from(text)), encoded)
  })
}
