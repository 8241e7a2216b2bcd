import { isIPv6 } from 'node:net'
import { parseIPv6, printIPv6 } from '../../dns/addresses.ts'
import { isDomainName, isSubname, withAncestors, withoutDot } from '../../dns/names.ts'
import { Malformed, parseRdata } from '../../dns/rdata.ts'
import { typeProblems } from '../../dns/types.ts'
import { Invalid } from '../../errors.ts'
import { SEARCHES } from '../../limits.ts'
import type { Criteria, FoundRRset } from '../../store/zone/record-search.ts'
import * as store from '../../store/zone/record-search.ts'
import type { Visit } from '../actor.ts'
import { searchedText } from '../names/search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { inSearchTurn } from '../throttling/callers.ts'

export type { FoundRRset }

/** The texts in a request for a search; at least a content or a name (contract §15.12). */
export interface Search {
  content?: string | undefined
  name?: string | undefined
  type?: string | undefined
  domain?: string | undefined
}

/**
 * Returns a page of the RRsets in all domains that the actor can see, newest first.
 * @throws Invalid, also if there are too many RRsets to search; Busy
 */
export async function search(visit: Visit, asked: Search, cursor?: Cursor): Promise<Page<FoundRRset>> {
  const criteria = criteriaOf(asked)
  if (criteria === undefined) return EMPTY
  if (criteria.name === undefined && criteria.domain === undefined) await refuseTooMany(visit)
  const { system, actor } = visit
  return inSearchTurn(visit, () => store.page(system.db, actor, criteria, cursor))
}

/** Counts the RRsets of `search`. */
export async function count(visit: Visit, asked: Search): Promise<number> {
  const criteria = criteriaOf(asked)
  if (criteria === undefined) return 0
  return inSearchTurn(visit, () => store.count(visit.system.db, visit.actor, criteria))
}

/** @throws Invalid if reading all RRsets of the account would take seconds */
async function refuseTooMany({ system, actor }: Visit): Promise<void> {
  const { rrsets, octets } = await store.extent(system.db, actor)
  if (rrsets <= SEARCHES.rrsets && octets <= SEARCHES.octets) return
  throw Invalid.field('domain', 'This account has too many RRsets to search them all. Give a domain or a name.')
}

/** Reads the request; undefined if no RRset can match. @throws Invalid */
function criteriaOf(asked: Search): Criteria | undefined {
  refuseInvalid(asked)
  const { type, domain } = asked
  const content = asked.content === undefined ? undefined : canonical(asked.content, type)
  const name = asked.name === undefined ? undefined : placeOf(asked.name)
  if (name === null || (domain !== undefined && !isDomainName(domain))) return undefined
  // All canonical contents are printable.
  if (content !== undefined && /[^ -~]/.test(content)) return undefined
  return { content, name, type, domain }
}

const BLANK = 'This field may not be blank.'

/** @throws Invalid with the problems of all parameters */
function refuseInvalid({ content, name, type }: Search): void {
  if (content === undefined && name === undefined) throw Invalid.object('Give content or name.')
  const typeTexts = type === undefined ? [] : typeProblems(type)
  const problems = {
    content: content === undefined ? [] : contentProblems(content, typeTexts.length === 0 ? type : undefined),
    name: name === '' ? [BLANK] : [],
    type: typeTexts,
  }
  const wrong = Object.entries(problems).filter(([, texts]) => texts.length > 0)
  if (wrong.length > 0) throw new Invalid(Object.fromEntries(wrong))
}

function contentProblems(content: string, type: string | undefined): string[] {
  if (content.trim() === '') return [BLANK]
  try {
    canonical(content, type)
    return []
  } catch (error) {
    if (error instanceof Malformed) return [error.message]
    throw error
  }
}

/** Returns the form in which RRsets of the type have the content; without type, that of an address. @throws Malformed */
function canonical(content: string, type: string | undefined): string {
  const text = content.trim()
  if (type !== undefined) return parseRdata(type, text).text
  return isIPv6(text) && !text.includes('%') ? printIPv6(parseIPv6(text)) : text
}

/** Returns a full name and the domains in which it can be; null if no RRset can have it. */
function placeOf(name: string): NonNullable<Criteria['name']> | null {
  const full = searchedText(withoutDot(name))
  return full === undefined || !isSubname(full) ? null : { full, domains: withAncestors(full) }
}
