import test from 'ava'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { newDomain, succeeded } from '../support/api.ts'
import { useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// A service is killed while it tells PowerDNS who may transfer a zone. Afterwards PowerDNS says what the API says.

const servers = useServers()
const NONE = { addresses: [], notify: [], tsig: false }
const SOME = { addresses: ['192.0.2.7', '2001:db8::/64'], notify: [], tsig: true }

const STEPS: [what: string, isStep: (call: Call) => boolean, isGrant: boolean][] = [
  ['makes the key', ({ method, path }) => method === 'POST' && path === '/tsigkeys', true],
  ...[true, false].flatMap((isGrant): typeof STEPS => {
    const what = isGrant ? 'grants' : 'withdraws'
    return [
      [`${what} the key`, ({ method, path }) => method === 'PUT' && /^\/zones\/[^/]+$/.test(path), isGrant],
      [`${what} the addresses`, ({ method, path }) => method === 'PUT' && path.includes('/metadata/'), isGrant],
    ]
  }),
  ['removes the key', ({ method, path }) => method === 'DELETE' && path.startsWith('/tsigkeys/'), false],
]

interface Settings {
  addresses: string[]
  tsig: boolean
}

/** Who may transfer the zone, as PowerDNS says. */
async function settingsAt(name: string): Promise<Settings> {
  const path = `/zones/${name}.`
  const allowed = (await servers().pdns('GET', `${path}/metadata/ALLOW-AXFR-FROM`)).json as { metadata?: string[] }
  const zone = (await servers().pdns('GET', `${path}?rrsets=false`)).json as { master_tsig_key_ids: string[] }
  const keys = (await servers().pdns('GET', '/tsigkeys')).json as { id: string }[]
  const [key] = zone.master_tsig_key_ids
  return { addresses: allowed.metadata ?? [], tsig: key !== undefined && keys.some(({ id }) => id === key) }
}

for (const [what, isStep, isGrant] of STEPS) {
  for (const fate of ['cut', 'pass'] satisfies Fate[]) {
    test.serial(`killed when it ${what}, which is ${fate === 'cut' ? 'lost' : 'carried out'}`, async (t) => {
      const before = await servers().start()
      const name = await newDomain(before.api)
      const path = `/domains/${name}/transfers/`
      if (!isGrant) succeeded(await before.api.put(path, SOME), 200)

      const stopped = servers().proxy.stop(isStep)
      const answered = before.api.put(path, isGrant ? SOME : NONE).catch(() => undefined)
      await stopped.arrived
      await before.kill()
      stopped.release(fate)
      await answered

      const after = await servers().start()
      t.deepEqual(await discrepanciesInTheEnd(servers()), [])
      const { addresses, tsig } = succeeded(await after.api.get(path), 200).json as Settings
      t.deepEqual(await settingsAt(name), { addresses, tsig })
      await servers().killServices()
    })
  }
}
