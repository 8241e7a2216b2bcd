import { setTimeout as sleep } from 'node:timers/promises'
import { absolute } from '../../dns/names.ts'
import { Invalid, NameserverFailure } from '../../errors.ts'
import { SECONDARY_ANSWER_TIME } from '../../nameserver/secondaries/secondary.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import type { System } from '../../system.ts'
import type { Timestamp } from '../../time.ts'

/** Milliseconds until a waiting request asks the nameservers again: the first pauses, and the last for all others. */
const PUBLICATION_PAUSES = [20, 50, 100, 200, 400, 1_000]

/** The number of domains that the report about secondaries reads at once. */
const BATCH = 100

/** The status of a nameserver about a version of a domain (contract §15.6). */
export interface NameserverStatus {
  /** The name, with final dot. */
  name: string
  /** UNREACHABLE: it does not answer. */
  status: 'INSYNC' | 'PENDING' | 'UNREACHABLE'
  /** The version that it serves, if it serves the zone. */
  version: number | null
  /** The reason for PENDING. */
  detail?: string
}

export interface PublicationStatus {
  version: number
  published: Timestamp
  /** INSYNC: all nameservers that answer, at least one, serve the version or a later one. */
  status: 'INSYNC' | 'PENDING'
  nameservers: NameserverStatus[]
}

/** A version of a domain, and when it was published. */
export type Publication = Pick<Domain, 'name' | 'version' | 'published'>

/** The longest wait of a request, and the signal that ends it. */
export interface Patience {
  /** Who shares the places of those who wait. */
  group: string
  /** Seconds, at most PUBLICATION_WAIT. */
  wait: number
  /** Ends the waiting early. */
  gone: AbortSignal
}

/**
 * Returns the version of the domain that the caller asks about.
 * @throws Invalid if the domain has not had it yet
 */
export function versionOf(domain: Domain, version = domain.version): Publication {
  if (version > domain.version) throw Invalid.field('version', `The domain's version is ${domain.version}.`)
  return { ...domain, version }
}

/**
 * Asks all nameservers for their versions, and again until all that answer serve this one, or `wait` is over. If too
 * many requests already wait, asks only once. Holds no connection to Postgres meanwhile.
 * @returns also whether it was willing to wait
 * @throws Busy
 */
export async function statusOf(
  system: System,
  publication: Publication,
  { group, wait, gone }: Patience,
): Promise<PublicationStatus & { waited: boolean }> {
  const release = wait > 0 ? system.bounds.waiting.tryTake(group) : undefined
  const waited = release !== undefined
  const end = performance.now() + (waited ? wait * 1000 : 0)
  const { version, published } = publication
  try {
    for (let round = 0; ; round++) {
      const nameservers = await ask(system, publication)
      const reached = nameservers.filter(({ status }) => status !== 'UNREACHABLE')
      const isServed = reached.length > 0 && reached.every(({ status }) => status === 'INSYNC')
      const left = end - performance.now()
      if (isServed || left <= 0 || gone.aborted || system.stopping.aborted) {
        return { version, published, status: isServed ? 'INSYNC' : 'PENDING', nameservers, waited }
      }
      const pause = PUBLICATION_PAUSES[round] ?? PUBLICATION_PAUSES.at(-1)!
      await sleep(Math.min(left, pause), undefined, { signal: gone }).catch(() => undefined)
    }
  } finally {
    release?.()
  }
}

/** Asks all nameservers. The primary comes first, unless it is hidden: then a secondary has the SOA's MNAME. */
async function ask(system: System, publication: Publication): Promise<NameserverStatus[]> {
  const primary = system.config.nameServers[0]!
  const isHidden = system.secondaries.all.some(({ name }) => absolute(name) === primary)
  const [first, others] = await Promise.all([
    isHidden ? undefined : askPrimary(system, primary, publication),
    askSecondaries(system, publication),
  ])
  return first === undefined ? others : [first, ...others]
}

async function askSecondaries(system: System, publication: Publication): Promise<NameserverStatus[]> {
  return Promise.all(
    system.secondaries.all.map(async (secondary): Promise<NameserverStatus> => {
      const name = absolute(secondary.name)
      const served = await secondary.serves(publication.name)
      if (served === undefined) return { name, status: 'UNREACHABLE', version: null }
      if (served.serial === undefined) return { name, status: 'PENDING', version: null, detail: served.problem }
      return compared(name, served.serial - system.nameserver.servedSerial(0, publication.published), publication)
    }),
  )
}

/** Asks PowerDNS by its API, which shows the served serial. */
async function askPrimary({ nameserver }: System, name: string, publication: Publication): Promise<NameserverStatus> {
  const unreachable: NameserverStatus = { name, status: 'UNREACHABLE', version: null }
  const asking = nameserver.serial(absolute(publication.name)).then(
    (version): NameserverStatus =>
      version === undefined
        ? { name, status: 'PENDING', version: null, detail: 'does not serve the zone' }
        : compared(name, version, publication),
    (error: unknown) => {
      if (error instanceof NameserverFailure) return unreachable
      throw error
    },
  )
  return Promise.race([asking, sleep(2 * SECONDARY_ANSWER_TIME, unreachable, { ref: false })])
}

function compared(name: string, version: number, asked: Publication): NameserverStatus {
  if (version >= asked.version) return { name, status: 'INSYNC', version }
  return { name, status: 'PENDING', version, detail: 'serves an older version' }
}

/** The zones of a secondary, compared with the database. */
export interface SecondaryReport {
  name: string
  insync: number
  /** The number of zones with an older version, or none. */
  pending: number
  /** The number of zones without an answer. */
  unreachable: number
  /** The publication time of the zone that has been pending longest; null: none is. */
  oldest: Timestamp | null
}

/** Asks all secondaries about all zones, but those of suspended domains. @param tell called repeatedly with the numbers of finished and of all zones */
export async function reportOf(system: System, tell: (done: number, all: number) => void): Promise<SecondaryReport[]> {
  const reports = system.secondaries.all.map(({ name }): SecondaryReport => {
    return { name, insync: 0, pending: 0, unreachable: 0, oldest: null }
  })
  const askOne = async (domain: Domain) => [await askSecondaries(system, domain), domain] as const
  const all = (await domains.versions(system.db)).filter(({ suspended }) => suspended === null).length
  let done = 0
  for (let last = 0; ;) {
    const page = await domains.listAfter(system.db, last, BATCH)
    const served = page.filter(({ suspended }) => suspended === null)
    for (const statuses of await Promise.all(served.map(askOne))) addTo(reports, ...statuses)
    done += served.length
    tell(Math.min(done, all), all)
    if (page.length < BATCH) return reports
    last = page.at(-1)!.id
  }
}

function addTo(reports: SecondaryReport[], statuses: NameserverStatus[], { published }: Publication): void {
  for (const [at, { status }] of statuses.entries()) {
    const report = reports[at]!
    if (status === 'INSYNC') report.insync++
    else if (status === 'UNREACHABLE') report.unreachable++
    else {
      report.pending++
      if (report.oldest === null || published < report.oldest) report.oldest = published
    }
  }
}
