import { SUBNAME_LENGTH, withAncestors } from '../../dns/names.ts'
import { Conflict, NotFound } from '../../errors.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import { SMALL_WRITE } from '../../limits.ts'
import * as domains from '../../store/domains/domains.ts'
import { suspendedBelow } from '../../store/domains/relatives.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import { type Access, isOperator, type Writer } from '../actor.ts'
import { suspension } from '../names/suspended.ts'
import { linesTo } from '../throttling/callers.ts'
import { policiesOn } from '../tokens/policies.ts'
import { renew, type Use } from '../tokens/rights.ts'
import { authorOf, SERVICE, type Source } from './journal.ts'
import { openPublication, type Publication, timed } from './publication.ts'
import { ANCESTORS } from './rectification.ts'
import { Zone } from './zone.ts'

/** The purpose of an open zone. */
export interface Opening {
  use?: Use
  dryRun?: boolean
  /** The source for the domain's history; default: `api`. */
  source?: Source
  /** True if it costs much time of the processors; default: if it is about many subnames, or all. */
  isLarge?: boolean
}

/**
 * Locks a zone for one write, and renews the rights of the writer's token.
 * @param subnames those of the write
 * @throws Conflict if the domain is paused or suspended; NotFound, Unauthenticated, Denied, Unavailable
 */
export async function openZone(
  { system, actor, domain }: Access<Writer>,
  subnames: string[] | 'all',
  opening: Opening = {},
): Promise<Zone> {
  const { isLarge = subnames === 'all' || subnames.length > SMALL_WRITE } = opening
  const publication = await timed(system, 'turn', () =>
    openPublication(system, actor, { queues: linesTo(`zone ${domain.name}`, actor), isLarge }),
  )
  try {
    const zone = await lockZone(publication, domain.name, subnames, { writer: actor, id: domain.id, opening })
    // The domain may have been deleted meanwhile, and created again by another account.
    if (zone?.domain.id !== domain.id) throw new NotFound()
    return zone
  } catch (error) {
    await publication[Symbol.asyncDispose]()
    throw error
  }
}

/** The writer, who must see the domain; its id; and the purpose. */
interface Writing {
  writer: Writer
  id: number
  opening: Opening
}

/**
 * Locks a domain's zone; undefined if the domain does not exist.
 * @param writing undefined if the service writes
 * @throws Conflict if the domain is paused, or suspended unless the operator deletes it; Unauthenticated, Denied if the writer may no longer do so
 */
export async function lockZone(
  publication: Publication,
  name: string,
  subnames: string[] | 'all',
  writing?: Writing,
): Promise<Zone | undefined> {
  const { system, trx } = publication
  const scope = subnames === 'all' ? undefined : await inSlices(scopeOf(subnames))
  const authorised = authorisedAt(subnames)
  // Sent together. The statements after a lock see the state at the time when the lock is granted.
  const [renewed, domain, read, hidden, known = []] = await timed(system, 'lock', () =>
    Promise.all([
      writing && renew(system, trx, writing.writer, writing.opening.use ?? 'rrsets'),
      domains.lock(trx, name, writing?.writer),
      rrsets.atSubnames(trx, name, scope === undefined ? 'all' : namesOf(scope)),
      suspendedBelow(trx, name),
      writing && policiesOn(trx, writing.writer, writing.id, authorised),
    ]),
  )
  if (domain === undefined) return undefined
  if (domain.paused) throw new Conflict(`${name} is paused by the operator of this service and cannot be changed now.`)
  const isEnd = writing?.opening.use === 'domainDeletion' && isOperator(writing.writer)
  if (domain.suspended !== null && !isEnd) throw suspension(name)
  if (writing === undefined || renewed === undefined)
    return new Zone(publication, domain, SERVICE, { ...divided(read, scope), hidden })
  // The token got its first policies after its authentication.
  const isNewlyRestricted = renewed.restricted && !writing.writer.restricted
  const policies = isNewlyRestricted ? await policiesOn(trx, renewed, domain.id, authorised) : known
  const author = authorOf(writing.writer, writing.opening.source ?? 'api')
  return new Zone(publication, domain, author, { ...divided(read, scope), hidden, policies }, writing.opening.dryRun)
}

/** Returns the subnames whose policies a write needs; undefined: all. A zone that is opened without any is meant whole. */
function authorisedAt(subnames: string[] | 'all'): Set<string> | undefined {
  return subnames === 'all' || subnames.length === 0 ? undefined : new Set(subnames)
}

/** The subnames of a write, and their ancestors, which may be delegations or DNAMEs: undefined if too many. */
interface Scope {
  asked: Set<string>
  ancestors: Set<string> | undefined
}

function namesOf({ asked, ancestors = new Set() }: Scope): { subnames: string[]; ancestors: string[] } {
  return { subnames: [...asked], ancestors: [...ancestors] }
}

/** @param scope undefined: all RRsets were read */
function divided(
  read: RRset[],
  scope: Scope | undefined,
): { current: RRset[]; isWhole?: boolean; ancestors: RRset[] | undefined } {
  if (scope === undefined) return { current: read, isWhole: true, ancestors: [] }
  const { asked, ancestors } = scope
  return {
    current: read.filter(({ subname }) => asked.has(subname)),
    ancestors: ancestors && read.filter(({ subname }) => ancestors.has(subname)),
  }
}

function* scopeOf(subnames: string[]): Work<Scope> {
  // No subname in the database is longer.
  const asked = new Set([...subnames].filter((subname) => subname.length <= SUBNAME_LENGTH))
  const ancestors = new Set<string>()
  for (const subname of asked) {
    for (const name of [...withAncestors(subname), '']) if (!asked.has(name)) ancestors.add(name)
    if (ancestors.size > ANCESTORS) return { asked, ancestors: undefined }
    yield
  }
  return { asked, ancestors }
}
