import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createLog } from '../../src/log.ts'
import { createSystem } from '../../src/process/create-system.ts'
import { audit, AUDIT_TURNS } from '../../src/service/repair/audit.ts'
import { readConfig } from '../../src/settings/config.ts'
import { resident } from '../../test/support/servers/resident.ts'

// A process that compares all zones several times, as a service does every ten minutes, and then the contents of those of
// one turn. After each it prints what that cost.

const SERIALS = 10

/** What a comparison cost: times in milliseconds, memory in KiB. */
export interface Audit {
  took: number
  /** The longest time for which the event loop was blocked. */
  blocked: number
  resident: number
  /** The most that the process has had so far. */
  peak: number
}

const config = readConfig(process.env)
const backends = { databaseUrl: config.databaseUrl!, pdnsApiUrl: config.pdnsApiUrl!, pdnsApiKey: config.pdnsApiKey! }
await using system = createSystem(config, backends, createLog('error'))
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

async function measured(compares: (id: number) => boolean): Promise<void> {
  delay.reset()
  const start = performance.now()
  const suspects = await audit(system, compares)
  const took = performance.now() - start
  if (suspects.length > 0) throw new Error(`${suspects.length} zones differ, such as ${suspects[0]}`)
  const [now, peak] = [resident(process.pid, 'VmRSS'), resident(process.pid, 'VmHWM')]
  console.log(JSON.stringify({ took, blocked: delay.max / 1e6, resident: now, peak } satisfies Audit))
}

await system.nameserver.probe()
for (let i = 0; i < SERIALS; i++) await measured(() => false)
await measured((id) => id % AUDIT_TURNS === 0)
