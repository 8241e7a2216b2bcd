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
    for (const server of reference.servers) await eventuallyIs(() => lookUp(server, `www.${NAME}`, 'A'), [ADDRESS])
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
const replica = () => reference.replica()
const active = async () => (await reference.primaries()).active
const standby = async () => (await reference.primaries()).standby

const ALL: Loss[] = ['killed', 'hanging', 'cut off']
const STAYING: Loss[] = ['killed', 'hanging']

/** What is lost, and how: each part, and pairs of them. */
const LOSSES: [what: string, how: Loss[], parts: () => Promise<Part[]>][] = [
  ['the balancer with the address of the API', ALL, async () => [[await balancer()]]],
  ['its HAProxy', STAYING, async () => [[await balancer(), 'haproxy']]],
  ['a dnsdist', STAYING, async () => [[machines().lb1, 'dnsdist']]],
  ['an API process', STAYING, async () => [[machines().api1, 'zoneplane']]],
  ['the HAProxy of an API process', STAYING, async () => [[machines().api1, 'haproxy']]],
  ['the active PowerDNS', STAYING, async () => [[await active(), 'powerdns']]],
  ['the standby PowerDNS', STAYING, async () => [[await standby(), 'powerdns']]],
  ['the machine with the active PowerDNS', ALL, async () => [[await active()]]],
  ['the machine with the standby PowerDNS', ALL, async () => [[await standby()]]],
  ['the leader of Postgres', ALL, async () => [[await leader()]]],
  ['the synchronous standby of Postgres', ALL, async () => [[await replica()]]],
  ['etcd beside the leader', STAYING, async () => [[await leader(), 'etcd']]],
  ['BIND', ALL, async () => [[machines().bind]]],
  ['Knot', ALL, async () => [[machines().knot]]],
  [
    'the machine with the active PowerDNS, and the leader',
    ['killed'],
    async () => [[await active()], [await leader()]],
  ],
  [
    'the machine with the active PowerDNS, and the balancer',
    ['cut off'],
    async () => [[await active()], [await balancer()]],
  ],
  [
    'the active PowerDNS, and the HAProxy of the balancer',
    ['killed'],
    async () => [
      [await active(), 'powerdns'],
      [await balancer(), 'haproxy'],
    ],
  ],
  ['the leader of Postgres, and the balancer', ['cut off'], async () => [[await leader()], [await balancer()]]],
  ['BIND, and a dnsdist', ['killed'], async () => [[machines().bind], [machines().lb1, 'dnsdist']]],
  ['Knot, and the balancer', ['hanging'], async () => [[machines().knot], [await balancer()]]],
]

for (const [what, hows, parts] of LOSSES) {
  for (const how of hows) {
    where(`${what}: ${how}`, async (t) => {
      const seen = await whileUsed(t, async () => {
        const lost = await parts()
        sights.begin()
        for (const [machine, program] of lost) await machine.lose(how, program)
        try {
          await Promise.all([workload.acknowledged(50), sights.reads.more(50), sights.answers.more(50)])
        } finally {
          for (const [machine] of lost) await machine.bring()
          await reference.healthy()
        }
        await workload.acknowledged(50)
        const { reads, writes, answers } = sights
        return [
          ...[reads.away, writes.away, reads.repeated + writes.repeated, reads.failed + writes.failed],
          ...[answers.longest, answers.failed],
        ]
      })
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

/** A row: seconds of the times, which are in milliseconds, and numbers of requests and questions. */
function row(what: string, [reads, writes, repeated, failed, answer, unanswered]: number[]): string {
  const seconds = (each: number) => `${(each / 1000).toFixed(1)} s`
  return `| ${[what, seconds(reads!), seconds(writes!), repeated, failed, seconds(answer!), unanswered].join(' | ')} |`
}

/** Runs the clients during `work`: nothing acknowledged is lost, all questions are answered, and the secondaries catch up. */
async function whileUsed<T>(t: ExecutionContext, work: () => Promise<T>): Promise<T> {
  let isOver = false
  const over = () => isOver
  const [one, other] = reference.nameservers as [string, string]
  const ask = (...servers: string[]) => resolve(`www.${NAME}`, ADDRESS, servers, sights.answers, over)
  let seen: T
  const running = [workload.run(api), read(api, RRSET, over), ask(one, other), ask(other, one)]
  try {
    await workload.acknowledged(50)
    seen = await work()
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
    for (const server of reference.servers) await eventuallyIs(() => lookUp(server, `www.${domain}`, 'A'), records)
  }
  return seen
}

async function written(): Promise<string[]> {
  const { json } = succeeded(await api.get('/domains/'), 200)
  return (json as { name: string }[]).map(({ name }) => name)
}
