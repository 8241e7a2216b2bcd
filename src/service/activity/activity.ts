import { isDomainName } from '../../dns/names.ts'
import { Holder } from '../../flow/budget.ts'
import { NAME_LENGTH, SEARCH_WORDS } from '../../limits.ts'
import { isConfined } from '../../store/domains/domains.ts'
import type { Activity, ActivityFilter } from '../../store/zone/activity.ts'
import * as store from '../../store/zone/activity.ts'
import type { NamedAuthor } from '../../store/zone/history.ts'
import type { Actor, Visit } from '../actor.ts'
import { isUuid } from '../ids.ts'
import { searchedText } from '../names/search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { groupOf, inSearchTurn } from '../throttling/callers.ts'

export type { Activity }

/** What happened in the domains of an account, as their histories have it. */
export const DOMAIN_TYPES = [
  'rrsets_changed',
  'domain_created',
  'domain_deleted',
  'domain_returned',
  'rollover',
] as const

/** What happened to an account; of its domains, what their histories do not have. */
export const ACCOUNT_TYPES = [
  ...['login_succeeded', 'login_failed', 'code_failed', 'mfa_passed'],
  ...['account_created', 'account_activated', 'account_changed', 'account_handed_over'],
  ...['address_changed', 'password_changed', 'factor_created', 'factor_activated', 'factor_deleted'],
  ...['identity_linked', 'identity_unlinked'],
  ...['member_invited', 'member_joined', 'member_changed', 'member_removed'],
  ...['token_created', 'token_changed', 'token_bound', 'token_deleted'],
  ...['policy_created', 'policy_changed', 'policy_deleted'],
  ...['transfers_changed', 'note_changed', 'domain_suspended', 'domain_resumed', 'domain_moved', 'delegation_changed'],
  ...['webhook_created', 'webhook_changed', 'webhook_deleted', 'webhook_disabled'],
]

/** How whoever did it came without a token; `parent`: a check at the parent found it. */
export const WAYS = ['password', 'passkey', 'sign-on', 'link', 'request', 'parent']

/** The texts of a request for entries; undefined: any. */
export interface Asked extends Omit<ActivityFilter, 'words'> {
  search?: string | undefined
}

/** Returns a page of the entries that match, newest first (contract §15.15). */
export async function list(visit: Visit, asked: Asked, cursor?: Cursor): Promise<Page<Activity>> {
  const { system, actor } = visit
  const filter = filterOf(actor, asked)
  if (filter === undefined) return EMPTY
  const seesAccount = mayReadAccount(actor)
  const read = () => store.page(system.db, actor, filter, seesAccount, cursor)
  const found = await (filter.words.length === 0 ? read() : inSearchTurn(visit, read))
  return { ...found, rows: found.rows.map((entry) => shownTo(actor, entry)) }
}

/** Counts the entries of the account, whether or not they match: to count those would look at all of them. */
export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, actor.accountId)
}

/**
 * Returns the entries that match, page by page, newest first. Few run at a time.
 * @param cursor where an earlier stream has ended; undefined: at the newest entry
 * @param breakOff ends it, because others wait and its client is slow (contract §1.8)
 * @throws Busy before the first page
 */
export async function* stream(
  visit: Visit,
  asked: Asked,
  cursor: Cursor | undefined,
  breakOff: () => void,
): AsyncGenerator<Activity[]> {
  const { system, actor } = visit
  const holder = new Holder()
  const leave = await system.bounds.exports.take(`exports of ${groupOf(actor)}`, system.patience, { holder })
  try {
    let next = cursor
    do {
      const { rows, older } = await list(visit, asked, next)
      holder.begin(breakOff)
      yield rows
      holder.end()
      next = older
    } while (next !== undefined)
  } finally {
    leave()
  }
}

/** Reports whether an actor sees what is not of a domain's history: whoever may read the account (contract §3.2). */
function mayReadAccount(actor: Actor): boolean {
  return actor.permManageTokens && !actor.restricted && !isConfined(actor)
}

/** Hides who did it, unless the actor may list the account's tokens (contract §15.5), as admins may. */
export function shownTo<E extends NamedAuthor>(actor: Actor, entry: E): E {
  return actor.permManageTokens ? entry : { ...entry, owner: null, tokenId: null, tokenName: null }
}

/** @returns undefined if no entry can match */
function filterOf(actor: Actor, { search = '', ...asked }: Asked): ActivityFilter | undefined {
  const { domain, token, person } = asked
  const texts = search.split(/\s+/).filter(Boolean)
  const isLost =
    (domain !== undefined && !isDomainName(domain)) ||
    (token !== undefined && !isUuid(token)) ||
    ((token !== undefined || person !== undefined) && !actor.permManageTokens) ||
    // Postgres has no texts with this character.
    Object.values({ ...asked, search }).some((text) => text?.includes('\0') === true) ||
    search.length > NAME_LENGTH ||
    texts.length > SEARCH_WORDS
  if (isLost) return undefined
  return { ...asked, person: person?.toLowerCase(), words: texts.map(wordOf) }
}

/** A word of a search, and what finds it in the compact JSON of changes, where `["` begins a change. */
function wordOf(word: string): ActivityFilter['words'][number] {
  const name = searchedText(word)
  return {
    text: word.toLowerCase(),
    pattern: name === undefined || name === '' ? null : `\\["[^"]*${name.replace(/[.*]/g, '\\$&')}[^"]*",`,
  }
}
