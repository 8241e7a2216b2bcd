import test from 'ava'
import { isDomainName, isSubname, lowerCase, ownerLength, parseName } from '../../src/dns/names.ts'

const LABEL = 'a'.repeat(63)

test('subnames', (t) => {
  for (const good of ['', '*', 'a', '*.a', 'a.b', '_dmarc', '-', '*.a-b._c', '0', `${LABEL}.${LABEL}`]) {
    t.true(isSubname(good), good)
  }
  for (const bad of [
    'A',
    '@',
    '.',
    'a.',
    '.a',
    'a..b',
    '**',
    'a.*',
    '*a',
    '*.',
    '*.*',
    'a b',
    'a\n',
    'ü',
    `${LABEL}a`,
  ]) {
    t.false(isSubname(bad), bad)
  }
})

test('domain names', (t) => {
  for (const good of ['a', 'a.b', 'A.b', '_a.b', '-.-', '10.in-addr.arpa', `${LABEL}.${LABEL}`]) {
    t.true(isDomainName(good), good)
  }
  for (const bad of ['', '.', 'a.', '.a', 'a..b', '*.a', 'a._b', '_', 'a b', 'a\n', 'ü', 'ſ', '\u212a', `${LABEL}a`]) {
    t.false(isDomainName(bad), bad)
  }
})

test('the length of an owner name is that of its wire form', (t) => {
  for (const name of ['.', 'example.', '*._a.example.', `${LABEL}.${LABEL}.`]) {
    t.is(ownerLength(name), parseName(name).length)
  }
})

test('only ASCII letters are folded', (t) => {
  t.is(lowerCase('AZaz[\xc0\xdf'), 'azaz[\xc0\xdf')
})
