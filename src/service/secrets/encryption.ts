import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Unavailable } from '../../errors.ts'
import type { SecretTable } from '../../store/encrypted.ts'
import type { System } from '../../system.ts'

// Secrets that the service must be able to read again are encrypted in the database. A ciphertext consists of the
// nonce, the tag, and as many octets as the secret has.

/** NIST SP 800-38D; 2^32 random nonces of 96 bits are safe for one key. */
const ALGORITHM = 'aes-256-gcm'
const NONCE_LENGTH = 12
const TAG_LENGTH = 16

const KINDS: Record<SecretTable | 'sign_ins', string> = {
  totp_factors: 'TOTP factor',
  keys: 'zone',
  transfers: 'transfer key of',
  tsig_keys: 'TSIG key of token',
  webhook_secrets: 'secret of webhook',
  sign_ins: 'sign-in at',
}

/** The owner of a secret: a second factor, a token or a webhook by its id, a domain by its name, or of a browser's sign-in its issuer. */
interface Owner {
  table: keyof typeof KINDS
  owner: string
}

/**
 * Encrypts a secret with the first of KEY_ENCRYPTION_KEYS. It can be decrypted only for the same owner, so that an
 * attacker who writes to the database cannot give it to another one.
 */
export function encrypt({ config }: System, secret: Uint8Array, owner: Owner): Buffer {
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv(ALGORITHM, config.keyEncryptionKeys[0]!, nonce).setAAD(Buffer.from(nameOf(owner)))
  const encrypted = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
}

/** Decrypts a secret. @throws Unavailable if no key of KEY_ENCRYPTION_KEYS fits, or the ciphertext was changed */
export function decrypt({ config }: System, { secret: ciphertext, ...owner }: Owner & { secret: Buffer }): Buffer {
  for (const key of config.keyEncryptionKeys) {
    const secret = decryptWith(key, ciphertext, nameOf(owner))
    if (secret !== undefined) return secret
  }
  throw new Unavailable(`no key of KEY_ENCRYPTION_KEYS decrypts the secret of ${nameOf(owner)}`)
}

function nameOf({ table, owner }: Owner): string {
  return `${KINDS[table]} ${owner}`
}

function decryptWith(key: Buffer, ciphertext: Buffer, owner: string): Buffer | undefined {
  try {
    const nonce = ciphertext.subarray(0, NONCE_LENGTH)
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_LENGTH })
      .setAAD(Buffer.from(owner))
      .setAuthTag(ciphertext.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH))
    return Buffer.concat([decipher.update(ciphertext.subarray(NONCE_LENGTH + TAG_LENGTH)), decipher.final()])
  } catch {
    return undefined
  }
}
