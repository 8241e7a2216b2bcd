import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { projectFolder } from '../src/installation/project.ts'
import { type Db, openDatabase, query } from '../src/store/database.ts'
import { Client } from '../test/support/clients/client.ts'
import { RESOLVER } from '../test/support/dns/simulated-parents.ts'
import { freePort } from '../test/support/servers/ports.ts'
import { startProgram } from '../test/support/servers/programs.ts'
import { environmentFor } from '../test/support/servers/service.ts'
import { makeDomains } from './support/many-domains.ts'
import { percentile, state } from './support/measure.ts'
import { tally } from './support/other-account.ts'
import type { Service, Setup } from './support/setup.ts'
import { rrset, zone } from './support/zones.ts'

const DOMAINS = Number(process.env['DOMAINS'] ?? 1_000)
const AT_MOST = 100

/** The writers to any domains, and to those whose keys are likely to be replaced next; milliseconds between two writes. */
const WRITERS = 4
const PURSUERS = 4
const PAUSE = 20

const BASELINE_SECONDS = 30
const PAIRS = 500

/**
 * The replacement of the keys of many domains without DS, while others write to them. A minute stands for an hour of what
 * a rollover waits for, so the load is 60 times that of earnest.
 */
export async function rollovers(setup: Setup): Promise<void> {
  await makeDomains(setup, DOMAINS)
  const port = await freePort()
  const preload = pathToFileURL(join(projectFolder(), 'build', 'bench', 'support', 'model-hours.js')).href
  const service = await setup.another({
    NODE_OPTIONS: `--import ${preload}`,
    RESOLVERS: RESOLVER,
    PRIVATE_TRANSFERS: 'on',
    METRICS_PORT: String(port),
  })
  // Its RRsets live for longer than a minute.
  await setup.api('DELETE', '/domains/example.test/')
  // Of two services, either looks at the rollovers.
  await setup.stop()
  const client = new Client(service.url, setup.secret)
  const db = openDatabase(setup.databaseUrl, 2)
  const used = usageOf(service, port)

  const before = await used()
  const alone = new Writes(client)
  await alone.during(db, () => sleep(BASELINE_SECONDS * 1_000))
  const between = await used()
  alone.report('a write to one of them, without rollovers')
  const each = perWrite(before, between, alone.times.length)
  await pairs(client)

  const began = performance.now()
  const together = new Writes(client)
  await together.during(db, async () => {
    await roll(setup)
    while ((await left(db)) > 0) await sleep(100)
  })
  const took = (performance.now() - began) / 1_000
  const after = await used()
  state(`${DOMAINS} rollovers, at most ${AT_MOST} at a time`, `${took.toFixed(0)} s`)
  together.report('a write meanwhile')
  for (const [what, number] of Object.entries(perWrite(between, after, DOMAINS))) {
    const writes = (each[what]! * together.times.length) / DOMAINS
    state(`  ${what} of a rollover`, (number - writes).toFixed(1))
  }
  await db.end()
}

/** Queues all, as an operator does. */
async function roll({ backends }: Setup): Promise<void> {
  const file = join(projectFolder(), 'build', 'src', 'cli.js')
  const command = ['dnssec', 'roll', '--all', '--at-most', String(AT_MOST)]
  const { ended, output } = startProgram(process.execPath, [file, ...command], environmentFor(backends))
  if ((await ended) !== 0) throw new Error(output())
}

/** The number of domains whose keys are not replaced yet. */
async function left(db: Db): Promise<number> {
  return (await query<{ left: number }>(db, 'select count(*) as left from rollovers'))[0]!.left
}

type Usage = Record<string, number>

/** Returns a function that tells what the service has used so far. */
function usageOf({ inside }: Service, metricsPort: number): () => Promise<Usage> {
  return async () => {
    const { statements } = await inside()
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const calls = [...text.matchAll(/^zoneplane_powerdns_calls_total\{.*\} (\d+)$/gm)]
    return {
      statements,
      'requests to PowerDNS': calls.reduce((sum, [, number]) => sum + Number(number), 0),
    }
  }
}

/** What was used between two moments for each of so many. */
function perWrite(before: Usage, after: Usage, number: number): Usage {
  return Object.fromEntries(Object.entries(after).map(([what, used]) => [what, (used - before[what]!) / number]))
}

/** Writes of single RRsets without pause to all domains: their times in milliseconds, and their statuses. */
class Writes {
  readonly times: number[] = []
  readonly statuses: number[] = []
  readonly #client: Client
  #written = 0

  constructor(client: Client) {
    this.#client = client
  }

  /** Changes an RRset. */
  async one(name: string): Promise<void> {
    const start = performance.now()
    const { status } = await this.#client.put(`/domains/${name}/rrsets/`, [rrset('host1', ++this.#written)])
    this.times.push(performance.now() - start)
    this.statuses.push(status)
  }

  /** Writes while `work` runs. */
  async during(db: Db, work: () => Promise<unknown>): Promise<void> {
    const over = new AbortController()
    const writer = async (choose: () => Promise<string>) => {
      while (!over.signal.aborted) {
        await this.one(await choose())
        await sleep(PAUSE)
      }
    }
    const any = () => Promise.resolve(zone(Math.floor(Math.random() * DOMAINS)))
    const next = async () => {
      const sql = `select name from rollovers join domains on id = domain_id where phase <> 'queued'
        order by check_at limit ${PURSUERS}`
      const due = await query<{ name: string }>(db, sql)
      return due[Math.floor(Math.random() * PURSUERS)]?.name ?? any()
    }
    const times = (number: number, choose: () => Promise<string>) =>
      Array.from({ length: number }, () => writer(choose))
    const writing = [...times(WRITERS, any), ...times(PURSUERS, next)]
    await work()
    over.abort()
    await Promise.all(writing)
  }

  report(what: string): void {
    this.times.sort((a, b) => a - b)
    for (const [which, share] of [['p50', 0.5], ['p99', 0.99], ['p99.9', 0.999], ['longest', 1]] as const) {
      state(`${what}, ${which}`, `${percentile(this.times, share).toFixed(1)} ms`)
    } // prettier-ignore
    state('  answers', tally(this.statuses))
  }
}

/** Pairs of writes that begin together, of which one waits for the other. */
async function pairs(client: Client): Promise<void> {
  const waiting = new Writes(client)
  for (let i = 0; i < PAIRS; i++) await Promise.all([waiting.one(zone(0)), waiting.one(zone(0))])
  waiting.report('a write beside another one to the same domain')
}
