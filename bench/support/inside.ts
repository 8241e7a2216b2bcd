import { monitorEventLoopDelay } from 'node:perf_hooks'
import pg from 'pg'

// Runs in the process of the service, and answers each message with figures about that process.

export interface Inside {
  /** The longest time in milliseconds for which the event loop was blocked since the last message. */
  blocked: number
  /** The CPU time of the process in milliseconds. */
  cpu: number
  /** The number of statements sent to Postgres. */
  statements: number
}

// From the first message on: it costs more than an idle service does.
const delay = monitorEventLoopDelay({ resolution: 1 })

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
  delay.enable()
  delay.reset()
})
// The channel alone does not keep the process running.
process.channel!.unref()
