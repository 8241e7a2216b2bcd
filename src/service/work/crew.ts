import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../../errors.ts'
import { type BackgroundTask, RECOVERY_PAUSE, runPeriodically } from '../../flow/background.ts'
import { STOP_TIME } from '../../limits.ts'
import type { Claimed } from '../../store/work.ts'
import * as store from '../../store/work.ts'
import type { System } from '../../system.ts'
import { later, secondsBetween } from '../../time.ts'
import type { Kind, Scan } from './work.ts'

/** Milliseconds between two looks, for what nobody tells; and between two renewals of claims. */
const LOOK_PAUSE = 1_000
const RENEWAL_PAUSE = store.CLAIM_TIME / 4

/** Milliseconds in which a scan begins once at most, however often a bell rings. */
const SCAN_PAUSE = LOOK_PAUSE / 2

/** Work that this process does. */
interface Job {
  kind: string
  work: Claimed
  abort: AbortController
  ended: Promise<void>
  /** When its claim was last known to last, as `performance.now()`. */
  claimed: number
}

/**
 * Does what is due, until stopped: at once when a process has caused it or when its time comes, and after `pause` what it
 * was not told of. `stop` waits up to STOP_TIME for what is being done, then aborts it.
 */
export function workTask(
  system: System,
  kinds: readonly Kind[],
  { scans = [], pause = LOOK_PAUSE }: { scans?: readonly Scan[]; pause?: number } = {},
): BackgroundTask {
  const stopping = new AbortController()
  const crew = new Crew(system, kinds, { scans, stopping: stopping.signal })
  const look = async () => Math.min(await crew.look(), pause)
  const loop = runPeriodically(system.log, 'work', look, pause, stopping.signal, system.workBell)
  const listening = listen(system, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      system.workBell.ring()
      await Promise.all([loop, listening])
      await crew.end()
    },
  }
}

