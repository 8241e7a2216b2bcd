import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Network, overlap, parseNetwork } from '../../dns/addresses.ts'
import type { TransferKey } from '../../nameserver/nameserver.ts'
import type { Config } from '../../settings/config.ts'
import type { StoredTransfers } from '../../store/domains/transfers.ts'
import * as store from '../../store/domains/transfers.ts'
import type { Access } from '../actor.ts'
import { record } from '../events.ts'
import { encrypt } from '../secrets/encryption.ts'
import { openTransfers, tsigKey } from '../secrets/transfer-keys.ts'
import { policiesOn } from '../tokens/policies.ts'
import { openZone } from '../zone/opening.ts'
import { authoriseWhole } from './domains.ts'

export type { TransferKey }

/** The permissions to transfer a zone besides the operator's, as its account has set them (contract §15.7). */
export interface TransferSettings {
  /** Addresses and networks that need no key. */
  addresses: string[]
  /** The addresses that receive NOTIFY, a part of `addresses`. */
  notify: string[]
  /** True if the zone has a key of its own. */
  tsig: boolean
}

// What IANA's registries of special-purpose IPv4 and IPv6 addresses call not globally reachable, as of 2026-07-18. Inside
// of 192.0.0.0/24 and 2001::/23 the registries except some anycast addresses and identifiers, none of which can be a
// secondary's.
const networks = (...texts: string[]) => texts.map(parseNetwork)
const NOT_UNICAST = networks('0.0.0.0/8', '224.0.0.0/3', '::/128', '::ffff:0:0/96', 'ff00::/8')
const NOT_PUBLIC = networks(
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15'],
  // All except 2000::/3, and in it protocol assignments and the networks that lead to IPv4 addresses (RFC 3056 §2).
  ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2002::/16'],
)
// Examples have them, and here and there real machines.
const DOCUMENTATION = networks(
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ...['2001:db8::/32', '3fff::/20'],
)

/**
 * Returns the reason why these addresses are not allowed; undefined: they are. The service sends messages to them:
 * users must not use it to reach an address that they cannot reach themselves.
 */
export function addressProblem({ privateTransfers }: Config, network: Network): string | undefined {
  if (NOT_UNICAST.some((each) => overlap(each, network))) return 'Must be unicast addresses.'
  const isPrivate = NOT_PUBLIC.some((each) => overlap(each, network))
  return privateTransfers || !isPrivate ? undefined : 'Must be public addresses.'
}

/** Reports whether all addresses of a network are unicast ones that everybody can reach. */
export function isPublic(network: Network): boolean {
  return ![...NOT_UNICAST, ...NOT_PUBLIC, ...DOCUMENTATION].some((each) => overlap(each, network))
}

/** Reports whether the service may ask a nameserver at an address that strangers have published. */
export function mayAsk(config: Config, address: string): boolean {
  const network = parseNetwork(address)
  return config.privateTransfers ? addressProblem(config, network) === undefined : isPublic(network)
}

/** @throws Denied unless the actor may write the whole domain */
export async function get({ system, actor, domain }: Access): Promise<TransferSettings> {
  await authoriseWhole(system.db, domain, await policiesOn(system.db, actor, domain.id))
  return settingsOf(await store.storedTransfers(system.db, domain.id))
}

/**
 * Sets the permissions to transfer the zone. When it resolves, the nameserver has them; old ones may last a minute.
 * @returns also the key, if the zone has got one
 * @throws NotFound, Unauthenticated, Denied, Unavailable, NameserverFailure
 */
export async function set(
  access: Access,
  wanted: TransferSettings,
): Promise<{ settings: TransferSettings; key: TransferKey | undefined }> {
  await using zone = await openZone(access, [], { use: 'settings' })
  const { id, name } = zone.domain
  const { system, trx } = zone.publication
  const { accountId, tokenId } = access.actor
  await authoriseWhole(trx, zone.domain, zone.policies)
  const before = await store.storedTransfers(trx, id)
  if (isDeepStrictEqual(settingsOf(before), wanted)) return { settings: wanted, key: undefined }
  const had = before?.secret ?? null
  const made = wanted.tsig && had === null ? randomBytes(32) : undefined
  const secret = made === undefined ? had : encrypt(system, made, { table: 'transfers', owner: name })
  // If this transaction fails after the nameserver got the settings, repair must know that they are ours, and the next
  // key takes the place of this one.
  const keyName = before?.keyName ?? (await store.putNone(system.pools.marks, id))
  const { addresses, notify } = wanted
  const after = { addresses, notify, secret: wanted.tsig ? secret : null }
  await store.put(trx, id, after)
  // The history has no entry for it, and it outlives the token.
  record(system, trx, 'transfers_changed', { account: accountId, domain: name, by: tokenId })
  // New servers already receive NOTIFY for this change.
  zone.domain.notify = notify
  await zone.publishAgain(openTransfers(system, { name }, { ...after, keyName }))
  await zone.publication.commit()
  // A key that no longer belongs to any zone is harmless if it stays.
  if (had !== null && !wanted.tsig) await system.nameserver.removeTransferKey(keyName).catch(() => undefined)
  return { settings: wanted, key: made && tsigKey(keyName, made) }
}

function settingsOf(stored: StoredTransfers | undefined): TransferSettings {
  const { addresses, notify, secret } = stored ?? { addresses: [], notify: [], secret: null }
  return { addresses, notify, tsig: secret !== null }
}
