import { isDeepStrictEqual } from 'node:util'
import type { Name } from '../../dns/names.ts'
import { answerTime } from '../../limits.ts'
import type { Lease } from '../nameserver.ts'
import { type Api, zonePath } from './api.ts'

// The metadata of a zone: settings that PowerDNS' API does not have among the fields of a zone.

/** The values by kind. */
export type Metadata = Map<string, string[]>

/** The digests of the CDS records that PowerDNS generates, and whether it generates CDNSKEY (powerdns.md §3). */
const PUBLISH_KINDS = ['PUBLISH-CDS', 'PUBLISH-CDNSKEY']

/** A single empty value: PowerDNS generates none. */
const NONE = ['']

export async function readMetadata(api: Api, zone: Name): Promise<Metadata> {
  const answer = await api.call('GET', `${zonePath(zone)}/metadata`, answerTime(0))
  return new Map((answer as { kind: string; metadata: string[] }[]).map(({ kind, metadata }) => [kind, metadata]))
}

/** Replaces the values of a kind; without values, PowerDNS' default holds. */
export async function setMetadata(api: Api, zone: Name, kind: string, values: string[], lease: Lease): Promise<void> {
  const body = JSON.stringify({ kind, metadata: values })
  await api.call('PUT', `${zonePath(zone)}/metadata/${kind}`, answerTime(0), body, lease)
}

/** Reports whether PowerDNS generates neither CDS nor CDNSKEY; undefined: only some of them, or others. */
export function ownCdsOf(metadata: Metadata): boolean | undefined {
  const values = PUBLISH_KINDS.map((kind) => metadata.get(kind) ?? [])
  if (values.every((each) => isDeepStrictEqual(each, NONE))) return true
  return values.every((each) => each.length === 0) ? false : undefined
}

export async function setOwnCds(api: Api, zone: Name, ownCds: boolean, lease: Lease): Promise<void> {
  for (const kind of PUBLISH_KINDS) await setMetadata(api, zone, kind, ownCds ? NONE : [], lease)
}
