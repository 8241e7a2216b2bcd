import { one } from '../../src/store/database.ts'
import { domainOf, succeeded } from '../support/clients/api.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { useServers, type OwnService } from '../support/harness.ts'
import { startRelay, type Relay } from '../support/rollovers/relay.ts'
import { follow, FORGOTTEN, SETTINGS, startStage, WAITS, WARM, type ShownRollover, type Stage } from '../support/rollovers/stage.ts' // prettier-ignore
import { test } from '../support/serial.ts'
import { startSecondary, type SecondaryServer } from '../support/servers/secondaries.ts'

// A rollover waits for the slowest nameserver, which answers with an old version, or not at all.

const servers = useServers()
const NAME = 'behind.example'
const PATH = `/domains/${NAME}/rollover/`

let relay: Relay
let slow: SecondaryServer
let quick: SecondaryServer
let stage: Stage
let service: OwnService

test.before('secondaries, and the stage', async () => {
  const { powerDns } = servers()
  relay = await startRelay(powerDns)
  slow = await startSecondary('knot', relay, [NAME])
  quick = await startSecondary('nsd', powerDns, [NAME])
  stage = await startStage([powerDns, slow, quick], [NAME])
  const SECONDARIES = [slow, quick].map(({ kind, dnsHost, dnsPort }) => `${kind}.test=${dnsHost}:${dnsPort}`).join()
  service = await servers().serve({ ...SETTINGS, SECONDARIES }, WAITS)
  stage.place(service.system)
})

test.after.always(async () => {
  for (const server of [slow, quick] as (SecondaryServer | undefined)[]) await server?.kill()
  await (stage as Stage | undefined)?.close()
  await relay.shut()
})

async function shown(): Promise<ShownRollover> {
  return succeeded(await service.api.get(PATH), 200).json as ShownRollover
}

/** Resolves when the service has looked at the rollover several times, and has left it in this phase. */
async function staysIn(phase: string): Promise<void> {
  const looks = new Set<string>()
  await eventually(async () => {
    const row = await one<{ phase: string; look: string }>(
      servers().system.db,
      'select phase, cast(check_at as text) as look from rollovers',
    )
    if (row.phase !== phase) throw new Error(`it went on to ${row.phase}`)
    looks.add(row.look)
    return looks.size > 4
  })
  const { waits_for } = await shown()
  if (waits_for !== 'nameservers') throw new Error(`it waits for ${waits_for}`)
}

test('a rollover waits for a nameserver that is behind, and for one that does not answer', async (t) => {
  const { api } = service
  await stage.addDomain(api, NAME)
  await stage.secure(api, NAME)
  for (const server of [slow, quick])
    await eventually(async () => (await lookUp(server, `long.${NAME}`, 'A')).length === 1)
  const watch = stage.watch(NAME)
  await watch.last(WARM)
  const stopParent = stage.followCds(NAME)

  await relay.shut()
  succeeded(await api.post(PATH, { algorithm: 'ed25519' }), 201)
  watch.phase = 'sign'
  await staysIn('sign')
  await relay.open()
  await eventually(async () => (await shown()).waits_for === 'caches')
  // It has the version of this phase, and will not get that of the next.
  await relay.shut()
  await eventually(async () => (await shown()).phase === 'publish')
  watch.phase = 'publish'
  await staysIn('publish')
  await slow.kill()
  await staysIn('publish')
  await slow.start()
  await staysIn('publish')
  await relay.open()

  let isHeld = false
  const phases = await follow(api, NAME, async ({ phase }, isNew) => {
    watch.phase = phase
    if (phase === 'await-ds' && isNew) {
      await relay.shut()
      isHeld = true
    }
    if (phase === 'unpublish' && isHeld) {
      await staysIn('unpublish')
      await relay.open()
      isHeld = false
    }
  })
  watch.phase = 'after'
  await watch.last(FORGOTTEN)
  t.deepEqual(await watch.stop(), [])
  await stopParent()
  t.deepEqual(phases, ['publish', 'await-ds', 'await-ds-ttl', 'unpublish'])
  const { keys } = await domainOf(api, NAME)
  t.is(keys.length, 1)
  for (const server of [servers().powerDns, slow, quick]) {
    await eventually(async () => (await lookUp(server, NAME, 'DNSKEY')).length === 1)
  }
  t.deepEqual([...stage.parent.dsOf(NAME)].sort(), [...keys[0]!.ds].sort())
})
