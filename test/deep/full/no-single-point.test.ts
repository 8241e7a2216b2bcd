import type { ExecutionContext } from 'ava'
import { Agent, setGlobalDispatcher } from 'undici'
import { succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { LATE, OrdinaryClient, read, resolve, Sights } from '../../support/machines/clients.ts'
import { lackOfMachines, type Loss, type Machine } from '../../support/machines/machine.ts'
import { Reference } from '../../support/machines/reference.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { createWorkload } from '../workload.ts'

// The setup without a single point of failure of docs/deployment.md, with machines of namespaces. Parts are lost in turn,
// while clients write, read and ask without pause.

const missing = await lackOfMachines()
const where = needs(missing, test)
const NAME = 'always.example'
const RRSET = `/domains/${NAME}/rrsets/www/A/`
const ADDRESS = '192.0.2.1'

const sights = new Sights()
const workload = createWorkload('single', 4, 2)
let reference: Reference
let api: OrdinaryClient
/** The rows of the table: for each loss the worst of what clients saw, however it came. */
const table = new Map<string, number[]>()

if (missing === undefined) {
  test.before('the machines start', async () => {
    reference = await Reference.start(`198.18.${1 + (process.pid % 254)}.`)
    const { url, certificate } = reference.api
    const patience = { headersTimeout: 10_000, bodyTimeout: 10_000 }
    setGlobalDispatcher(new Agent({ connect: { ca: certificate, timeout: 3000 }, ...patience }))
    api = new OrdinaryClient(url, reference.token, sights)
    succeeded(await api.post('/domains/', { name: NAME }), 201)
    const rrset = { subname: 'www', type: 'A', ttl: 60, records: [ADDRESS] }
    succeeded(await api.post(`/domains/${NAME}/rrsets/`, rrset), 201)
    for (const server of reference.secondaries) await eventuallyIs(() => lookUp(server, `www.${NAME}`, 'A'), [ADDRESS])
  })

  test.after.always('the machines stop', async () => {
    await (reference as Reference | undefined)?.stop()
  })
}

/** A machine, or a program on it. */
type Part = [machine: Machine, program?: string]

const machines = () => reference.machines
const balancer = () => reference.balancer()
const leader = () => reference.leader()

const ALL: Loss[] = ['killed', 'hanging', 'cut off']
const STAYING: Loss[] = ['killed', 'hanging']

/** What is lost, and how. While `stops`, writes wait for its return. */
const LOSSES: [what: string, how: Loss[], parts: () => Promise<Part[]>, stops?: boolean][] = [
  ['the balancer with the address of the API', ALL, async () => [[await balancer()]]],
  ['its HAProxy', STAYING, async () => [[await balancer(), 'haproxy']]],
  ['a dnsdist', STAYING, async () => [[machines().lb1, 'dnsdist']]],
  ['an API process', STAYING, async () => [[machines().api1, 'zoneplane']]],
  ['the HAProxy of an API process', STAYING, async () => [[machines().api1, 'haproxy']]],
  ['a machine with an API process', ALL, async () => [[machines().api2]]],
  ['the PowerDNS primary', STAYING, async () => [[machines().api1, 'powerdns']], true],
  ['the machine with it', ['cut off'], async () => [[machines().api1]], true],
  ['the leader of Postgres', STAYING, async () => [[await leader()]]],
]

for (const [what, hows, parts, stops = false] of LOSSES) {
  for (const how of hows) {
    where(`${what}: ${how}`, async (t) => {
      await whileUsed(t, async () => {
        const lost = await parts()
        sights.begin()
        for (const [machine, program] of lost) await machine.lose(how, program)
        try {
          if (!stops) await workload.acknowledged(50)
          await Promise.all([sights.reads.more(50), sights.answers.more(50)])
        } finally {
          for (const [machine] of lost) await machine.bring()
          await reference.healthy()
        }
        await workload.acknowledged(50)
      })
      const { reads, writes, answers } = sights
      const seen = [
        ...[reads.away, stops ? NaN : writes.away, Math.max(reads.longest, writes.longest), answers.longest],
        ...[reads.repeated + writes.repeated, reads.failed + writes.failed],
      ]
      t.log(row(how, seen))
      const others = table.get(what) ?? seen
      table.set(
        what,
        seen.map((each, i) => Math.max(each, others[i]!)),
      )
    })
  }
}

where('the table of the page', (t) => {
  for (const [what, worst] of table)
    t.log(row(`${what}: ${LOSSES.find(([each]) => each === what)![1].join(', ')}`, worst))
  t.is(table.size, LOSSES.length)
})

/** A row: seconds of the times, which are in milliseconds, and how many requests were repeated, and failed. */
function row(what: string, [reads, writes, request, answer, repeated, failed]: number[]): string {
  const seconds = [reads, writes, request, answer].map((each) =>
    Number.isNaN(each) ? 'until it is back' : `${(each! / 1000).toFixed(1)} s`,
  )
  return `| ${[what, ...seconds, repeated, failed].join(' | ')} |`
}

/** Runs the clients during `work`: nothing acknowledged is lost, all questions are answered, and the secondaries catch up. */
async function whileUsed(t: ExecutionContext, work: () => Promise<void>): Promise<void> {
  let isOver = false
  const over = () => isOver
  const [one, other] = reference.nameservers as [string, string]
  const ask = (...servers: string[]) => resolve(`www.${NAME}`, ADDRESS, servers, sights.answers, over)
  const running = [workload.run(api), read(api, RRSET, over), ask(one, other), ask(other, one)]
  try {
    await workload.acknowledged(50)
    await work()
  } finally {
    isOver = true
    workload.stop()
    const wrong = (await Promise.all(running)).flat()
    t.deepEqual(
      wrong.filter((each) => !each.endsWith(LATE)),
      [],
    )
  }
  t.deepEqual(await workload.broken(api), [])
  for (const domain of await written()) {
    const { json } = succeeded(await api.get(`/domains/${domain}/rrsets/?type=A`), 200)
    const records = (json as { records: string[] }[]).flatMap((rrset) => rrset.records)
    for (const server of reference.secondaries) await eventuallyIs(() => lookUp(server, `www.${domain}`, 'A'), records)
  }
}

async function written(): Promise<string[]> {
  const { json } = succeeded(await api.get('/domains/'), 200)
  return (json as { name: string }[]).map(({ name }) => name)
}
