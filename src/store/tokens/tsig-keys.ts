import { type Db, maybeOne, query } from '../database.ts'

/** Returns a token's TSIG key, with its encrypted secret, if it has one. */
export async function find(db: Db, tokenId: string): Promise<{ id: string; secret: Buffer } | undefined> {
  return maybeOne(db, 'select id, secret from tsig_keys where token_id = :tokenId', { tokenId })
}

/** Stores the encrypted secret of a token's key, in place of that of an earlier key. */
export async function put(trx: Db, tokenId: string, secret: Buffer): Promise<void> {
  const sql = `insert into tsig_keys (token_id, secret) values (:tokenId, :secret)
    on conflict (token_id) do update set id = excluded.id, secret = excluded.secret`
  await query(trx, sql, { tokenId, secret })
}

/** Deletes the key of a token. Returns true if it had one. */
export async function remove(trx: Db, tokenId: string): Promise<boolean> {
  const sql = 'delete from tsig_keys where token_id = :tokenId returning token_id'
  return (await query(trx, sql, { tokenId })).length > 0
}
