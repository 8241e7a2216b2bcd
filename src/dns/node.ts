import { TYPES } from './types.ts'

/** An RRset at a subname: one in the database, or one at a position of the request. */
export interface Neighbour {
  source: number | 'database'
  type: string
}

/**
 * Returns the error text about RRsets that conflict with this type at a subname (contract §8.5, layer 4; §8.7, g).
 * @param neighbours all others there, without those that the same request deletes
 */
export function conflictProblem(type: string, neighbours: readonly Neighbour[]): string | undefined {
  const sources = new Map<number | 'database', Set<string>>()
  for (const neighbour of neighbours) {
    if (neighbour.type === type || !(isAlone(type) || isAlone(neighbour.type))) continue
    sources.set(neighbour.source, (sources.get(neighbour.source) ?? new Set()).add(neighbour.type))
  }
  if (sources.size === 0) return undefined
  // The positions of a request in order, the database last.
  const rank = (source: number | 'database') => (source === 'database' ? Infinity : source)
  const conflicts = [...sources]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([source, types]) => `${source} (${[...types].sort().join(', ')})`)
  return (
    `RRset with conflicting type present at same subname: ${conflicts.join(', ')}. ` +
    '(No other RRsets are allowed alongside CNAME.)'
  )
}

function isAlone(type: string): boolean {
  return TYPES.get(type)?.alone === true
}
