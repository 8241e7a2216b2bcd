import pLimit from 'p-limit'
import { absolute, lowerCase, withoutDot } from '../../dns/names.ts'
import { Conflict, reasonOf } from '../../errors.ts'
import { inSlices } from '../../flow/slices.ts'
import { SERIAL_MAX } from '../../limits.ts'
import { DENIALS, type FoundZone, type Lease, NSEC3 } from '../../nameserver/nameserver.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/domains/domains.ts'
import { conflicts, lockCreation } from '../../store/domains/relatives.ts'
import * as spent from '../../store/domains/spent.ts'
import { isBehind } from '../../store/standbys.ts'
import * as history from '../../store/zone/history.ts'
import * as marks from '../../store/zone/marks.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { lockNamed } from '../domains/domains.ts'
import { NIL_UUID } from '../ids.ts'
import { isAllowed, nameProblems, registrable, registrableAncestors } from '../names/availability.ts'
import { suspension } from '../names/suspended.ts'
import { OWN_REPAIR, PROGRESS_PAUSE, repair } from '../repair/reconcile.ts'
import { isPublic, statesOf, storeKeys } from '../secrets/signing-keys.ts'
import { sizeOf } from '../zone/changes.ts'
import { nextVersion } from '../zone/claim.ts'
import { creations, draft, SERVICE } from '../zone/journal.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import { type AdoptionOptions, type ContentsPlan, counted, planContents } from './adoption-plan.ts'

/** The operator's request to adopt zones. */
export interface AdoptionRequest extends AdoptionOptions {
  /** Returns the e-mail address of the new owner of a zone. @param field PowerDNS' field `account` of the zone */
  ownerOf: (field: string) => string
  /** True if the name may be a public suffix, or another one that no account can register. */
  allowPublicSuffix: boolean
  /** True if a signed zone gets NSEC3; otherwise it keeps its denial. */
  nsec3: boolean
  /** True if the SOA stays until the first change. */
  keepSoa: boolean
  /** True to carry it out; otherwise nothing is changed. */
  apply: boolean
}

/** The effects of an adoption on a zone, for the operator. */
export interface Adoption extends Omit<ContentsPlan, 'rrsets'> {
  /** The zone's name, without final dot. */
  zone: string
  owner: string | undefined
  kept: string[]
  /** The name servers in its NS RRset that are not those of new domains. */
  otherNameServers: string[]
  /** True if it was carried out. */
  adopted: boolean
}

/** The number of zones that are adopted at the same time. */
const ADOPTERS = 4

/** A lease that always holds: the service does not work on a foreign zone. */
const FREE: Lease = { confirm: () => Promise.resolve() }

/**
 * Adopts zones, several at the same time, and returns the outcome of each. A failure does not end the others.
 * @param tell called every few seconds with the numbers of finished and of all zones
 */
export async function adoptAll(
  system: System,
  zones: string[],
  request: AdoptionRequest,
  tell: (done: number, all: number) => void,
): Promise<Adoption[]> {
  const limit = pLimit(ADOPTERS)
  let done = 0
  const one = async (zone: string) => {
    const outcome = await adopt(system, zone, request).catch((error: unknown) => refused(zone, reasonOf(error)))
    done++
    return outcome
  }
  const telling = setInterval(() => {
    tell(done, zones.length)
  }, PROGRESS_PAUSE)
  try {
    return await Promise.all(zones.map((zone) => limit(one, zone)))
  } finally {
    clearInterval(telling)
  }
}

/**
 * Plans to make a domain of a foreign zone, and does so if the request says so and no obstacle exists. The domain and a
 * mark are committed together; repair then makes the zone equal to the domain. So PowerDNS answers the zone all the
 * time, and wherever the process ends, the zone is either still foreign or will be repaired.
 * @throws Conflict if another program changes the zone meanwhile; Unavailable, NameserverFailure
 */
export async function adopt(system: System, zone: string, request: AdoptionRequest): Promise<Adoption> {
  const name = withoutDot(lowerCase(zone))
  const problems = nameProblems(name)
  if (problems.length > 0) return refused(name, ...problems)
  await using publication = await openPublication(system, 'adoption')
  const { trx } = publication
  if (request.apply) await lockCreation(trx, registrable(name))
  const found = await system.nameserver.survey(absolute(name))
  if (found === undefined) return refused(name, 'PowerDNS has no such zone')
  const email = request.ownerOf(found.account)
  const owner = await accounts.withEmail(trx, email)
  const obstacles = await nameObstacles(system, trx, name, owner, request)
  if (owner === undefined) obstacles.push(`no account has the e-mail address "${email}"`)
  const plan = await planOf(system, name, found, request)
  const shown: Adoption = {
    zone: name,
    owner: owner?.email,
    kept: keptOf(plan),
    otherNameServers: otherNameServers(system, plan),
    normalised: plan.contents.normalised,
    givenUp: plan.contents.givenUp,
    obstacles: [...obstacles, ...plan.contents.obstacles],
    adopted: false,
  }
  if (!request.apply || owner === undefined || shown.obstacles.length > 0) return shown
  await take(publication, owner, plan, request.keepSoa)
  await publication.commit()
  // If this fails, the mark stays, and reconcile tries again.
  await repair(system, name).catch((error: unknown) => {
    system.log.error('repair of adopted zone failed; retrying', { zone: name, reason: reasonOf(error) })
  })
  return { ...shown, adopted: true }
}

function refused(zone: string, ...obstacles: string[]): Adoption {
  const nothing = { kept: [], otherNameServers: [], normalised: [], givenUp: [] }
  return { zone, owner: undefined, ...nothing, obstacles, adopted: false }
}

