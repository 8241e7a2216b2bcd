import { type Db, one } from '../database.ts'

/** Returns the SQL of the condition that MFA is enabled for an account (contract §12). @param id SQL of the account's id */
export function mfaEnabled(id: string): string {
  return `(exists (
      select from totp_factors factor where factor.account_id = ${id} and factor.last_used is not null
    ) or exists (select from passkeys passkey where passkey.account_id = ${id}))`
}

/** Counts the second factors of an account: MFA is enabled if there is any. */
export async function count(db: Db, id: string): Promise<number> {
  const { n } = await one<{ n: number }>(
    db,
    `select (select count(*) from totp_factors where account_id = :id and last_used is not null)
       + (select count(*) from passkeys where account_id = :id) as n`,
    { id },
  )
  return n
}
