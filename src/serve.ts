import { createApp } from './app.ts'
import { listen } from './listen.ts'
import { keepSending } from './service/accounts/mail-queue.ts'
import { keepFollowing } from './service/domains/failover.ts'
import { keepReconciled } from './service/domains/reconcile.ts'
import { keepTrimming } from './service/domains/retention.ts'
import { keepSwept } from './service/domains/sweep.ts'
import type { System } from './system.ts'

export interface Running {
  port: number
  /** Refuses new requests, finishes running ones, and stops the background tasks. The system stays open. */
  stop(): Promise<void>
}

/**
 * Serves a prepared system over HTTP, reconciles its zones, sends its mails, trims its history, and reminds its
 * secondaries. @throws StartError
 */
export async function serve(system: System): Promise<Running> {
  const handle = createApp(system).callback()
  const listener = await listen(system, (request, response) => {
    // Clients that keep connections open leave before these are closed.
    if (system.stopping.aborted) response.shouldKeepAlive = false
    void handle(request, response)
  })
  const tasks = [
    keepReconciled(system),
    keepFollowing(system),
    keepSending(system),
    keepTrimming(system),
    keepSwept(system),
  ]
  return {
    port: listener.port,
    async stop() {
      await Promise.all([listener.close(), ...tasks.map((task) => task.stop())])
    },
  }
}
