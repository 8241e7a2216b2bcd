import { answerTime } from '../../limits.ts'
import type { Endpoint } from '../wire/client.ts'
import type { Api } from './api.ts'
import { endpointsOf } from './own-dns.ts'
import { NEWEST_SPELLING, NEWEST_VERSION, type Spelling, spellingOf } from './spelling.ts'

/** The meaning of the version and the settings of a PowerDNS for us. */
export interface Traits {
  spelling: Spelling
  /** True if it keeps names and the NSEC3 hashes of names under the same keys (powerdns.md §1.5). */
  confusesHashes: boolean
  /** True if it stores a changed RRset without the notes of rectifying about it (powerdns.md §1.3). */
  forgetsOrder: boolean
  /** The endpoints at which it may answer queries with its present data. */
  endpoints: Endpoint[]
  /** The warnings for the operator. */
  warnings: string[]
}

const NO_DNAME =
  'without the setting dname-processing=yes, it denies the names below a DNAME, with proofs that resolvers refuse'

/** The caches that can have what another PowerDNS with the same data has replaced. */
const CACHES = ['cache-ttl', 'query-cache-ttl', 'negquery-cache-ttl', 'zone-cache-refresh-interval']

export interface TraitsOptions {
  /** Of the API. */
  url: string
  /** True if other PowerDNS have the same data. */
  hasPeers?: boolean
}

/** Reads version and settings. @throws NameserverFailure */
export async function readTraits(api: Api, { url, hasPeers }: TraitsOptions): Promise<Traits> {
  const { version } = (await api.call('GET', '', answerTime(0))) as { version: string }
  const settings = (await api.call('GET', '/config', answerTime(0))) as { name: string; value: string }[]
  const valueOf = (setting: string) => settings.find(({ name }) => name === setting)?.value ?? ''
  const spelling = spellingOf(version)
  const warnings = ['no', 'off'].includes(valueOf('dname-processing')) ? [NO_DNAME] : []
  const caches = hasPeers ? CACHES.filter((cache) => !['', '0'].includes(valueOf(cache))) : []
  if (caches.length > 0)
    warnings.push(`beside others with the same data, it needs ${caches.map((cache) => `${cache}=0`).join(', ')}`)
  if (spelling === undefined) {
    warnings.push(`its version ${version} is not known: it gets contents as ${NEWEST_VERSION}, and may refuse some`)
  }
  return {
    spelling: spelling ?? NEWEST_SPELLING,
    // `launch` is a list of backends, which may have names: `bind,lmdb:zones`.
    forgetsOrder: !valueOf('launch')
      .split(',')
      .every((backend) => /^\s*lmdb(:|\s*$)/.test(backend)),
    confusesHashes: /^[1-4]\./.test(version) && valueOf('launch').includes('lmdb'),
    endpoints: await endpointsOf(valueOf, url),
    warnings,
  }
}
