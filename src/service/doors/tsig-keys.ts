import { randomBytes } from 'node:crypto'
import { Invalid, unlessNotFound } from '../../errors.ts'
import type { TransferKey } from '../../nameserver/nameserver.ts'
import * as store from '../../store/tokens/tsig-keys.ts'
import type { System } from '../../system.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { withToken } from '../tokens/tokens.ts'

export type TsigKey = TransferKey

/** The octets of a secret: as many as a hash of SHA-256 has (RFC 2104 §3). */
const SECRET_LENGTH = 32

/** Makes a new TSIG key for an API token; an earlier one ends. @throws NotFound, Denied; Invalid for a login */
export async function make(visit: Visit, id: string): Promise<TsigKey> {
  const { system, actor } = visit
  const secret = randomBytes(SECRET_LENGTH)
  await withToken(visit, id, async (trx, token) => {
    if (token.mfa !== null) throw Invalid.object('A login cannot have a TSIG key.')
    await store.put(trx, id, encrypt(system, secret, { table: 'tsig_keys', owner: id }))
    record(system, trx, 'token_changed', { account: actor.accountId, token: id, by: actor.tokenId })
  })
  return { name: `${id}.`, algorithm: 'hmac-sha256', secret: secret.toString('base64') }
}

/** Deletes the TSIG key of a token, if there is one. @throws Denied */
export async function remove(visit: Visit, id: string): Promise<void> {
  const { system, actor } = visit
  await withToken(visit, id, async (trx) => {
    if (await store.remove(trx, id))
      record(system, trx, 'token_changed', { account: actor.accountId, token: id, by: actor.tokenId })
  }).catch(unlessNotFound)
}

/** Returns the TSIG key of the token with this id, a UUID, if it has one. @throws Unavailable if no key of KEY_ENCRYPTION_KEYS fits */
export async function find(system: System, tokenId: string): Promise<{ id: string; secret: Buffer } | undefined> {
  const key = await store.find(system.db, tokenId)
  return key && { ...key, secret: decrypt(system, { table: 'tsig_keys', owner: tokenId, secret: key.secret }) }
}
