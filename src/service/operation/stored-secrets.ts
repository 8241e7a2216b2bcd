import { StartError, Unavailable } from '../../errors.ts'
import { transaction } from '../../store/database.ts'
import type { PlacedSecret, SecretTable, StoredSecret } from '../../store/encrypted.ts'
import * as store from '../../store/encrypted.ts'
import type { System } from '../../system.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'

// All secrets that the database has encrypted.

/** Encrypts all secrets with the current key of KEY_ENCRYPTION_KEYS, and returns their numbers. @throws Unavailable */
export async function encryptAgain(
  system: System,
): Promise<Record<'factors' | 'keys' | 'transferKeys' | 'tsigKeys' | 'webhookSecrets', number>> {
  return {
    factors: await encryptTable(system, 'totp_factors'),
    keys: await encryptTable(system, 'keys'),
    transferKeys: await encryptTable(system, 'transfers'),
    tsigKeys: await encryptTable(system, 'tsig_keys'),
    webhookSecrets: await encryptTable(system, 'webhook_secrets'),
  }
}

async function encryptTable(system: System, table: SecretTable): Promise<number> {
  let count = 0
  for (let last: string | number | null = null; ;) {
    const some: PlacedSecret[] = await transaction(system.db, async (trx) => {
      const locked = await store.lockSecrets(trx, table, last)
      const changed = locked.map((each) => ({ ...each, secret: encrypt(system, decrypt(system, each), each) }))
      await store.setSecrets(trx, table, changed)
      return locked
    })
    if (some.length === 0) return count
    count += some.length
    last = some.at(-1)!.id
  }
}

/**
 * Decrypts a few secrets, so that nothing is written with other keys than before.
 * @throws StartError if no key of KEY_ENCRYPTION_KEYS fits
 */
export async function requireDecryption(system: System): Promise<void> {
  requireDecryptionOf(system, await store.someSecrets(system.db))
}

/** Decrypts these secrets. @throws StartError if no key of KEY_ENCRYPTION_KEYS fits */
export function requireDecryptionOf(system: System, some: StoredSecret[]): void {
  try {
    for (const each of some) decrypt(system, each)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    throw new StartError(
      `${error.message}. Set the keys with which this database was used before; with a private Postgres, the key is in ` +
        'the file key-encryption-key of the data folder. Nothing was changed',
      { cause: error },
    )
  }
}
