import { resident, state } from './measure.ts'
import type { Setup } from './setup.ts'

const RECORDS = 100_000

/** The import of a large zone file in one request, and its export: time, memory, and how long they block others. */
export async function zonefile(setup: Setup): Promise<void> {
  const zonefile = lines(RECORDS)
  await setup.inside()
  const start = performance.now()
  await setup.api('POST', '/domains/', { name: 'zonefile.test', zonefile })
  state(`import of ${RECORDS} records`, seconds(start))
  state('its process has at most', `${Math.round(resident(setup.pid, 'VmHWM') / 1024)} MiB`)
  state('and is blocked for at most', `${Math.round((await setup.inside()).blocked)} ms`)

  const again = performance.now()
  const { status } = await setup.read('/domains/zonefile.test/zonefile/')
  if (status !== 200) throw new Error(`export: ${status}`)
  state('export of them', seconds(again))
  state('its process has at most', `${Math.round(resident(setup.pid, 'VmHWM') / 1024)} MiB`)
  state('and is blocked for at most', `${Math.round((await setup.inside()).blocked)} ms`)
}

/** A zone file like real ones: mostly addresses, some with several records, mail, aliases, strings. */
function lines(records: number): string {
  const kinds = [
    (i: number) => `host${i} 3600 IN A 192.0.2.${i % 256}\n`,
    (i: number) => `host${i - 1} 3600 IN AAAA 2001:db8::${(i % 65_536).toString(16)}\n`,
    (i: number) => `mail${i} 3600 IN MX 10 mx1.example.net.\n`,
    (i: number) => `mail${i - 1} 3600 IN MX 20 mx2.example.net.\n`,
    (i: number) => `alias${i} 3600 IN CNAME host${i}\n`,
    (i: number) => `text${i} 3600 IN TXT "v=spf1 include:spf.example.net -all" "${i}"\n`,
  ]
  return Array.from({ length: records }, (_, i) => kinds[i % kinds.length]!(i)).join('')
}

function seconds(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
