import { nameOf, relative, withoutDot } from '../../src/dns/names.ts'
import { type RRset, shownName } from './rrset.ts'

type Test = (rrset: RRset) => boolean

/**
 * Returns the test for a filter: words, which all have to match. `type:a` is this type, `ttl<300` compares, `name:a` is part of
 * the name; any other word is part of the name, the type or a record. A name is also found by all of it, with the domain.
 */
export function filterOf(text: string, domain: string): Test {
  const tests = text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => testOf(word, domain))
  return (rrset) => tests.every((test) => test(rrset))
}

function testOf(word: string, domain: string): Test {
  const [, type] = /^type:(.+)$/.exec(word) ?? []
  if (type !== undefined) return (rrset) => rrset.type.toLowerCase() === type
  const [, signs, text] = /^ttl([<>]=?|=)([0-9]+)$/.exec(word) ?? []
  const seconds = Number(text)
  if (signs !== undefined) return ({ ttl }) => signs.includes(ttl < seconds ? '<' : ttl > seconds ? '>' : '=')
  const [, name = word] = /^name:(.+)$/.exec(word) ?? []
  return ({ subname, type, records }) =>
    withoutDot(name) === relative(nameOf({ name: domain }, subname)) ||
    shownName(subname).includes(name) ||
    (name === word && [type, ...records].some((part) => part.toLowerCase().includes(word)))
}