/** Rings the bell when a process has caused work, until stopped. */
async function listen({ pools, workBell }: System, stopping: AbortSignal): Promise<void> {
  const ring = () => {
    workBell.ring()
  }
  while (!stopping.aborted) {
    // Looks tell that Postgres is away.
    await store.listen(pools.listener, ring, stopping).catch(() => undefined)
    await sleep(RECOVERY_PAUSE, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Does all that is due now. */
export async function workOff(system: System, kinds: readonly Kind[]): Promise<void> {
  const crew = new Crew(system, kinds, { scans: [], stopping: new AbortController().signal })
  do await crew.look()
  while (await crew.waited())
}

class Crew {
  readonly #system: System
  readonly #kinds: readonly Kind[]
  readonly #scans: readonly Scan[]
  readonly #stopping: AbortSignal
  readonly #jobs = new Map<number, Job>()
  readonly #runs = new Map<Scan, Promise<void>>()
  /** When scans are due next although nothing is found, as `performance.now()`; at first, all with a pause are. */
  readonly #dues: Map<Scan, number>
  /** When scans began last, as `performance.now()`. */
  readonly #scanned = new Map<Scan, number>()
  #renewing: NodeJS.Timeout | undefined

  constructor(
    system: System,
    kinds: readonly Kind[],
    { scans, stopping }: { scans: readonly Scan[]; stopping: AbortSignal },
  ) {
    this.#system = system
    this.#kinds = kinds
    this.#scans = scans
    this.#dues = new Map(scans.map((scan) => [scan, scan.pause === undefined ? Infinity : 0]))
    this.#stopping = stopping
  }

  /** Begins what is due, as far as there is room. Returns the milliseconds until more is due, as far as is known. */
  async look(): Promise<number> {
    const { db, now } = this.#system
    const open = this.#kinds.filter((kind) => this.#free(kind) > 0 && kind.isOn?.(this.#system) !== false)
    const time = now()
    const firsts = await store.firstDue(
      db,
      open.map(({ kind }) => kind),
      time,
    )
    const pauses = firsts.map(({ due }) => Math.ceil(secondsBetween(time, due) * 1_000))
    pauses.push(this.#scan(firsts.map(({ kind }) => kind)))
    const due = open.filter(({ kind }) => firsts.some((first) => first.kind === kind && first.due <= time))
    await Promise.all(due.map((kind) => this.#fill(kind)))
    return Math.min(...pauses.filter((pause) => pause > 0))
  }

  /** Begins the scans that are due. Returns the pause until one can begin again. @param found the kinds of what is due */
  #scan(found: string[]): number {
    const now = performance.now()
    let next = Infinity
    for (const scan of this.#scans) {
      const { name, of, pause = Infinity } = scan
      const isFound = found.some((kind) => kind === of)
      if (!isFound && this.#dues.get(scan)! > now) continue
      if (this.#stopping.aborted || scan.isOn?.(this.#system) === false) continue
      if (this.#runs.has(scan) || now - (this.#scanned.get(scan) ?? -Infinity) < SCAN_PAUSE) {
        if (isFound) next = SCAN_PAUSE
        continue
      }
      this.#scanned.set(scan, now)
      const run = scan.run(this.#system, this.#stopping).catch((error: unknown) => {
        this.#system.log.error(`${name} failed`, { reason: (error as Error).message })
        return Math.min(pause, RECOVERY_PAUSE)
      })
      const ended = run.then((own) => {
        this.#dues.set(scan, performance.now() + (typeof own === 'number' ? own : pause))
        this.#runs.delete(scan)
      })
      this.#runs.set(scan, ended)
    }
    return next
  }

  /** Waits for what is being done; returns whether any work of a row was. */
  async waited(): Promise<boolean> {
    const jobs = [...this.#jobs.values()]
    await Promise.all([...jobs.map(({ ended }) => ended), ...this.#runs.values()])
    return jobs.length > 0
  }

  /** Lets what is being done end, for STOP_TIME at most. */
  async end(): Promise<void> {
    const timer = setTimeout(() => {
      for (const { abort } of this.#jobs.values()) abort.abort()
    }, STOP_TIME)
    await this.waited()
    clearTimeout(timer)
  }

  #of(kind: Kind): Job[] {
    return [...this.#jobs.values()].filter((job) => job.kind === kind.kind)
  }

  #free(kind: Kind): number {
    return kind.all - this.#of(kind).length
  }

  /** Claims and begins work of a kind. Accounts have their turns: of each, one piece more at a time. */
  async #fill(kind: Kind): Promise<void> {
    const { each = Infinity } = kind
    for (let limit = this.#free(kind); limit > 0; limit = each === Infinity ? 0 : this.#free(kind)) {
      if (this.#stopping.aborted) return
      const running = this.#of(kind).map(({ work }) => work)
      const counts = new Map<string, number>()
      for (const { accountId } of running) counts.set(accountId ?? '', (counts.get(accountId ?? '') ?? 0) + 1)
      const full = [...counts].flatMap(([id, count]) => (id !== '' && count >= each ? [id] : []))
      const share = { kind: kind.kind, limit, running: running.map(({ id }) => id) }
      const asked = performance.now()
      const claimed = await store.claim(
        this.#system.db,
        { ...share, full: each === Infinity ? undefined : full },
        this.#system.now(),
      )
      for (const work of claimed) this.#begin(kind, work, asked)
      if (claimed.length === 0) return
    }
  }

  #begin(kind: Kind, work: Claimed, claimed: number): void {
    const abort = new AbortController()
    const ended = this.#do(kind, work, abort.signal).finally(() => {
      this.#jobs.delete(work.id)
      if (this.#jobs.size === 0) clearInterval(this.#renewing)
      this.#system.workBell.ring()
    })
    if (this.#jobs.size === 0) this.#renewing = setInterval(() => void this.#renew(), RENEWAL_PAUSE)
    this.#jobs.set(work.id, { kind: kind.kind, work, abort, ended, claimed })
  }

  async #do(kind: Kind, work: Claimed, signal: AbortSignal): Promise<void> {
    try {
      await this.#runAndNote(kind, work, signal)
    } catch (error) {
      // Postgres is away: the claim ends by itself, and the work is done again.
      this.#system.log.error('work failed', { kind: kind.kind, subject: work.subject, reason: reasonOf(error) })
    }
  }

  async #runAndNote(kind: Kind, work: Claimed, signal: AbortSignal): Promise<void> {
    const { db, metrics } = this.#system
    let next
    try {
      // What was claimed while a stop began goes back.
      this.#stopping.throwIfAborted()
      next = await kind.run(this.#system, work, signal)
    } catch (error) {
      await this.#failed(kind, work, error as Error)
      return
    }
    if (next === undefined) await store.finish(db, work)
    else await store.release(db, work, { due: next, attempts: 0, error: null })
    metrics?.count('zoneplane_work_total', { kind: kind.kind, outcome: 'done' })
  }

  /** Notes a failure, and when it is tried again; what fails because the process stops, another one does at once. */
  async #failed(kind: Kind, work: Claimed, error: Error): Promise<void> {
    const { db, log, metrics, now } = this.#system
    const { subject, attempts } = work
    if (this.#stopping.aborted) {
      await store.release(db, work, { due: now(), attempts: attempts - 1, error: null })
      return store.tell(db)
    }
    const reason = reasonOf(error)
    const pause = 'isFinal' in error && error.isFinal === true ? undefined : kind.retry[attempts - 1]
    const next = pause === undefined ? null : later(now(), pause)
    await store.release(db, work, { due: next, attempts, error: reason })
    metrics?.count('zoneplane_work_total', { kind: kind.kind, outcome: next === null ? 'given_up' : 'failed' })
    const line = { kind: kind.kind, subject, attempt: attempts, next, reason }
    if (next === null) log.error('work failed; giving up', line)
    else log.warn('work failed', line)
  }

  /** Renews the claims of what is being done, and aborts that whose claim may have ended: another process may do it. */
  async #renew(): Promise<void> {
    const asked = performance.now()
    const jobs = [...this.#jobs.values()].map(({ work }) => work)
    const renewed = await store
      .renew(
        this.#system.db,
        jobs.map(({ claim }) => claim),
        jobs.map(({ id }) => id),
      )
      .catch(() => [])
    for (const id of renewed) {
      const job = this.#jobs.get(id)
      if (job !== undefined) job.claimed = asked
    }
    for (const { claimed, abort } of this.#jobs.values()) {
      if (performance.now() - claimed >= store.CLAIM_TIME) abort.abort()
    }
  }
}
