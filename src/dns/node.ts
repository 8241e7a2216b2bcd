import { TYPES } from './types.ts'

/** An RRset at a subname: one in the database, or one at a position of the request. */
export interface Neighbour {
  place: number | 'database'
  type: string
}

/**
 * The text about RRsets that conflict with one of this type at the same subname (contract §8.5, layer 4; §8.7, g).
 * @param neighbours all others there, without those that the same request deletes
 */
export function conflictProblem(type: string, neighbours: readonly Neighbour[]): string | undefined {
  const places = new Map<number | 'database', Set<string>>()
  for (const neighbour of neighbours) {
    if (neighbour.type === type || !(isAlone(type) || isAlone(neighbour.type))) continue
    places.set(neighbour.place, (places.get(neighbour.place) ?? new Set()).add(neighbour.type))
  }
  if (places.size === 0) return undefined
  const conflicts = [...places]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([place, types]) => `${place} (${[...types].sort().join(', ')})`)
  return (
    `RRset with conflicting type present at same subname: ${conflicts.join(', ')}. ` +
    '(No other RRsets are allowed alongside CNAME.)'
  )
}

function isAlone(type: string): boolean {
  return TYPES.get(type)?.alone === true
}

/** Positions in order, the database last. */
function rank(place: number | 'database'): number {
  return place === 'database' ? Infinity : place
}
