import type { Place } from './rrset.ts'

/** Sorts places in DNS order (RFC 4034 §6.1), the apex first, and those of one name by type. Returns a new array. */
export function inOrder<T extends Place>(places: Iterable<T>): T[] {
  return Array.from(places, (place) => ({ place, key: sortKey(place) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ place }) => place)
}

/** A text that sorts as the place does: labels from the right, a parent before its children. Subnames are in lower case. */
function sortKey({ subname, type }: Place): string {
  return `${subname.split('.').reverse().join('\u0001')}\0${type}`
}
