import { answerTime } from '../../limits.ts'
import type { Api } from './api.ts'
import type { FoundRRset, FoundZone } from '../nameserver.ts'
import { denialOf } from './nsec3.ts'
import { standard } from './spelling.ts'

interface ZoneAnswer {
  name: string
  kind: string
  account: string
  serial: number
  dnssec: boolean
  nsec3param: string
  nsec3narrow: boolean
  rrsets: {
    name: string
    type: string
    ttl: number
    records: { content: string; disabled: boolean }[]
    comments: unknown[]
  }[]
}

/** Reads a zone as its maker sees it. @param path of the zone @throws NameserverFailure, also of kind "absent" */
export async function survey(api: Api, path: string): Promise<FoundZone> {
  const [zone, metadata] = await Promise.all([
    api.call('GET', path, answerTime(100_000)) as Promise<ZoneAnswer>,
    api.call('GET', `${path}/metadata`, answerTime(0)) as Promise<{ kind: string; metadata: string[] }[]>,
  ])
  const kinds = metadata.map(({ kind }) => kind)
  const { name, kind, account, serial } = zone
  return {
    name,
    kind,
    account,
    serial,
    // PowerDNS 4.7 does not show it among the fields of the zone.
    presigned: kinds.includes('PRESIGNED'),
    denial: denialOf(zone),
    metadata: kinds,
    rrsets: zone.rrsets.map(foundRRset),
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
