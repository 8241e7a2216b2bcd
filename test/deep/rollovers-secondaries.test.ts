import test from 'ava'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { lookUp, type Server } from '../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { KINDS, replaceKeys } from '../support/rollovers/kinds.ts'
import { SETTINGS, type ShownRollover, type Stage, startStage, WAITS } from '../support/rollovers/stage.ts'
import { passHour, published } from '../support/rollovers/steps.ts'
import { newFolder } from '../support/servers/folders.ts'
import { type SecondaryServer, startSecondary } from '../support/servers/secondaries.ts'

// A rollover waits for the slowest nameserver, however long that takes. Of two secondaries, Knot is always hours behind:
// it keeps what it has until the service has stood still for that time. Resolvers ask it, too.

const servers = useServers()
const run = promisify(execFile)

/** The phases that wait for all nameservers. */
const WAITING = ['sign', 'publish', 'unpublish']
const HOURS = 2

/** A domain that nobody asks for while one of its nameservers does not answer. */
const SILENT = 'silent.example'

let socket: string
let slow: SecondaryServer
let quick: SecondaryServer
let stage: Stage
let service: OwnService

test.before('secondaries, and the stage', async () => {
  const { powerDns } = servers()
  const names = [...KINDS.map(({ name }) => name), SILENT]
  socket = join(newFolder(), 'control')
  slow = await startSecondary('knot', powerDns, names, (text) => `${text}control:\n  listen: ${socket}\n`)
  quick = await startSecondary('bind', powerDns, names)
  stage = await startStage([powerDns, slow, quick], names)
  const SECONDARIES = [slow, quick].map(({ kind, dnsHost, dnsPort }) => `${kind}.test=${dnsHost}:${dnsPort}`).join()
  service = await servers().serve({ ...SETTINGS, SECONDARIES }, WAITS)
  stage.place(service.system)
})

test.after.always(async () => {
  for (const server of [slow, quick] as (SecondaryServer | undefined)[]) await server?.kill()
  await (stage as Stage | undefined)?.close()
})

/** Lets Knot transfer a zone no more, or again. */
async function control(command: 'zone-freeze' | 'zone-thaw', name: string): Promise<void> {
  await run('knotc', ['--socket', socket, '--blocking', command, name])
}

/** What tells which phase a nameserver has of a zone: the serial, and the keys. */
async function stateAt(server: Server, name: string): Promise<string[]> {
  return [...(await lookUp(server, name, 'SOA')), ...(await lookUp(server, name, 'DNSKEY'))]
}

/** Resolves when a nameserver has what PowerDNS has. */
async function isCurrent(server: Server, name: string): Promise<void> {
  await published(servers(), name)
  await eventuallyIs(() => stateAt(server, name), await stateAt(servers().powerDns, name))
}

/** Resolves when hours have passed, after which a rollover still waits for a nameserver. */
async function standStill(name: string, phase: string): Promise<void> {
  for (let hours = HOURS; hours > 0; hours--) {
    await passHour(servers(), name)
    const rollover = await shown(name)
    if (rollover.phase !== phase || rollover.waits_for !== 'nameservers') throw new Error(JSON.stringify(rollover))
  }
}

async function shown(name: string): Promise<ShownRollover> {
  return succeeded(await service.api.get(`/domains/${name}/rollover/`), 200).json as ShownRollover
}

test.serial('a rollover waits for a nameserver that does not answer', async (t) => {
  const { api } = service
  const path = `/domains/${SILENT}/rollover/`
  await newDomain(api, SILENT)
  for (const server of [slow, quick]) await isCurrent(server, SILENT)
  await quick.kill()
  succeeded(await api.post(path, { emergency: true }), 201)
  await isCurrent(slow, SILENT)
  await standStill(SILENT, 'publish')
  await quick.start()
  await eventually(async () => (await shown(SILENT)).phase === 'await-ds')
  t.is((await lookUp(quick, SILENT, 'DNSKEY')).length, 2)
})

// One of them waits in all these phases.
const [longest, others] = [KINDS[1]!, KINDS.toSpliced(1, 1)]

for (const kind of [longest, ...new Random().some(others, depth(1, others.length))]) {
  const { name } = kind
  test(`a rollover waits for a nameserver that is hours behind: ${kind.title}`, async (t) => {
    const place = { ...servers(), api: service.api, stage }
    const held: string[] = []
    await replaceKeys(t, place, kind, {
      async before() {
        for (const server of [slow, quick]) await isCurrent(server, name)
        await control('zone-freeze', name)
      },
      async look({ phase }, isNew) {
        if (!isNew || !WAITING.includes(phase)) return
        await isCurrent(quick, name)
        await standStill(name, phase)
        held.push(phase)
        await control('zone-thaw', name)
        await isCurrent(slow, name)
        await control('zone-freeze', name)
      },
    })
    t.deepEqual(
      held,
      kind.phases.filter((phase) => WAITING.includes(phase)),
    )
    t.notDeepEqual(await stateAt(slow, name), await stateAt(servers().powerDns, name))
    await control('zone-thaw', name)
    for (const server of [slow, quick]) await isCurrent(server, name)
    t.is((await lookUp(slow, name, 'DNSKEY')).length, 1)
  })
}
