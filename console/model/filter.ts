import { shownName, type RRset } from './rrset.ts'

type Test = (rrset: RRset) => boolean

const COMPARISONS: Record<string, (one: number, other: number) => boolean> = {
  '<': (one, other) => one < other,
  '>': (one, other) => one > other,
  '<=': (one, other) => one <= other,
  '>=': (one, other) => one >= other,
  '=': (one, other) => one === other,
}

/**
 * Returns the test for a filter: words, which all have to match. `type:a` is this type, `ttl<300` compares; any other word is
 * part of the name, the type or a record.
 */
export function filterOf(text: string): Test {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(testOf)
  return (rrset) => tests.every((test) => test(rrset))
}

function testOf(word: string): Test {
  const [, type] = /^type:(.+)$/.exec(word) ?? []
  if (type !== undefined) return (rrset) => rrset.type.toLowerCase() === type
  const [, sign, seconds] = /^ttl([<>]=?|=)([0-9]+)$/.exec(word) ?? []
  if (sign !== undefined) return ({ ttl }) => COMPARISONS[sign]!(ttl, Number(seconds))
  return ({ subname, type, records }) =>
    [shownName(subname), type, ...records].some((part) => part.toLowerCase().includes(word))
}
