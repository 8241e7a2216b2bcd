import test from 'ava'
import { randomBytes } from 'node:crypto'
import { Unavailable } from '../../src/errors.ts'
import { decrypt, encrypt } from '../../src/service/secrets/encryption.ts'
import type { System } from '../../src/system.ts'

const [OLD, NEW] = [randomBytes(32), randomBytes(32)]
const SECRET = Buffer.from('JBSWY3DPEHPK3PXP')

/** The part of a system that encryption needs. */
function withKeys(...keyEncryptionKeys: Buffer[]): System {
  return { config: { keyEncryptionKeys } } as unknown as System
}

/** The second factor with this id, or its secret. */
const factor = (owner: string) => ({ table: 'totp_factors', owner }) as const
const secretOf = (owner: string, secret: Buffer) => ({ ...factor(owner), secret })

test('a secret is decrypted with its key and owner, and with nothing else', (t) => {
  const stored = encrypt(withKeys(OLD), SECRET, factor('1'))
  t.deepEqual(decrypt(withKeys(OLD), secretOf('1', stored)), SECRET)
  t.throws(() => decrypt(withKeys(OLD), secretOf('2', stored)), {
    instanceOf: Unavailable,
    message: 'no key of KEY_ENCRYPTION_KEYS decrypts the secret of TOTP factor 2',
  })
  t.throws(() => decrypt(withKeys(NEW), secretOf('1', stored)), { instanceOf: Unavailable })
  t.throws(() => decrypt(withKeys(), secretOf('1', stored)), { instanceOf: Unavailable })
})

test('the first key encrypts, all decrypt', (t) => {
  const before = encrypt(withKeys(OLD), SECRET, factor('x'))
  const after = encrypt(withKeys(NEW, OLD), SECRET, factor('x'))
  for (const stored of [before, after]) t.deepEqual(decrypt(withKeys(NEW, OLD), secretOf('x', stored)), SECRET)
  t.deepEqual(decrypt(withKeys(NEW), secretOf('x', after)), SECRET)
  t.throws(() => decrypt(withKeys(OLD), secretOf('x', after)), { instanceOf: Unavailable })
})

test('two ciphertexts of a secret differ, and show nothing of it', (t) => {
  const [one, other] = [encrypt(withKeys(OLD), SECRET, factor('x')), encrypt(withKeys(OLD), SECRET, factor('x'))]
  t.notDeepEqual(one.subarray(0, 12), other.subarray(0, 12))
  t.notDeepEqual(one.subarray(28), other.subarray(28))
  t.false(one.includes(SECRET.subarray(0, 4)))
})

test('a ciphertext with any octet changed, added or cut off is refused', (t) => {
  const stored = encrypt(withKeys(OLD), SECRET, factor('x'))
  const changed = Array.from(stored, (octet, i) => Buffer.from(stored).fill(octet ^ 1, i, i + 1))
  const cut = Array.from(stored, (_, i) => stored.subarray(0, i))
  for (const wrong of [...changed, ...cut, Buffer.concat([stored, Buffer.alloc(1)])]) {
    t.throws(() => decrypt(withKeys(OLD), secretOf('x', wrong)), { instanceOf: Unavailable })
  }
})
