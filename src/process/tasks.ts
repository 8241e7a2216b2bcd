import { createApp } from '../http/app.ts'
import { ACTIVITY } from '../http/history/activity-representation.ts'
import { listen, type Listener, listenForScrapes } from '../http/listen.ts'
import { projectVersion } from '../installation/project.ts'
import { DELEGATION_SCAN } from '../service/delegation/checking.ts'
import { NOTIFICATION } from '../service/delegation/notifying.ts'
import { SIGNALLING } from '../service/delegation/signalling.ts'
import { HISTORY_LIMITS } from '../service/domains/history-limits.ts'
import { RETENTION } from '../service/domains/retention.ts'
import { MAIL } from '../service/mails/mails.ts'
import { primariesTask } from '../service/operation/change-over.ts'
import { failoverTask } from '../service/operation/failover.ts'
import { measuringTask } from '../service/operation/measuring.ts'
import { reconcileTask, REPAIR_SCANS } from '../service/repair/reconcile.ts'
import { STANDBY_SCAN } from '../service/repair/standbys.ts'
import { rolloverScans } from '../service/rollovers/advancing.ts'
import { catalogScan } from '../service/secondaries/catalogs.ts'
import { sweepTask } from '../service/secondaries/sweep.ts'
import { WEBHOOK_EVENTS, WEBHOOK_UPKEEP, webhookWork } from '../service/webhooks/delivering.ts'
import { workTask } from '../service/work/crew.ts'
import type { System } from '../system.ts'
import { listenForUpdates, type UpdateListener } from '../update/listen.ts'

/** The kinds of work, in the order of the list that operators get. */
const KINDS = [MAIL, NOTIFICATION, webhookWork((entry) => ACTIVITY.present(entry))]

/**
 * A running service. Its disposal refuses new requests and those that wait for a turn, finishes running ones, and stops
 * the background tasks. The system stays open, but requests can no longer wait for a turn.
 */
export interface Running extends AsyncDisposable {
  port: number
  /** The port of the metrics, if they are served. */
  metricsPort?: number | undefined
  /** The port of DNS UPDATE, if it is taken. */
  updatePort?: number | undefined
}

/**
 * Serves a prepared system over HTTP, reconciles its zones, sends its mails, trims its histories, publishes its catalog
 * zone, notifies its secondaries, checks its delegations, tells parents and webhooks of changes, keeps its signalling zones up
 * to date, and takes DNS UPDATE and serves its metrics if they are wanted. @throws StartError
 */
export async function serve(system: System): Promise<Running> {
  const { queues, rights, writers, readers, exports, checks, searches } = system.bounds
  const handle = createApp(system).callback()
  const listener = await listen(system, (request, response) => {
    // Clients that keep connections open leave before these are closed.
    if (system.stopping.aborted) response.shouldKeepAlive = false
    void handle(request, response)
  })
  let updates: UpdateListener | undefined
  let scraped: Listener | undefined
  try {
    updates = await listenForUpdates(system)
    scraped = await listenForScrapes(system)
  } catch (error) {
    await Promise.all([listener.close(), updates?.close()])
    throw error
  }
  system.log.info('mail destination', { destination: system.mailer.destination })
  const scans = [
    ...REPAIR_SCANS,
    STANDBY_SCAN,
    ...rolloverScans(),
    catalogScan(),
    DELEGATION_SCAN,
    SIGNALLING,
    HISTORY_LIMITS,
    RETENTION,
    WEBHOOK_EVENTS,
    WEBHOOK_UPKEEP,
  ]
  const tasks = [reconcileTask(system), failoverTask(system), workTask(system, KINDS, { scans }), sweepTask(system)]
  if (system.primaries.standbys.length > 0) tasks.push(primariesTask(system))
  if (system.metrics !== undefined) tasks.push(measuringTask(system, system.metrics, projectVersion()))
  return {
    port: listener.port,
    metricsPort: scraped?.port,
    updatePort: updates?.port,
    async [Symbol.asyncDispose]() {
      // A check of a delegation can take a minute.
      system.parents.close()
      const ended = Promise.all([
        listener.close(),
        scraped?.close(),
        updates?.close(),
        ...tasks.map((task) => task.stop()),
      ])
      // A request that waits for a turn could wait for longer than the listener does.
      for (const budget of [queues, rights, writers, readers, exports, checks, searches]) budget.close()
      await ended
    },
  }
}
