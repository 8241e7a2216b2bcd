import { randomBytes } from 'node:crypto'
import { hashPassword } from '../../../src/service/accounts/passwords.ts'
import { query } from '../../../src/store/database.ts'
import type { System } from '../../../src/system.ts'
import type { TestService } from '../harness.ts'
import { shared, succeeded } from './api.ts'
import type { Answer } from './client.ts'
import { type Letter, lettersTo, letterTo } from './mails.ts'

export const PASSWORD = 'correct horse battery'

const hash = shared(() => hashPassword(PASSWORD, 'strangers'))

/** An account with a password. */
export interface Person {
  id: string
  email: string
  password: string
  /** The body of a login. */
  credentials: { email: string; password: string }
}

/** An e-mail address that is not in use. */
export function freshEmail(): string {
  return `${randomBytes(6).toString('hex')}@example.test`
}

/** Columns of an account. */
export interface AccountColumns {
  email?: string
  state?: 'pending' | 'active' | 'disabled'
  passwordHash?: string | null
  limitDomains?: number | null
}

/** A new row of `accounts`; resolves with its id. */
export async function insertAccount({ db, now }: System, columns: AccountColumns): Promise<string> {
  const { email = freshEmail(), state = 'active', passwordHash = null, limitDomains = null } = columns
  const [account] = await query<{ id: string }>(
    db,
    `insert into accounts (created, email, password_hash, state, limit_domains, credentials_changed)
     values (:now, :email, :passwordHash, :state, :limitDomains, :now) returning id`,
    { now: now(), email, passwordHash, state, limitDomains },
  )
  return account!.id
}

/** A new active account with a password, made without a sign-up. */
export async function person({ system }: TestService, columns: AccountColumns = {}): Promise<Person> {
  const { email = freshEmail(), passwordHash = await hash() } = columns
  const id = await insertAccount(system, { ...columns, email, passwordHash })
  return { id, email, password: PASSWORD, credentials: { email, password: PASSWORD } }
}

/** The link in a mail. */
export interface Link {
  /** Below /api/v1. */
  path: string
  url: string
  action: string
  code: string
}

const LINK = /\bhttps?:\/\/\S+\/api\/v1(\/v\/([a-z-]+)\/([^\s/]+)\/)/g

function hasLink({ text }: Letter): boolean {
  return text.search(LINK) !== -1
}

function linkIn({ text }: Letter): Link {
  const links = [...text.matchAll(LINK)]
  if (links.length !== 1) throw new Error(`not one link: ${text}`)
  const [url, path, action, code] = links[0] as unknown as string[]
  return { url: url!, path: path!, action: action!, code: code! }
}

/** The link in the latest mail to an address, once `count` have arrived. */
export async function linkTo(service: TestService, email: string, count = 1): Promise<Link> {
  return linkIn(await letterTo(service.system, email, count))
}

/** The links in all mails that have arrived at an address so far, oldest first; notices have none. */
export function linksTo({ system }: TestService, email: string): Link[] {
  return lettersTo(system, email).filter(hasLink).map(linkIn)
}

/** Requests a password reset, and returns the link in the mail. @param count mails to the address by then */
export async function resetLink(service: TestService, { email }: Person, count = 1): Promise<Link> {
  succeeded(await service.anonymous.post('/auth/account/reset-password/', { email }), 202)
  return linkTo(service, email, count)
}

export async function deletionLink(service: TestService, { email, credentials }: Person, count = 1): Promise<Link> {
  succeeded(await service.anonymous.post('/auth/account/delete/', credentials), 202)
  return linkTo(service, email, count)
}

/** Requests a change of the address, and returns the link in the mail. */
export async function emailChangeLink(service: TestService, { credentials }: Person, newEmail: string): Promise<Link> {
  succeeded(await service.anonymous.post('/auth/account/change-email/', { ...credentials, new_email: newEmail }), 202)
  return linkTo(service, newEmail)
}

/** Signs up, and returns the link to the activation. */
export async function activationLink(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<Link & Person> {
  const email = freshEmail()
  succeeded(await service.anonymous.post('/auth/', { email, password: PASSWORD, ...members }), 202)
  const { id } = (await accountOf(service, email))!
  const credentials = { email, password: PASSWORD }
  return { ...(await linkTo(service, email)), id, email, password: PASSWORD, credentials }
}

export async function accountOf({ system }: TestService, email: string) {
  const [account] = await query<{ id: string; email: string; state: string; passwordHash: string | null }>(
    system.db,
    'select id, email, state, password_hash as "passwordHash" from accounts where lower(email) = lower(:email)',
    { email },
  )
  return account
}

/** Whether a login with this password succeeds. */
export async function canLogIn({ anonymous }: TestService, email: string, password: string): Promise<boolean> {
  return (await anonymous.post('/auth/login/', { email, password })).status === 200
}

/** Status and body, to be compared at once. */
export function said({ status, text }: Answer): [number, string] {
  return [status, text]
}

export const OVERTAKEN = JSON.stringify({
  detail:
    'This action cannot be carried out because another operation has been performed, invalidating this one. (Are you ' +
    'trying to perform this action twice?)',
})
export const INVALID_CODE =
  '{"non_field_errors":["This code is invalid, possibly because it expired (validity: 12:00:00)."]}'
export const NO_USER = '{"user":["This user does not exist."]}'
