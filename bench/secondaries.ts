import packet from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SecondaryServer, startSecondary } from '../test/support/servers/secondaries.ts'
import { alternating, compare, percentile, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

const WARM_UP = 50
const RUNS = 400
const KINDS = ['nsd', 'knot', 'bind'] as const

/** What a catalog zone and secondaries cost those who write, and how soon secondaries serve a change. */
export async function secondaries(setup: Setup): Promise<void> {
  await creation(setup)
  const name = zone('served')
  const servers: SecondaryServer[] = []
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  process.env['TEST_FOLDER'] = folder
  try {
    for (const kind of KINDS) servers.push(await startSecondary(kind, setup.primary, [name]))
    await changes(setup, name, servers)
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function creation({ api, another }: Setup): Promise<void> {
  const listed = await another({ CATALOG_ZONE: 'catalog.bench.test' })
  const run = (runs: number, label: string) =>
    alternating(
      runs,
      (i) => listed.api('POST', '/domains/', { name: zone(`listed-${label}-${i}`) }),
      (i) => api('POST', '/domains/', { name: zone(`plain-${label}-${i}`) }),
    )
  await run(WARM_UP, 'early')
  const [ours, theirs] = await run(RUNS, 'new')
  compare('creation with a catalog zone, and without, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
}

async function changes({ api, another }: Setup, name: string, servers: SecondaryServer[]): Promise<void> {
  const SECONDARIES = servers.map(({ kind, dnsHost, dnsPort }) => `${kind}.bench.test=${dnsHost}:${dnsPort}`).join()
  const told = await another({ SECONDARIES })
  const path = `/domains/${name}/rrsets/www/A/`
  await told.api('POST', '/domains/', { name })
  await told.api('POST', `/domains/${name}/rrsets/`, rrset('www', 0))
  let changed = 0
  const change = (service: typeof told) => async () => {
    await service.api('PATCH', path, { records: [address(++changed)] })
  }
  await alternating(WARM_UP, change(told), change({ ...told, api }))
  const [ours, theirs] = await alternating(RUNS, change(told), change({ ...told, api }))
  compare('a change with three secondaries, and none, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))

  for (const server of servers) {
    const times: number[] = []
    for (let i = 0; i < RUNS / 4; i++) {
      const content = address(++changed)
      await told.api('PATCH', path, { records: [content] })
      const start = performance.now()
      await serves(server, `www.${name}`, content)
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    const shares = [0.5, 0.95].map((share) => `${percentile(times, share).toFixed(0)} ms`)
    state(`from the answer until ${server.kind} serves it, p50`, shares[0]!)
    state('  p95', shares[1]!)
  }

  const questions = 2_000
  const cost = async (path: string) => {
    const before = await told.inside()
    for (let i = 0; i < questions; i++) await told.api('GET', path)
    const after = await told.inside()
    return (after.cpu - before.cpu) / questions
  }
  await cost(`/domains/${name}/`)
  const [status, domain] = [await cost(`/domains/${name}/publication/`), await cost(`/domains/${name}/`)]
  state('processor time of a publication status', `${status.toFixed(2)} ms`)
  state('  of reading the domain', `${domain.toFixed(2)} ms`)
}

/** Asks until the server answers with this address. */
async function serves({ dnsHost, dnsPort }: SecondaryServer, name: string, content: string): Promise<void> {
  const socket = createSocket('udp4')
  try {
    socket.connect(dnsPort, dnsHost)
    await once(socket, 'connect')
    const question = packet.encode({ type: 'query', id: 1, questions: [{ name, type: 'A' }] })
    for (;;) {
      socket.send(question)
      const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(1_000) })) as [Buffer]
      if (packet.decode(answer).answers?.some((rr) => rr.type === 'A' && rr.data === content) === true) return
    }
  } finally {
    socket.close()
  }
}
