import type { Config } from '../../config.ts'
import { limitExceeded } from '../../errors.ts'
import { RRSETS_MAX } from '../../limits.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Growth, RRsetState } from '../../store/zone/rrsets.ts'
import type { Step } from './journal.ts'

/** Returns the number of the RRsets, and the octets of their records, which are ASCII. */
export function sizeOf(rrsets: Pick<RRsetState, 'records'>[]): Growth {
  let octets = 0
  for (const { records } of rrsets) for (const { length } of records) octets += length
  return { rrsets: rrsets.length, octets }
}

/** Returns what a domain gains by these changes. */
export function growthOf(changes: Pick<Step, 'before' | 'after'>[]): Growth {
  const lost = sizeOf(changes.flatMap(({ before }) => before ?? []))
  const gained = sizeOf(changes.flatMap(({ after }) => after ?? []))
  return { rrsets: gained.rrsets - lost.rrsets, octets: gained.octets - lost.octets }
}

/** @throws Denied if the domain grows beyond its limits (contract §8.6); one that is beyond them may still shrink */
export function refuseTooLarge(
  { limitOctets }: Pick<Config, 'limitOctets'>,
  { size, octets }: Pick<Domain, 'size' | 'octets'>,
  growth: Growth,
): void {
  if (growth.rrsets > 0 && size + growth.rrsets > RRSETS_MAX) throw limitExceeded('a domain', RRSETS_MAX, 'RRsets')
  if (growth.octets > 0 && octets + growth.octets > limitOctets)
    throw limitExceeded('a domain', limitOctets, 'octets of records')
}
