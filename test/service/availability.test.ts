import test from 'ava'
import fc from 'fast-check'
import { parentAmong, withAncestors } from '../../src/dns/names.ts'
import { isAllowed, nameProblems, registrable, registrableAncestors } from '../../src/service/names/availability.ts'

/** A name, its registrable domain, and whether policy allows it; the rules are those of publicsuffix.org. */
const NAMES: [name: string, registrable: string, allowed: boolean][] = [
  ['com', 'com', false],
  ['co.uk', 'co.uk', false],
  ['example.com', 'example.com', true],
  ['a.b.example.com', 'example.com', true],
  ['example.co.uk', 'example.co.uk', true],
  // The private section.
  ['github.io', 'github.io', false],
  ['project.github.io', 'project.github.io', true],
  ['a.project.github.io', 'project.github.io', true],
  ['amazonaws.com', 'amazonaws.com', true],
  ['s3.amazonaws.com', 's3.amazonaws.com', false],
  // Wildcards and exceptions.
  ['ck', 'ck', false],
  ['anything.ck', 'anything.ck', false],
  ['a.anything.ck', 'a.anything.ck', true],
  ['www.ck', 'www.ck', true],
  ['a.www.ck', 'www.ck', true],
  ['kawasaki.jp', 'kawasaki.jp', false],
  ['b.kawasaki.jp', 'b.kawasaki.jp', false],
  ['city.kawasaki.jp', 'city.kawasaki.jp', true],
  // The default rule: any other last label.
  ['test', 'test', false],
  ['localhost', 'localhost', false],
  ['123', '123', false],
  ['a.test', 'a.test', true],
  ['a.b.lan', 'b.lan', true],
  ['1.2.3.4', '3.4', true],
  ['127.0.0.1', '0.1', true],
  ['a_b.test', 'a_b.test', true],
  ['a.b_c.test', 'b_c.test', true],
  ['-.test', '-.test', true],
  // Punycode: a suffix of the list, and a name below one.
  ['xn--p1ai', 'xn--p1ai', false],
  ['xn--80ak6aa92e.com', 'xn--80ak6aa92e.com', true],
  ['internal', 'internal', false],
  ['a.internal', 'a.internal', false],
  ['a.b.internal', 'b.internal', false],
  ['internal.test', 'internal.test', true],
  ['ainternal.test', 'ainternal.test', true],
  // Names that mail programs look up beside a domain.
  ['autoconfig.com', 'autoconfig.com', false],
  ['autodiscover.co.uk', 'autodiscover.co.uk', false],
  ['autoconfig.github.io', 'autoconfig.github.io', false],
  ['autodiscover.test', 'autodiscover.test', false],
  ['autodiscover.anything.ck', 'autodiscover.anything.ck', false],
  ['_dmarc.com', '_dmarc.com', false],
  ['_dmarc.example.com', 'example.com', true],
  ['autoconfig.example.com', 'example.com', true],
  ['a.autoconfig.com', 'autoconfig.com', true],
  ['autoconfiga.com', 'autoconfiga.com', true],
  ['aautoconfig.com', 'aautoconfig.com', true],
]

for (const [name, expected, allowed] of NAMES) {
  test(`${name} is ${allowed ? 'allowed' : 'not allowed'} by policy, and its registrable domain is ${expected}`, (t) => {
    t.is(isAllowed(name, []), allowed)
    if (!name.endsWith('internal')) t.is(registrable(name), expected)
  })
}

const LOCAL = ['dyn.example.com', 'co.uk', 'deep.dyn.example.com']

