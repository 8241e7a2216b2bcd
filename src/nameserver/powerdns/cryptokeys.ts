import type { Name } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import { answerTime } from '../../limits.ts'
import type { KeyState, Lease, SigningKey } from '../nameserver.ts'
import { type Api, ifPresent, zonePath } from './api.ts'

// The keys of a zone in PowerDNS' API (powerdns.md §2.7). Its answers about a single key have the private half.

interface KeyAnswer extends KeyState {
  id: number
}

export async function listKeys(api: Api, zone: Name): Promise<KeyAnswer[]> {
  return (await api.call('GET', `${zonePath(zone)}/cryptokeys`, answerTime(0))) as KeyAnswer[]
}

/** Exports all keys with their private halves; one request for each. */
export async function exportKeys(api: Api, zone: Name): Promise<SigningKey[]> {
  const listed = await listKeys(api, zone)
  const exported = listed.map(async ({ id }) => {
    const key = await api.call('GET', `${zonePath(zone)}/cryptokeys/${id}`, answerTime(0))
    return { ...stateOf(key as KeyAnswer), privateKey: (key as { privatekey: string }).privatekey }
  })
  return Promise.all(exported)
}

/** Adds a key. Its flags show whether it is only a zone-signing key, because PowerDNS says `csk` of many keys. */
export async function importKey(api: Api, zone: Name, key: SigningKey, lease: Lease): Promise<void> {
  const { dnskey, active, published, privateKey } = key
  const keytype = dnskey.startsWith('256 ') ? 'zsk' : 'ksk'
  const body = JSON.stringify({ keytype, active, published, privatekey: privateKey })
  const answer = (await api.call('POST', `${zonePath(zone)}/cryptokeys`, answerTime(0), body, lease)) as KeyAnswer
  if (answer.dnskey !== dnskey) {
    throw new NameserverFailure('failed', `PowerDNS makes another key of the private half of ${dnskey}`)
  }
}

/**
 * Adds the missing ones of these keys, sets the states of the others, and deletes those in `gone`. Keys that are to sign
 * come first, because a zone must never be without one. A KSK goes before the ZSK of its algorithm, whose signatures
 * caches may still have.
 */
export async function setKeys(api: Api, zone: Name, keys: SigningKey[], gone: string[], lease: Lease): Promise<void> {
  const listed = await listKeys(api, zone)
  const ordered = [...keys.filter(({ active }) => active), ...keys.filter(({ active }) => !active).sort(kskFirst)]
  for (const key of ordered) {
    const there = listed.find(({ dnskey }) => dnskey === key.dnskey)
    const { active, published } = key
    if (there === undefined) await importKey(api, zone, key, lease)
    else if (there.active !== active || there.published !== published) {
      const path = `${zonePath(zone)}/cryptokeys/${there.id}`
      // Without `published`, PowerDNS publishes the key.
      await api.call('PUT', path, answerTime(0), JSON.stringify({ active, published }), lease)
    }
  }
  for (const { id } of listed.filter(({ dnskey }) => gone.includes(dnskey)).sort(kskFirst))
    await ifPresent(api.call('DELETE', `${zonePath(zone)}/cryptokeys/${id}`, answerTime(0), undefined, lease))
}

/** Sorts by the flags, with which the text of a DNSKEY begins: 257, then 256. */
function kskFirst(one: { dnskey: string }, other: { dnskey: string }): number {
  return Number.parseInt(other.dnskey) - Number.parseInt(one.dnskey)
}

export function stateOf({ dnskey, active, published }: KeyAnswer): KeyState {
  return { dnskey, active, published }
}
