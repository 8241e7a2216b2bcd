import { setTimeout as sleep } from 'node:timers/promises'
import type { System } from '../../system.ts'

/** Milliseconds between two probes of a PowerDNS that fails: the first pause, which doubles up to the last one. */
const PROBE_FIRST_PAUSE = 1_000
const PROBE_LAST_PAUSE = 10_000

/**
 * Probes PowerDNS, unless a probe has succeeded before. Logs the outcome; the same failure only once. Returns true if
 * the service can write to PowerDNS.
 */
export async function probe({ nameserver, log }: System): Promise<boolean> {
  const before = nameserver.problem
  if (before === undefined) return true
  try {
    const warnings = await nameserver.probe()
    log.info('PowerDNS is available')
    for (const reason of warnings) log.warn('PowerDNS is not set up as needed', { reason })
  } catch {
    const reason = nameserver.problem
    if (reason !== before) log.error('PowerDNS is unavailable; all writes get 503', { reason })
  }
  return nameserver.problem === undefined
}

/** Probes PowerDNS with pauses until that succeeds, or `signal` aborts. */
export async function untilProbed(system: System, signal: AbortSignal): Promise<void> {
  let pause = PROBE_FIRST_PAUSE
  while (!signal.aborted && !(await probe(system))) {
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    pause = Math.min(2 * pause, PROBE_LAST_PAUSE)
  }
}
