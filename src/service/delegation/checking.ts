import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { reasonOf } from '../../errors.ts'
import * as store from '../../store/domains/delegations.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import { exclusively } from '../../store/turns.ts'
import type { System } from '../../system.ts'
import { later } from '../../time.ts'
import { findNamed } from '../domains/domains.ts'
import type { Scan } from '../work/work.ts'
import { check, checkRoutinely, type Delegation } from './checks.ts'

/** The domains of a batch. */
const BATCH = 20

/** The domains whose parents are asked at the same time. */
const PARALLEL = 10

/** Seconds after which a check that failed, because PowerDNS or Postgres were away, is tried again. */
const RETRY_PAUSE = 300

/** Milliseconds between two attempts of a command to become the only process that checks. */
const LOCK_PAUSE = 200

/** Reports whether the settings let the service ask parents in the background. */
export function asksParents({ config }: Pick<System, 'config'>): boolean {
  return config.delegationChecks ?? config.pdnsApiUrl !== undefined
}

/** Checks the delegations of all domains in turn, if the settings say so. */
export const DELEGATION_SCAN: Scan = {
  name: 'delegation checks',
  of: 'delegations',
  isOn: (system) => asksParents(system) && system.nameserver.problem === undefined,
  run: checkDue,
}

/** Checks some of the domains that are due, unless another process checks. */
export async function checkDue(system: System, signal: AbortSignal): Promise<void> {
  await exclusively(system.db, 'checks at the parent', async () => {
    await pLimit(PARALLEL).map(await store.due(system.db, system.now(), BATCH), async (domain) => {
      if (!signal.aborted) await checkOne(system, domain, signal)
    })
  })
}

/** Checks one domain; a failure does not reach the others. */
async function checkOne(system: System, { id, name }: Pick<Domain, 'id' | 'name'>, signal: AbortSignal): Promise<void> {
  try {
    const domain = await domains.find(system.db, name)
    if (domain !== undefined) await checkRoutinely(system, domain)
  } catch (error) {
    if (signal.aborted) return
    system.log.warn('delegation check failed', { domain: name, reason: reasonOf(error) })
    await store.postpone(system.db, id, later(system.now(), RETRY_PAUSE))
  }
}

/** The outcome of a check, for the operator. */
export type CheckReport = Pick<Delegation, 'state' | 'problems'> & { name: string }

/** Checks these domains now. @throws NotFound, NameserverFailure */
export async function checkNamed(system: System, names: string[]): Promise<CheckReport[]> {
  const found: Domain[] = []
  for (const name of names) found.push(await findNamed(system, name))
  return checkEach(system, found)
}

/**
 * Checks all domains now. Other processes do not check in the background meanwhile.
 * @param tell called repeatedly with the numbers of finished and of all domains
 */
export async function checkAll(system: System, tell: (done: number, all: number) => void): Promise<CheckReport[]> {
  const reports: CheckReport[] = []
  const all = (await domains.versions(system.db)).length
  for (let last = 0; ;) {
    const page = await domains.listAfter(system.db, last, BATCH)
    const run = async () => {
      reports.push(...(await checkEach(system, page)))
    }
    while (!(await exclusively(system.db, 'checks at the parent', run))) await sleep(LOCK_PAUSE)
    tell(Math.min(reports.length, all), all)
    if (page.length < BATCH) return reports
    last = page.at(-1)!.id
  }
}

async function checkEach(system: System, some: Domain[]): Promise<CheckReport[]> {
  return pLimit(PARALLEL).map(some, async (domain) => {
    const { state, problems } = await check(system, domain)
    return { name: domain.name, state, problems }
  })
}
