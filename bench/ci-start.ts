import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFolder } from '../src/installation/project.ts'
import { findPorts, HOST } from '../src/private-servers/ports.ts'
import { ask } from '../test/support/dns/dns.ts'
import { median, state } from './support/measure.ts'

// How soon a service for tests is ready (docs/ci.md), without a container: `zoneplane start --ci` on an empty folder, on a
// copy of a prepared one, and again on the same. What it costs at rest, and what an account costs.

const ROUNDS = 7
const TOKEN = 'benchmark-token-secret'

/** What a start prints, and what that means. */
const PARTS: [what: string, line: RegExp][] = [
  ['Node has loaded the command', /zoneplane: (Postgres|PowerDNS): /],
  ['the servers run', /bringing the database schema/],
  ['the service is ready', /Zoneplane is ready/],
]

interface Start {
  /** Milliseconds from the start of the process to each of PARTS, and to a signed answer over DNS. */
  times: number[]
  pid: number
  url: string
  stop: () => Promise<void>
}

export async function ciStart(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'zoneplane-bench-ci-'))
  chmodSync(root, 0o711)
  try {
    const empty = Array.from({ length: ROUNDS }, () => timeOf(() => spawnSync(process.execPath, ['-e', ''])))
    state('node alone', `${median(empty).toFixed(0)} ms`)
    await rounds('empty folder', (i) => join(root, `cold-${i}`), true)
    const prepared = join(root, 'prepared')
    await (await start(prepared)).stop()
    const copies = Array.from({ length: ROUNDS }, (_, i) =>
      timeOf(() => {
        spawnSync('cp', ['-a', prepared, join(root, `copy-${i}`)])
      }),
    )
    state('copy of the prepared folder', `${median(copies).toFixed(0)} ms`)
    await rounds('prepared folder', (i) => join(root, `copy-${i}`), true)
    await rounds('the same folder again', () => prepared, false)
    await atRest(prepared)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function rounds(what: string, folder: (i: number) => string, removes: boolean): Promise<void> {
  const all: number[][] = []
  for (let i = 0; i < ROUNDS; i++) {
    const started = await start(folder(i))
    await started.stop()
    all.push(started.times)
    if (removes) rmSync(folder(i), { recursive: true, force: true })
  }
  for (const [part, name] of [...PARTS.map(([name]) => name), 'DNS answers, signed'].entries()) {
    const times = all.map((one) => one[part]!)
    state(`${what}: ${name}`, `${median(times).toFixed(0)} (${Math.min(...times).toFixed(0)}) ms`)
  }
}

async function start(folder: string, env: Record<string, string> = {}): Promise<Start> {
  const { dns, api } = await findPorts({ dns: 0, api: 0 }, [HOST])
  const begin = performance.now()
  const child = spawn(process.execPath, [join(projectFolder(), 'build/src/cli.js'), 'start', '--ci'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...{ PORT: String(api), DNS_PORT: String(dns), ZONEPLANE_DATA: folder, ZONEPLANE_TOKEN: TOKEN },
      ...env,
    },
  })
  const times: number[] = []
  for await (const line of createInterface(child.stdout)) {
    if (PARTS[times.length]?.[1].test(line)) times.push(performance.now() - begin)
    if (times.length === PARTS.length) break
  }
  for (;;) {
    const { answers } = await ask({ dnsHost: HOST, dnsPort: dns }, 'example.test', 'SOA').catch(() => ({ answers: [] }))
    if (answers.some(({ type }) => type === 'RRSIG')) break
  }
  times.push(performance.now() - begin)
  child.stdout.resume()
  return {
    times,
    pid: child.pid!,
    url: `http://${HOST}:${api}`,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Memory three seconds after the start, with 20 domains; and what an account costs. */
async function atRest(folder: string): Promise<void> {
  const seed = `${folder}.yaml`
  const domains = Array.from(
    { length: 20 },
    (_, i) => `      - {name: d${i}.seed.test, zonefile: "www 60 A 192.0.2.1"}\n`,
  )
  writeFileSync(seed, `accounts:\n  - email: bench@seed.test\n    domains:\n${domains.join('')}`)
  rmSync(folder, { recursive: true, force: true })
  const { pid, url, stop } = await start(folder, { ZONEPLANE_SEED: seed })
  await sleep(3_000)
  for (const [name, size] of memoryOf(pid)) state(`memory at rest: ${name}`, `${(size / 1024).toFixed(0)} MiB`)
  const accounts: number[] = []
  for (let i = 0; i < 50; i++) accounts.push(await timeOfAsync(() => fetch(`${url}/ci/accounts/`, { method: 'POST' })))
  state('an account', `${median(accounts).toFixed(1)} ms`)
  await stop()
}

/** The memory of a process and of its children in KiB: each page divided by the number of those who share it (PSS). */
function memoryOf(root: number): [name: string, size: number][] {
  const sizes = new Map<string, number>([['all', 0]])
  const pids = [root]
  for (const entry of readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)) {
    try {
      const [, name = '', rest = ''] = /\((.*)\) \S (.*)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? []
      if (entry !== root && !pids.includes(Number(rest.split(' ')[0]))) continue
      pids.push(entry)
      const size = Number(/^Pss: +([0-9]+)/m.exec(readFileSync(`/proc/${entry}/smaps_rollup`, 'utf8'))![1])
      for (const key of ['all', entry === root ? 'node' : name]) sizes.set(key, (sizes.get(key) ?? 0) + size)
    } catch {
      // It has ended meanwhile.
    }
  }
  return [...sizes]
}

function timeOf(work: () => unknown): number {
  const begin = performance.now()
  work()
  return performance.now() - begin
}

async function timeOfAsync(work: () => Promise<Response>): Promise<number> {
  const begin = performance.now()
  const response = await work()
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - begin
}
