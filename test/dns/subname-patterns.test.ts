import test from 'ava'
import fc from 'fast-check'
import { isSubname } from '../../src/dns/names.ts'
import { patternLike, patternProblems, patternsFor, shapeOf } from '../../src/dns/subname-patterns.ts'

// Contract §§6.1 and 6.4.

const RULE =
  'Subname pattern can only use (lowercase) a-z, 0-9, ., -, and _, and as whole components * and **: at least one of ' +
  'them, ** at most once, and no * directly after it. Components may not exceed 63 characters.'
const LENGTH = 'Ensure this field has no more than 178 characters.'

const LONG = 'a'.repeat(63)

for (const pattern of [
  '*',
  '**',
  '*.dyn',
  '*.*',
  '*.**',
  'a.*',
  '_acme-challenge.**',
  '_acme-challenge.**.dyn',
  '*._domainkey.**',
  '**.a.*.b',
  `${LONG}.*`,
  `${'*.'.repeat(88)}**`,
]) {
  test(`${pattern} is a pattern`, (t) => {
    t.deepEqual(patternProblems(pattern), [])
  })
}

for (const pattern of [
  '',
  'www',
  '_acme-challenge.www',
  '**.*',
  'a.**.*.b',
  '**.**',
  '**.a.**',
  '***',
  'a*',
  '*a.b',
  '.*',
  '*.',
  '*..a',
  '@.*',
  '* .a',
  `${LONG}a.*`,
  'ä.*',
]) {
  test(`“${pattern}” is no pattern`, (t) => {
    t.deepEqual(patternProblems(pattern), [RULE])
  })
}

test('a pattern is in lower case and no longer than a subname', (t) => {
  t.deepEqual(patternProblems('A.*'), ['Invalid value (not lowercase): A.*', RULE])
  t.deepEqual(patternProblems(`${'*.'.repeat(89)}*`), [LENGTH])
  t.deepEqual(patternProblems('*'.repeat(1_000_000)), [LENGTH, RULE])
  t.deepEqual(patternProblems(`${'a.'.repeat(500_000)}**`), [LENGTH])
})

const LABEL = fc.constantFrom('a', 'b', '*', '**')
const PATTERN = fc
  .array(LABEL, { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'))
  .filter((pattern) => patternProblems(pattern).length === 0)

/**
 * All names of up to six labels: of two that patterns name, one that they do not, and that of a wildcard record. Two
 * patterns of four labels need six to differ: those left of a `**` and those right of one then are different labels.
 */
const NAMES = Array.from({ length: 6 }, (_, more) => more + 1)
  .flatMap((length) =>
    Array.from({ length: 4 ** length }, (_, code) =>
      Array.from({ length }, (_, i) => 'abc*'[Math.floor(code / 4 ** i) % 4]!).join('.'),
    ),
  )
  .filter((name) => isSubname(name))

const PATTERNS_FOR = new Map(NAMES.map((name) => [name, patternsFor(name)]))

/** Whether a pattern matches a name, by a regular expression made of its description in the contract. */
function matches(pattern: string, name: string): boolean {
  const labels = pattern.split('.').map((label) => {
    if (label === '*') return '[^.]+'
    return label === '**' ? String.raw`[^.]+(\.[^.]+)*` : label
  })
  return new RegExp(`^${labels.join(String.raw`\.`)}$`).test(name)
}

test('a pattern matches the names that the contract says, and never the apex', (t) => {
  fc.assert(
    fc.property(PATTERN, (pattern) => {
      for (const name of NAMES) {
        t.is(patternLike(pattern, name) === pattern, matches(pattern, name), name)
        if (matches(pattern, name)) t.true(PATTERNS_FOR.get(name)!.includes(pattern), name)
      }
      t.is(patternLike(pattern, ''), undefined)
    }),
    { numRuns: 300 },
  )
})

test('of each shape, the pattern that matches a name is known without the others', (t) => {
  fc.assert(
    fc.property(PATTERN, PATTERN, fc.constantFrom(...NAMES), (one, other, name) => {
      const like = patternLike(one, name)
      if (like !== undefined) t.deepEqual([shapeOf(like), matches(like, name)], [shapeOf(one), true])
      if (shapeOf(one) === shapeOf(other) && matches(other, name)) t.is(like, other)
    }),
    { numRuns: 5000 },
  )
})

test('different patterns that match one name have different shapes', (t) => {
  fc.assert(
    fc.property(PATTERN, PATTERN, (one, other) => {
      const both = NAMES.some((name) => matches(one, name) && matches(other, name))
      t.false(one !== other && both && shapeOf(one) === shapeOf(other))
    }),
    { numRuns: 2000 },
  )
})

test('a pattern that matches only a part of the names of another comes first, and no two match the same', (t) => {
  fc.assert(
    fc.property(PATTERN, PATTERN, (one, other) => {
      const [its, others] = [one, other].map((pattern) => NAMES.filter((name) => matches(pattern, name)))
      if (one !== other) t.notDeepEqual(its, others)
      if (one !== other && its!.every((name) => others!.includes(name)))
        t.true(shapeOf(one) < shapeOf(other), `${one} ${other}`)
    }),
    { numRuns: 2000 },
  )
})
