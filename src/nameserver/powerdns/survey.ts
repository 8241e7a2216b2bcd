import type { Name } from '../../dns/names.ts'
import type { FoundRRset, FoundZone } from '../nameserver.ts'
import { type Api, getZone, type ZoneAnswer } from './api.ts'
import { readMetadata } from './metadata.ts'
import { denialOf } from './nsec3.ts'
import { standard } from './spelling.ts'

/** Reads a zone as its maker sees it. @throws NameserverFailure, also of kind "absent" */
export async function survey(api: Api, zone: Name): Promise<FoundZone> {
  const [answer, metadata] = await Promise.all([getZone(api, zone), readMetadata(api, zone)])
  const kinds = [...metadata.keys()]
  const { kind, account, serial } = answer
  return {
    kind,
    account,
    serial,
    // PowerDNS 4.7 does not show it among the fields of the zone.
    presigned: kinds.includes('PRESIGNED'),
    denial: denialOf(answer),
    metadata: kinds,
    rrsets: answer.rrsets.map(foundRRset),
  }
}

function foundRRset({ name, type, ttl, records, comments }: ZoneAnswer['rrsets'][number]): FoundRRset {
  const served = records.filter(({ disabled }) => !disabled)
  return {
    name,
    type,
    ttl,
    records: served.map(({ content }) => standard(type, content)),
    disabled: records.length - served.length,
    comments: comments.length,
  }
}
