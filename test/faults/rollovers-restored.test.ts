import { join } from 'node:path'
import type { System } from '../../src/system.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { validate } from '../support/dns/validators.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { keysOf, passTo, phaseOf, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { createDatabase } from '../support/servers/postgres/databases.ts'
import { runOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// A backup that is restored in any phase of a rollover, which stayed there since, went on to its end, or was cancelled.
// No key must leave the zone whose DS the parent has by then.

const servers = useServers()
let service: OwnService
let file: string
let restored: Awaited<ReturnType<typeof createDatabase>> | undefined

test.after.always(async () => {
  await servers().killServices()
  await restored?.drop()
})

const FORWARD = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish', 'done']
const BACK = ['back: await-ds', 'back: await-ds-ttl', 'back: unpublish', 'done']

/** A domain whose rollover was in a phase when the backup was made; the first began later. */
interface Domain {
  name: string
  phase: string
  /** What happened after the backup. */
  after: 'stays' | 'on' | 'back'
  /** The DS at the parent when the backup is restored. */
  ds: string[]
}

const domains: Domain[] = ['none', ...FORWARD.slice(0, -1)].flatMap((phase) =>
  (['stays', 'on', 'back'] as const)
    .filter((after) => !(after === 'back' && phase === 'unpublish'))
    .map((after) => ({ name: `${phase}-${after}.example`, phase, after, ds: [] })),
)
const path = (name: string) => `/domains/${name}/rollover/`

/** The database, and what tests do with it. */
interface Database {
  system: System
  pdns: ReturnType<typeof servers>['pdns']
}
let database: Database

/** Takes a rollover through these phases. */
async function goOn(name: string, phases: string[]): Promise<void> {
  for (const phase of phases) await passTo(database, name, phase)
}

const begin = async (name: string) => {
  succeeded(await service.api.post(path(name), { algorithm: 'ed25519' }), 201)
  await published(database, name)
}

/** Cancels a rollover, and goes back to the former keys. */
async function goBack(name: string): Promise<void> {
  const { status } = await service.api.delete(path(name))
  await published(database, name)
  const now = await phaseOf(database, name)
  if (status === 200) await goOn(name, BACK.slice(BACK.indexOf(now) + 1))
}

const isBelieved = (name: string, ds: string[]) => validate(servers().powerDns, name, ds, `www.${name}`, 'A')

test('a backup is made with a domain in each phase, and the rollovers go on, or back', async (t) => {
  database = servers()
  service = await servers().serve()
  for (const domain of domains) {
    const { name, phase } = domain
    await newDomain(service.api, name)
    domain.ds = (await domainOf(service.api, name)).keys[0]!.ds
    await newRRset(service.api, name, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
    if (phase !== 'none') await begin(name)
  }
  await Promise.all(domains.map(({ name, phase }) => goOn(name, FORWARD.slice(1, FORWARD.indexOf(phase) + 1))))
  const environment = environmentFor(servers().backends, { LOG_LEVEL: 'error' })
  file = join(newFolder(), 'backup')
  t.is((await runOurs(['backup', file], environment))[0], 0)
  await Promise.all(
    domains.map(async (domain) => {
      const { name, phase, after } = domain
      if (after !== 'stays') {
        if (phase === 'none') await begin(name)
        if (after === 'back') await goBack(name)
        else await goOn(name, FORWARD.slice(Math.max(FORWARD.indexOf(phase), 0) + 1))
        const { keys } = await domainOf(service.api, name)
        t.is(keys.length, 1, name)
        domain.ds = keys[0]!.ds
      } else if (['await-ds-ttl', 'unpublish'].includes(phase)) {
        domain.ds = ((await service.api.get(path(name))).json as { add_ds: string[] }).add_ds
      }
      t.is(await isBelieved(name, domain.ds), 'fully validated', name)
    }),
  )
  await service.stop()
})

test('the restored database keeps every key whose DS may be at the parent', async (t) => {
  restored = await createDatabase('template0')
  const environment = environmentFor(servers().backends, { DATABASE_URL: restored.url })
  const [code, output] = await runOurs(['restore', file], environment)
  t.is(code, 0, output)
  t.true(output.includes('foreign keys at PowerDNS; storing them, too'), output)
  service = await servers().serve({ DATABASE_URL: restored.url })
  database = { ...servers(), system: service.system }
  for (const { name, phase, ds } of domains) {
    await published(database, name)
    const now = phase === 'none' ? 'done' : ['sign', 'publish'].includes(phase) ? 'publish' : 'await-ds'
    t.is(await phaseOf(database, name), now, name)
    const { served, stored } = await keysOf(database, name)
    t.deepEqual(served, stored, name)
    t.is(await isBelieved(name, ds), 'fully validated', name)
  }
})

test('then each rollover goes on, or back, to the keys that the parent trusts', async (t) => {
  await Promise.all(
    domains.map(async ({ name, phase, after, ds }) => {
      if (phase === 'none') return
      const now = await phaseOf(database, name)
      if (after === 'back') await goBack(name)
      else await goOn(name, FORWARD.slice(FORWARD.indexOf(now) + 1))
      const { keys } = await domainOf(service.api, name)
      t.is(keys.length, 1, name)
      // The parent of those that stayed may have got the new DS only now.
      if (after !== 'stays') t.deepEqual(keys[0]!.ds, ds, name)
      t.is(await isBelieved(name, keys[0]!.ds), 'fully validated', name)
    }),
  )
  const { keys } = await domainOf(service.api, 'none-on.example')
  t.is(keys.length, 2)
})