const BELOW_LOCAL: [name: string, conflicting: string[], allowed: boolean][] = [
  ['dyn.example.com', [], true],
  ['a.dyn.example.com', ['a.dyn.example.com'], true],
  ['b.a.dyn.example.com', ['b.a.dyn.example.com', 'a.dyn.example.com'], true],
  ['autoconfig.dyn.example.com', ['autoconfig.dyn.example.com'], false],
  ['_a.dyn.example.com', ['_a.dyn.example.com'], false],
  ['_a.b.dyn.example.com', ['_a.b.dyn.example.com', 'b.dyn.example.com'], true],
  ['deep.dyn.example.com', [], true],
  ['a.deep.dyn.example.com', ['a.deep.dyn.example.com'], true],
  ['adyn.example.com', ['adyn.example.com', 'example.com'], true],
  ['example.com', ['example.com'], true],
  ['co.uk', [], true],
  ['a.co.uk', ['a.co.uk'], true],
  ['uk', [], false],
]

for (const [name, conflicting, allowed] of BELOW_LOCAL) {
  test(`with local public suffixes, ${name} is ${allowed ? 'allowed' : 'not allowed'}`, (t) => {
    t.is(isAllowed(name, LOCAL), allowed)
    t.deepEqual(registrableAncestors(name, LOCAL), conflicting)
  })
}

test('a local public suffix delegates only its direct children', (t) => {
  t.is(parentAmong('a.dyn.example.com', LOCAL), 'dyn.example.com')
  t.is(parentAmong('deep.dyn.example.com', LOCAL), 'dyn.example.com')
  t.is(parentAmong('b.a.dyn.example.com', LOCAL), undefined)
  t.is(parentAmong('dyn.example.com', LOCAL), undefined)
  t.is(parentAmong('com', LOCAL), undefined)
})

const LABEL = fc.constantFrom('a', 'b1', '_c', 'com', 'co', 'uk', 'github', 'io', 'ck', 'test', 'kawasaki', 'jp')
const NAME = fc.array(LABEL, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'))

test('the ancestors of a name are all its suffixes, the longest first', (t) => {
  fc.assert(
    fc.property(NAME, (name) => {
      const all = withAncestors(name)
      t.is(all.length, name.split('.').length)
      t.is(all[0], name)
      t.true(all.every((suffix, i) => i === 0 || all[i - 1]!.replace(/^[^.]*\./, '') === suffix))
    }),
  )
})

test('a name can conflict with the names from itself to its registrable domain, and with no others', (t) => {
  fc.assert(
    fc.property(NAME, (name) => {
      const between = registrableAncestors(name, [])
      t.deepEqual(between, withAncestors(name).slice(0, between.length))
      t.is(between.at(-1) ?? name, registrable(name))
      t.is(registrable(registrable(name)), registrable(name))
    }),
  )
})

const NOT_LOWERCASE = 'Invalid value (not lowercase): '
const SYNTAX =
  'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
  'underscores. The last label may not contain an underscore.'
const UNDERSCORE = 'Domain names may not begin with an underscore.'
const TOO_LONG = 'Ensure this field has no more than 191 characters.'

test('a name gets an error for each check that it fails, in the order of contract 7.3', (t) => {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'A', '-', '_', '.', '7', 'Ü', ' ', '*', '@', '\n', '\u{1f600}') },
    fc.constantFrom('x'.repeat(63), 'y'.repeat(64), `${'z'.repeat(60)}.`.repeat(3)),
  )
  fc.assert(
    fc.property(fc.string({ unit: piece, minLength: 1 }), (name) => {
      const expected: string[] = []
      if (/\p{Lu}/u.test(name)) expected.push(NOT_LOWERCASE + name)
      const labels = name.split('.')
      const good = labels.every(
        (label) => /^[a-zA-Z0-9_-]+$/.test(label) && label.length <= 63 && !label.endsWith('\n'),
      )
      if (!good || labels.at(-1)!.includes('_')) expected.push(SYNTAX)
      if (name.startsWith('_')) expected.push(UNDERSCORE)
      if (Array.from(name).length > 191) expected.push(TOO_LONG)
      t.deepEqual(nameProblems(name), expected)
    }),
    { numRuns: 5000 },
  )
})
