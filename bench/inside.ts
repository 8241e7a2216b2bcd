import pg from 'pg'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Runs in the service's process, and tells whoever asks what only that knows.

export interface Inside {
  /** For how many milliseconds the event loop was blocked at most since this was asked last. */
  blocked: number
  /** Milliseconds of CPU that the process has used. */
  cpu: number
  /** Statements that were sent to Postgres. */
  statements: number
}

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

let statements = 0
const client = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
const { query } = client
client.query = function counted(...args) {
  statements++
  return query.apply(this, args)
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ blocked: delay.max / 1e6, cpu: (user + system) / 1000, statements } satisfies Inside)
  delay.reset()
})
// Being asked is no reason to go on.
process.channel!.unref()
