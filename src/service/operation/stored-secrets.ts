import { StartError, Unavailable } from '../../errors.ts'
import * as keys from '../../store/domains/keys.ts'
import * as factors from '../../store/accounts/totp-factors.ts'
import type { System } from '../../system.ts'
import { decryptSecret, encryptFactorsAgain } from '../accounts/second-factor.ts'
import { encryptTransfersAgain } from '../secrets/transfer-keys.ts'
import { encryptKeysAgain, secretOf } from '../secrets/signing-keys.ts'

// All secrets that the database has encrypted.

/** Encrypts them with the current key of KEY_ENCRYPTION_KEYS, and returns how many there are. @throws Unavailable */
export async function encryptAgain(system: System): Promise<Record<'factors' | 'keys' | 'transferKeys', number>> {
  return {
    factors: await encryptFactorsAgain(system),
    keys: await encryptKeysAgain(system),
    transferKeys: await encryptTransfersAgain(system),
  }
}

/**
 * Decrypts a few of them, so that nothing is written with other keys than before.
 * @throws StartError if no key of KEY_ENCRYPTION_KEYS fits
 */
export async function requireDecryption(system: System): Promise<void> {
  const [ends, factor] = await Promise.all([keys.ends(system.db), factors.newest(system.db)])
  requireDecryptionOf(system, ends, factor)
}

/** Decrypts these. @throws StartError if no key of KEY_ENCRYPTION_KEYS fits */
export function requireDecryptionOf(
  system: System,
  some: keys.OwnedKey[],
  factor: Pick<factors.Verifiable, 'id' | 'secret'> | undefined,
): void {
  try {
    for (const key of some) secretOf(system, key)
    if (factor !== undefined) decryptSecret(system, factor)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    throw new StartError(
      `${error.message}. Set the keys with which this database was used before; with a private Postgres, the key is in ` +
        'the file key-encryption-key of the data folder. Nothing was changed',
      { cause: error },
    )
  }
}
