import { counted, type RRset } from './rrset.ts'

/** The greatest TTL (contract §8.4): so long can caches keep anything. */
export const MAX_TTL = 86_400
/** The TTL of a zone without any. */
const DEFAULT = 3600

/** What a form offers, in seconds. */
export const USUAL_TTLS = [60, 300, 3600, 14_400, 86_400]

/** The TTL that most RRsets have, but at least the minimum: what a new one begins with. */
export function usualTtl(rrsets: Iterable<RRset>, minimum: number): number {
  const counts = new Map<number, number>()
  for (const { ttl } of rrsets) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  const [usual = DEFAULT] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? []
  return Math.max(usual, minimum)
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** A TTL as people say it: `1 hour`, `90 minutes`. @param ttl 0: none is given, so that the service takes the least one */
export function ttlWords(ttl: number): string {
  if (ttl === 0) return 'the shortest allowed'
  const [length, unit] = UNITS.find(([each]) => ttl % each === 0 && ttl >= each) ?? [1, 'second']
  return counted(ttl / length, unit)
}

/** A time that something can last at most, as people say it: not shorter, and with two figures or so. */
export function atMost(seconds: number): string {
  const [unit] = UNITS.find(([each]) => seconds >= 2 * each) ?? [1]
  return ttlWords(Math.ceil(seconds / unit) * unit)
}

/** The seconds that somebody typed: `300`, `5m`, `1 hour`; NaN if they are none. */
export function typedTtl(typed: string): number {
  const [, digits, letter = 's'] =
    /^(\d+)\s*(?:([smhd])(?:in|econds?|inutes?|ours?|ays?)?)?$/.exec(typed.trim().toLowerCase()) ?? []
  return Number(digits) * UNITS.find(([, unit]) => unit.startsWith(letter))![0]
}

/** What is wrong with a typed TTL; undefined if nothing is. */
export function ttlProblem(typed: string, minimum: number): string | undefined {
  const ttl = typedTtl(typed)
  return ttl >= minimum && ttl <= MAX_TTL
    ? undefined
    : `From ${ttlWords(minimum)} to 1 day, in seconds or such as 5m, 1h.`
}
