import { NameserverFailure } from '../errors.ts'
import { answerTime } from '../limits.ts'
import { ifPresent, type Api } from './api.ts'

/** A TSIG key (RFC 8945): a name without final dot, e.g. `hmac-sha256`, and the secret in base64. */
export interface TransferKey {
  name: string
  algorithm: string
  secret: string
}

/** How PowerDNS calls the key, in lists of the keys of a zone. */
export function idOf({ name }: TransferKey): string {
  return `${name}.`
}

/** Makes the key at PowerDNS what it should be. @throws NameserverFailure */
export async function ensureKey(api: Api, key: TransferKey): Promise<void> {
  const { name, algorithm, secret } = key
  const path = `/tsigkeys/${encodeURIComponent(idOf(key))}`
  const there = (await ifPresent(api.call('GET', path, answerTime(0)))) as
    { algorithm: string; key: string } | undefined
  if (there?.algorithm === algorithm && there.key === secret) return
  // A PUT with another algorithm is answered, but changes nothing (LMDB of 4.7).
  if (there !== undefined) await ifPresent(api.call('DELETE', path, answerTime(0)))
  const body = JSON.stringify({ name, algorithm, key: secret })
  // Another process may make it at the same time.
  await api.call('POST', '/tsigkeys', answerTime(0), body).catch((error: unknown) => {
    if (!(error instanceof NameserverFailure) || error.kind !== 'conflict') throw error
  })
}
