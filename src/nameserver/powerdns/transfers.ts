import { isDeepStrictEqual } from 'node:util'
import { absolute, type Name } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import { answerTime } from '../../limits.ts'
import type { Lease, TransferKey, Transfers } from '../nameserver.ts'
import { type Api, ifPresent } from './api.ts'
import { type Metadata, setMetadata } from './metadata.ts'

// The permissions to transfer a zone. PowerDNS remembers them for a minute (`domain-metadata-cache-ttl`).

/** The kind of the metadata with the addresses and networks that need no key. */
const ALLOWED = 'ALLOW-AXFR-FROM'

interface KeyAnswer {
  algorithm: string
  key: string
}

/** Returns PowerDNS' name for the key in lists of the keys of a zone. */
export function idOf({ name }: TransferKey): string {
  return absolute(name)
}

/** Makes the key at PowerDNS equal to this one. @throws NameserverFailure */
export async function ensureKey(api: Api, key: TransferKey): Promise<void> {
  const { name, algorithm, secret } = key
  const path = pathOf(name)
  const there = (await ifPresent(api.call('GET', path, answerTime(0)))) as KeyAnswer | undefined
  if (there !== undefined && isKey(there, key)) return
  // A PUT with another algorithm is answered, but changes nothing (LMDB of 4.7).
  if (there !== undefined) await removeKey(api, name)
  const body = JSON.stringify({ name, algorithm, key: secret })
  // Another process may make it at the same time.
  await api.call('POST', '/tsigkeys', answerTime(0), body).catch((error: unknown) => {
    if (!(error instanceof NameserverFailure) || error.kind !== 'conflict') throw error
  })
}

/** Removes a key, if it exists. @throws NameserverFailure */
export async function removeKey(api: Api, name: string): Promise<void> {
  await ifPresent(api.call('DELETE', pathOf(name), answerTime(0)))
}

/** Lets these addresses and networks transfer the zone without a key. @throws NameserverFailure */
export async function allow(api: Api, zone: Name, addresses: string[], lease: Lease): Promise<void> {
  await setMetadata(api, zone, ALLOWED, addresses, lease)
}

/** Reports whether the zone has these addresses, and its own key this secret. @throws NameserverFailure */
export async function areSet(api: Api, metadata: Metadata, { addresses, key }: Transfers): Promise<boolean> {
  const own = key && (await ifPresent(api.call('GET', pathOf(key.name), answerTime(0))))
  const allowed = metadata.get(ALLOWED) ?? []
  const hasSecret = key === undefined || (own !== undefined && isKey(own as KeyAnswer, key))
  return hasSecret && isDeepStrictEqual([...allowed].sort(), [...addresses].sort())
}

function isKey(there: KeyAnswer, { algorithm, secret }: TransferKey): boolean {
  return there.algorithm === algorithm && there.key === secret
}

function pathOf(name: string): string {
  return `/tsigkeys/${encodeURIComponent(absolute(name))}`
}
