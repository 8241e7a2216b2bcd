import type { TransferKey, Transfers } from '../../nameserver/nameserver.ts'
import type { Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { StoredTransfers } from '../../store/domains/transfers.ts'
import * as store from '../../store/domains/transfers.ts'
import type { System } from '../../system.ts'
import { decrypt } from './encryption.ts'

// The permissions to transfer zones, as their accounts have set them, and the secrets of the zones' own keys.

/** Returns the permissions of a domain for the nameserver; undefined: none are set. @throws Unavailable */
export async function transfersOf(
  system: System,
  db: Db,
  domain: Pick<Domain, 'id' | 'name'>,
): Promise<Transfers | undefined> {
  const stored = await store.storedTransfers(db, domain.id)
  return stored && openTransfers(system, domain, stored)
}

/** Returns the permissions for the nameserver. @throws Unavailable if no key of KEY_ENCRYPTION_KEYS fits */
export function openTransfers(
  system: System,
  domain: Pick<Domain, 'name'>,
  { addresses, secret, keyName }: Omit<StoredTransfers, 'notify'>,
): Transfers {
  if (secret === null) return { addresses, key: undefined }
  return { addresses, key: tsigKey(keyName, decrypt(system, { table: 'transfers', owner: domain.name, secret })) }
}

export function tsigKey(name: string, secret: Buffer): TransferKey {
  return { name, algorithm: 'hmac-sha256', secret: secret.toString('base64') }
}
