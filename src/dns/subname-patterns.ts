import { lengthAndCaseProblems } from './names.ts'

// Patterns of subnames, as policies have them (contract §§6.1 and 6.4).

/** The rule of `patternProblems`, in the words of the contract. */
const RULE =
  'Subname pattern can only use (lowercase) a-z, 0-9, ., -, and _, and as whole components * and **: at least one of ' +
  'them, ** at most once, and no * directly after it. Components may not exceed 63 characters.'

const LITERAL = '0'
const ONE = '1'
const MANY = '2'

/** Returns the error texts about a pattern. */
export function patternProblems(pattern: string): string[] {
  const labels = pattern.split('.')
  const isEach = labels.every((label) => /^([a-z0-9_-]{1,63}|\*\*?)$/.test(label))
  // From the right.
  const isOrdered = /^0*1[01]*$|^([01]*0)?2[01]*$/.test(kindsOf(labels))
  return [...lengthAndCaseProblems(pattern), ...(isEach && isOrdered ? [] : [RULE])]
}

/** Returns what the labels are, from the right. */
function kindsOf(labels: string[]): string {
  const kinds = labels.map((label) => (label === '*' ? ONE : label === '**' ? MANY : LITERAL))
  return kinds.reverse().join('')
}

/**
 * Returns the shape of a pattern: where it has literal labels, `*` and `**`. Of the patterns that match a name, the one
 * whose shape comes first, as strings do, is the most specific one.
 *
 * No two of them have the same shape. A pattern without `**` has as many labels as the name, and one with it has each
 * label at a distance from the name's end, right of the `**`, or from its beginning. So the literal labels of a shape
 * are those of the name at the same places, and the pattern is the one that `patternLike` returns.
 *
 * A pattern that matches only a part of the names of another comes first. Take the first difference from the right. Where
 * both have one label, the other one's is `*`, or it would not match all names of the first. It cannot be that the first
 * has `**` there and the other a label: all of the other's labels from there up to its own `**` would be `*`, and the last
 * of them directly after it, or the other would have no `**` and match no long name. If both have `**` there, the first
 * has at least as many labels, because the other matches its shortest name.
 */
export function shapeOf(pattern: string): string {
  const kinds = kindsOf(pattern.split('.'))
  const end = kinds.indexOf(MANY) + 1
  // The more labels are left of the `**`, the lower is this number of two digits: a subname has 89 labels at most.
  return end === 0 ? kinds : `${kinds.slice(0, end)}${99 - kinds.slice(end).length}${kinds.slice(end)}`
}

/** Returns the only pattern of the same shape as this one that matches a subname; undefined if none does. */
export function patternLike(pattern: string, subname: string): string | undefined {
  const [labels, name] = [pattern.split('.'), subname === '' ? [] : subname.split('.')]
  const many = labels.indexOf('**')
  const more = name.length - labels.length
  if (many === -1 ? more !== 0 : more < 0) return undefined
  const like = labels.map((label, i) => {
    if (label === '*' || label === '**') return label
    // Left of the `**`, labels count from the beginning of the name, and right of it from the end.
    return name[i < many ? i : i + more]!
  })
  // The label of a wildcard record is no literal one. It can only be the first.
  return like[0] === labels[0] || like[0] !== '*' ? like.join('.') : undefined
}

/** Returns all patterns that match a subname; some of those that it returns no policy can have. For n labels about n·2ⁿ. */
export function patternsFor(subname: string): string[] {
  const labels = subname === '' ? [] : subname.split('.')
  const each = (part: string[]) =>
    part.reduce<string[][]>(
      (found, label) =>
        found.flatMap((left) => [
          [...left, label],
          [...left, '*'],
        ]),
      [[]],
    )
  const found = each(labels)
  labels.forEach((_, left) => {
    for (let right = labels.length - left - 1; right >= 0; right--) {
      const ends = each(labels.slice(labels.length - right))
      found.push(...each(labels.slice(0, left)).flatMap((start) => ends.map((end) => [...start, '**', ...end])))
    }
  })
  return found.map((pattern) => pattern.join('.'))
}
