import { SEARCHED_CHANGES } from '../../limits.ts'
import type { Timestamp } from '../../time.ts'
import type { List } from '../pagination.ts'

/**
 * Returns a regular expression for the compact JSON of changes, which finds RRsets of a type. There, `["` only begins a
 * change: its subname and its type follow.
 */
export function typePattern(type: string): string {
  return `\\["[^"]*","${type}",`
}

/** The entries of a domain. */
export const OWN = 'domain_id = :domainId'

/** The words of a search; an entry has to match each of them. */
export interface Search {
  words: Word[]
  /** Whether owners and tokens are searched. */
  seesAuthors: boolean
  /** The time of the domain's creation. */
  creation: Timestamp
}

/** Found by either; null finds nothing. */
export interface Word {
  /** A regular expression for the compact JSON of changes. */
  pattern: string | null
  /** A part of the author, in lower case. */
  author: string | null
  /** A part of the message, in lower case. */
  message: string | null
}

/** Who made the entry of a row, and how, in lower case. */
const SAID = `lower(concat_ws(' ', source, case when history.created = :creation then 'creation' else event end,
  case when :seesAuthors then (select email from accounts where accounts.id = history.owner_id) end,
  case when :seesAuthors then (select concat_ws(' ', name, maker) from tokens where tokens.id = history.token_id) end))`

const FOUND = `not exists (
  select from unnest(cast(:patterns as text[]), cast(:authors as text[]), cast(:messages as text[]))
    as word (pattern, author, message)
  where not coalesce(strpos(${SAID}, word.author) > 0, false)
    and not coalesce(strpos(lower(history.message), word.message) > 0, false)
    and not coalesce(left(changes, ${SEARCHED_CHANGES}) ~ word.pattern, false)
)`

/** Returns a list of a domain's history with the entries that a search finds alone. */
export function searched(list: List, { words, seesAuthors, creation }: Search): List {
  const patterns = words.map(({ pattern }) => pattern)
  const authors = words.map(({ author }) => author)
  const messages = words.map(({ message }) => message)
  return {
    ...list,
    // A filter is a part of the test.
    conditions: [OWN],
    test: {
      condition: `${list.conditions[0]!} and ${FOUND}`,
      octets: `least(octet_length(changes), ${SEARCHED_CHANGES})`,
    },
    bindings: { ...list.bindings, patterns, authors, messages, seesAuthors, creation },
  }
}
