import type { TransferKey, Transfers } from '../../nameserver/nameserver.ts'
import { transaction, type Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as store from '../../store/domains/transfers.ts'
import type { StoredTransfers } from '../../store/domains/transfers.ts'
import type { System } from '../../system.ts'
import { decrypt, encrypt } from './encryption.ts'

// Who may transfer zones, as their accounts have said, and the secrets of the zones' own keys.

/** What the nameserver is to be told of a domain; undefined: nothing. @throws Unavailable */
export async function transfersOf(
  system: System,
  db: Db,
  domain: Pick<Domain, 'id' | 'name'>,
): Promise<Transfers | undefined> {
  const stored = await store.ofDomain(db, domain.id)
  return stored && openTransfers(system, domain, stored)
}

/** What the nameserver is to be told. @throws Unavailable if no key of KEY_ENCRYPTION_KEYS fits */
export function openTransfers(
  system: System,
  domain: Pick<Domain, 'id' | 'name'>,
  { addresses, secret }: StoredTransfers,
): Transfers {
  return { addresses, key: secret === null ? undefined : keyOf(domain, decrypt(system, secret, ownerOf(domain.name))) }
}

/** The name of a zone's own key: it has only one at a time. */
export function keyNameOf({ id }: Pick<Domain, 'id'>): string {
  return `domain-${id}`
}

export function keyOf(domain: Pick<Domain, 'id'>, secret: Buffer): TransferKey {
  return { name: keyNameOf(domain), algorithm: 'hmac-sha256', secret: secret.toString('base64') }
}

/** Encrypts the secret of a zone's key for the database. */
export function encryptSecret(system: System, name: string, secret: Buffer): Buffer {
  return encrypt(system, secret, ownerOf(name))
}

/** Encrypts all secrets with the current key of KEY_ENCRYPTION_KEYS, and returns how many there are. @throws Unavailable */
export async function encryptTransfersAgain(system: System): Promise<number> {
  return transaction(system.db, async (trx) => {
    const all = await store.lockSecrets(trx)
    const changed = all.map(({ domainId, domain, secret }) => {
      return { domainId, secret: encryptSecret(system, domain, decrypt(system, secret, ownerOf(domain))) }
    })
    await store.setSecrets(trx, changed)
    return all.length
  })
}

function ownerOf(name: string): string {
  return `transfer key of ${name}`
}
