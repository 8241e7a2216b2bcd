import { resident } from '../test/support/servers/resident.ts'
import { zoneFile } from './memory.ts'
import { state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'

const RECORDS = 100_000

/** What the import of a zone file, and its export, cost in time, memory and blocking of the event loop. */
export async function zonefile(setup: Setup): Promise<void> {
  await setup.inside()
  const before = resident(setup.pid, 'VmRSS')
  const start = performance.now()
  await setup.api('POST', '/domains/', { name: 'zonefile.test', zonefile: zoneFile(RECORDS) })
  await told(`import of ${RECORDS} records`, start)

  const again = performance.now()
  const { status } = await setup.read('/domains/zonefile.test/zonefile/')
  if (status !== 200) throw new Error(`export: ${status}`)
  await told('export of them', again)

  async function told(what: string, start: number): Promise<void> {
    state(what, `${((performance.now() - start) / 1000).toFixed(1)} s`)
    state('  the process has grown by', `${Math.round((resident(setup.pid, 'VmHWM') - before) / 1024)} MiB`)
    state('  and its event loop is blocked for at most', `${Math.round((await setup.inside()).blocked)} ms`)
  }
}
