import type { Place } from './rrset.ts'

/**
 * Sorts places in DNS order (RFC 4034 §6.1), but numbers by their size, the apex first, and those of one name by type.
 * Returns a new array.
 */
export function inOrder<T extends Place>(items: Iterable<T>, placeOf: (item: T) => Place = (item) => item): T[] {
  return Array.from(items, (item) => ({ item, key: sortKey(placeOf(item)) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ item }) => item)
}

/** A text that sorts as the place does: labels from the right, a parent before its children. Subnames are in lower case. */
function sortKey({ subname, type }: Place): string {
  const labels = subname.split('.').reverse().join('\u0001')
  // A number sorts by its length first. Leading zeros decide last.
  const natural = labels.replace(/0*(\d+)/g, (_, digits: string) => String.fromCharCode(0x2f + digits.length) + digits)
  return `${natural}\0${labels}\0${type}`
}
