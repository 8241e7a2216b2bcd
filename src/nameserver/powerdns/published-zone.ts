import type { Name } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import { answerTime } from '../../limits.ts'
import { type PublishedZone, SCRATCH_ZONE, type Transfers } from '../nameserver.ts'
import { type Api, getZone, ifPresent, READING_TIME } from './api.ts'
import { listKeys, stateOf } from './cryptokeys.ts'
import { ownCdsOf, readMetadata } from './metadata.ts'
import { denialOf } from './nsec3.ts'
import { standard } from './spelling.ts'
import { areSet } from './transfers.ts'
import type { ZoneSettings } from './zone-settings.ts'

/**
 * Reads the whole zone; undefined if it does not exist.
 * @param settings those that `configured` requires
 * @throws NameserverFailure
 */
export async function readZone(
  api: Api,
  zone: Name,
  settings: ZoneSettings,
  transfers?: Transfers,
): Promise<PublishedZone | undefined> {
  const answer = await ifPresent(getZone(api, zone))
  if (answer === undefined) return undefined
  const metadata = (await ifPresent(readMetadata(api, zone))) ?? new Map<string, string[]>()
  const keys = ((await ifPresent(listKeys(api, zone))) ?? []).map(stateOf)
  const rrsets = answer.rrsets.map(({ name, type, ttl, records }) => {
    const subname = name.slice(0, -zone.length - 1)
    return { subname, type, ttl, records: records.map(({ content }) => standard(type, content)) }
  })
  // An import that arrived late repeats a key (powerdns.md §8).
  const repeatsKey = new Set(keys.map(({ dnskey }) => dnskey)).size < keys.length
  const hasSoa = rrsets.some(({ type }) => type === 'SOA')
  return {
    serial: hasSoa ? answer.serial : undefined,
    rectify: answer.api_rectify,
    // More than one key may be a key rollover by the operator; "incomplete" would delete the zone with its keys.
    complete: hasSoa && answer.dnssec && keys.some(({ active, published }) => active && published) && !repeatsKey,
    keys,
    configured:
      answer.soa_edit_api === '' &&
      settings.areTransferKeys(answer.master_tsig_key_ids ?? [], transfers) &&
      (transfers === undefined || (await areSet(api, metadata, transfers))),
    denial: denialOf(answer),
    ownCds: ownCdsOf(metadata),
    // Comments may stand without records.
    rrsets: rrsets.filter(({ type, records }) => type !== 'SOA' && records.length > 0),
  }
}

/** Reads the zone's SOA serial, 0 if it has no SOA; undefined if the zone does not exist. @throws NameserverFailure */
export async function readSerial(api: Api, zone: Name, limit = answerTime(0)): Promise<number | undefined> {
  // In the list, because there PowerDNS need not look at keys and settings.
  const answer = await api.call('GET', `/zones?zone=${encodeURIComponent(zone)}&dnssec=false`, limit)
  return (answer as { serial: number }[])[0]?.serial
}

/** Reads the serials of all zones. @throws NameserverFailure */
export async function readSerials(api: Api): Promise<Map<Name, number>> {
  const answer = await api.call('GET', '/zones?dnssec=false', READING_TIME)
  return new Map((answer as { name: Name; serial: number }[]).map(({ name, serial }) => [name, serial]))
}

/** Reports whether it answers from its database within so many milliseconds. */
export async function isAnswering(api: Api, limit: number): Promise<boolean> {
  return readSerial(api, SCRATCH_ZONE, limit).then(
    () => true,
    (error: unknown) => {
      if (error instanceof NameserverFailure) return false
      throw error
    },
  )
}