/** Returns the reasons why a zone of this name cannot be a domain of the account. */
async function nameObstacles(
  { config }: System,
  db: Db,
  name: string,
  owner: Account | undefined,
  { allowPublicSuffix }: AdoptionRequest,
): Promise<string[]> {
  if ((await store.find(db, name)) !== undefined) return ['it is a domain already']
  const obstacles: string[] = []
  const suffixes = config.localPublicSuffixes
  if (!allowPublicSuffix && !isAllowed(name, suffixes)) {
    obstacles.push('nobody can register this name: it is a public suffix, or reserved (--allow-public-suffix)')
  }
  const ancestors = registrableAncestors(name, suffixes).slice(1)
  if (await conflicts(db, { ownerId: owner?.id ?? NIL_UUID, name, ancestors }, { orSuspended: true })) {
    obstacles.push('another account has a domain above or below it, or such a domain is suspended')
  }
  if ((await spent.past(db, name)).marked) obstacles.push('an unfinished creation of Zoneplane may have made it')
  return obstacles
}

type Plan = Awaited<ReturnType<typeof planOf>>

/** Plans what an adopted zone gets and keeps. */
async function planOf(system: System, name: string, found: FoundZone, request: AdoptionRequest) {
  const keys = await system.nameserver.signingKeys(absolute(name))
  const own = request.nsec3 ? NSEC3 : found.denial
  const denial = keys.length === 0 ? DENIALS[system.config.denial] : own
  const state = {
    domain: { id: 0, name, minimumTtl: system.config.minimumTtl },
    current: [],
    policies: [],
    keepsNs: false,
    labelProblem: () => undefined,
  }
  const contents = await inSlices(planContents(found, state, request))
  if (denial !== found.denial && keys.length > 0) contents.normalised.push(`denial: ${inWords(denial)}`)
  if (keys.length === 0) contents.normalised.push(`it is signed, with ${inWords(denial)}`)
  else if (!keys.some(isPublic)) {
    contents.obstacles.push('none of its keys is active and published')
  }
  if (sizeOf(contents.rrsets).octets > system.config.limitOctets) {
    contents.obstacles.push(`it has more than ${system.config.limitOctets} octets of records (LIMIT_OCTETS)`)
  }
  if (found.serial > SERIAL_MAX) contents.obstacles.push(`its serial ${found.serial} leaves no room for changes`)
  return { name, found, keys, denial, contents }
}

function keptOf({ found, keys, denial, contents }: Plan): string[] {
  return [
    counted(contents.rrsets.length, 'RRset'),
    `serial ${found.serial}, which goes on`,
    ...keys.map((key) => {
      const [flags, , algorithm] = key.dnskey.split(' ')
      return `key with flags ${flags} and algorithm ${algorithm} (${statesOf(key)})`
    }),
    ...(keys.length > 0 && denial === found.denial ? [inWords(denial)] : []),
  ]
}

function otherNameServers({ config }: System, { contents }: Plan): string[] {
  const apexNs = contents.rrsets.find(({ subname, type }) => subname === '' && type === 'NS')
  return (apexNs?.records ?? []).filter((host) => !config.nameServers.some((own) => own === lowerCase(host)))
}

function inWords(denial: string): string {
  return denial === '' ? 'NSEC' : `NSEC3 ${denial}`
}

/** Stores the domain, with a mark: repair does the rest. */
async function take(publication: Publication, owner: Account, plan: Plan, keepSoa: boolean): Promise<void> {
  const { system, trx } = publication
  const { name, found, denial, contents } = plan
  const zone = absolute(name)
  // These settings leave the contents as they are; they sign a zone without keys.
  await system.nameserver.configure(zone, denial, undefined, FREE)
  const keys = await system.nameserver.signingKeys(zone)
  if ((await system.nameserver.serial(zone)) !== found.serial) {
    throw new Conflict(`Somebody has changed ${name} meanwhile. Try again.`)
  }
  const now = system.now()
  // With another version than the served serial, repair publishes our SOA.
  const version = keepSoa && found.serial > 0 ? found.serial : nextVersion(system, found.serial)
  const row = { name, ownerId: owner.id, minimumTtl: system.config.minimumTtl, version, denial, now }
  const { id } = await store.insert(trx, { ...row, isMember: system.config.catalogZone !== undefined })
  const written = contents.rrsets
  const entry = await draft(system, SERVICE, { version, now }, await creations(written))
  const outcome = { removed: [], written, growth: sizeOf(written), historyOctets: entry.octets }
  await rrsets.apply(trx, id, { ...outcome, version, rectify: true, now })
  await history.add(trx, { id, ownerId: owner.id }, entry)
  await storeKeys(system, trx, { id, name }, keys, { only: true })
  await marks.setMany(trx, [name], { delay: OWN_REPAIR })
}

/**
 * Makes a domain a foreign zone again: it disappears from the database, and PowerDNS answers it as before.
 * @throws Conflict if the zone is marked or waits to be copied to a standby, or the domain is suspended; NotFound, Unavailable
 */
export async function release(system: System, name: string): Promise<void> {
  await using publication = await openPublication(system, 'adoption', { queues: [`zone ${name}`] })
  const { trx } = publication
  const domain = await lockNamed(trx, name)
  if (domain.suspended !== null) throw suspension(name)
  if (await marks.isMarked(trx, name)) {
    throw new Conflict(`${name} is being repaired, or was lately. Try again in a few minutes.`)
  }
  // The standby would have no zone then.
  if (await isBehind(trx, name)) throw new Conflict(`${name} waits to be copied to a standby. Try again later.`)
  await store.remove(trx, domain)
  await publication.commit()
}
