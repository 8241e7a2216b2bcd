import test from 'ava'
import { one } from '../../src/store/database.ts'
import { putNone } from '../../src/store/domains/transfers.ts'
import { type Account, createAccount } from '../support/clients/accounts.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import type { Call, Fate, Stopped } from '../support/servers/proxy.ts'

// A service is killed while it tells PowerDNS who may transfer a zone. Afterwards PowerDNS says what the API says.

const servers = useServers()
const NONE = { addresses: [], notify: [], tsig: false }
const SOME = { addresses: ['192.0.2.7', '2001:db8::/64'], notify: [], tsig: true }

const STEPS: [what: string, isStep: (call: Call, name: string, key: string) => boolean, isGrant: boolean][] = [
  [
    'makes the key',
    ({ method, path, body }, _, key) => method === 'POST' && path === '/tsigkeys' && body.includes(key),
    true,
  ],
  ...[true, false].flatMap((isGrant): typeof STEPS => {
    const what = isGrant ? 'grants' : 'withdraws'
    return [
      [`${what} the key`, ({ method, path }, name) => method === 'PUT' && path === `/zones/${name}.`, isGrant],
      [
        `${what} the addresses`,
        ({ method, path }, name) => method === 'PUT' && path.startsWith(`/zones/${name}./metadata/`),
        isGrant,
      ],
    ]
  }),
  ['removes the key', ({ method, path }, _, key) => method === 'DELETE' && path === `/tsigkeys/${key}.`, false],
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

for (const fate of ['cut', 'pass'] satisfies Fate[]) {
  const becomes = fate === 'cut' ? 'lost' : 'carried out'

  test.serial(`killed when it ${STEPS.map(([what]) => what).join(', ')}, which is ${becomes}`, async (t) => {
    const victim = await servers().start()
    const writes: { name: string; path: string; account: Account; stopped: Stopped; isGrant: boolean }[] = []
    for (const [what, isStep, isGrant] of STEPS) {
      // An account may write only so many zones at once.
      const account = await createAccount(servers().system, victim.url)
      const name = await newDomain(account.api)
      const path = `/domains/${name}/transfers/`
      if (!isGrant) succeeded(await account.api.put(path, SOME), 200)
      const { db } = servers().system
      const { id } = await one<{ id: number }>(db, 'select id from domains where name = :name', { name })
      // The name is stored before the key is made.
      const key = ['makes the key', 'removes the key'].includes(what) ? await putNone(db, id) : ''
      const stopped = servers().proxy.stop((call) => isStep(call, name, key))
      writes.push({ name, path, account, stopped, isGrant })
    }
    const answers = writes.map(({ account, path, isGrant }) =>
      account.api.put(path, isGrant ? SOME : NONE).catch(() => undefined),
    )
    await Promise.all(writes.map(({ stopped }) => stopped.arrived))
    await victim.kill()
    for (const { stopped } of writes) stopped.release(fate)
    t.deepEqual(new Set(await Promise.all(answers)), new Set([undefined]))

    const after = await servers().serve()
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    for (const { name, path, account } of writes) {
      const { addresses, tsig } = succeeded(await after.clientOf(account.secret).get(path), 200).json as Settings
      t.deepEqual(await settingsAt(name), { addresses, tsig })
    }
    await after.stop()
  })
}
