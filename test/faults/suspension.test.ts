import test, { type ExecutionContext } from 'ava'
import pLimit from 'p-limit'
import { query } from '../../src/store/database.ts'
import { newDomainWithWww, newRRset, sendHeld, type ShownDomain } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { commandsOn } from '../support/command-line.ts'
import { discrepancies, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { ask, lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { type OwnService, useServed, useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import { type Call, type Fate, toZone } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'
import { waitingForLocks } from '../support/state/transactions.ts'

// Contract §7.9: PowerDNS fails, or the command is killed, while a domain is suspended or served again; and writes wait
// for a zone while it is suspended.

const servers = useServers()
const service = useServed(servers)
/** Another process, as it were: it waits for the first one in Postgres only. */
let other: OwnService

test.serial.before('another service is started', async () => {
  other = await servers().serve()
})

const zoneplane = commandsOn(() => service().system)
const zoneplaneElsewhere = commandsOn(() => servers().system)

/** The commands' calls to PowerDNS. */
interface Step {
  command: 'suspend' | 'resume-serving'
  what: string
  isCall: (call: Call, name: string) => boolean
}

const STEPS: Step[] = [
  { command: 'suspend', what: 'the deletion of the zone', isCall: toZone('DELETE') },
  {
    ...{ command: 'resume-serving', what: 'its creation' },
    isCall: ({ method, path, body }, name) =>
      method === 'POST' && path.startsWith('/zones?') && nameIn(body) === `${name}.`,
  },
  {
    ...{ command: 'resume-serving', what: 'the return of its keys' },
    isCall: ({ method, path }, name) => method === 'POST' && path === `${pathOf(name)}/cryptokeys`,
  },
  { command: 'resume-serving', what: 'its settings', isCall: toZone('PUT') },
  { command: 'resume-serving', what: 'its records', isCall: toZone('PATCH') },
]

const nameIn = (body: string) => (JSON.parse(body) as { name: string }).name

const FATES: Record<string, Fate> = {
  'answers 500 without applying the request': { refuse: 500 },
  'answers 500 after applying the request': { spoil: 500 },
  'is behind a gateway that answers 504 and delivers later': { gateway: 504, later: 800 },
  'closes the connection without applying the request': 'cut',
  'closes the connection after applying the request': 'swallow',
  'closes the connection and applies the request later': { abandoned: 800 },
  'does not answer': 'hang',
  'answers too late': { late: 11_000 },
}

/** What the command can print: it succeeded, or says what is stored, and what is not done. */
const PRINTED = {
  suspend:
    /^(\S+: suspended|zoneplane: \S+ is suspended, but its zone may still be served: .* The service goes on trying\.)\n$/,
  'resume-serving':
    /^(\S+: served again|zoneplane: \S+ is no longer suspended, but its zone may not be served yet: .*\.)\n$/,
}

const pathOf = (name: string) => `/zones/${name}.`
const isSuspended = async (name: string) =>
  'suspended' in ((await service().api.get(`/domains/${name}/`)).json as ShownDomain)
const publicKeys = async (name: string) => {
  const keys = (await servers().pdns('GET', `${pathOf(name)}/cryptokeys`)).json as { dnskey: string }[]
  return keys.map(({ dnskey }) => dnskey).sort()
}

/** A domain in the state before the command; and its keys. */
async function prepare(name: string, { command }: Step): Promise<string[]> {
  await newDomainWithWww(service().api, name)
  const keys = await publicKeys(name)
  if (command === 'resume-serving') {
    const [isDone, printed] = await zoneplane('domain', 'suspend', name)
    if (!isDone) throw new Error(printed)
  }
  return keys
}

/** Requires that repair finishes what the command began, and that the domain comes back as it was. */
async function checkEnd(t: ExecutionContext, name: string, { command }: Step, keys: string[]) {
  t.is(await isSuspended(name), command === 'suspend')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  if (command === 'suspend') {
    t.is((await ask(servers().powerDns, `www.${name}`, 'A')).rcode, 'REFUSED')
    const [isDone, printed] = await zoneplane('domain', 'resume-serving', name)
    t.true(isDone, printed)
  }
  t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
  t.deepEqual(await publicKeys(name), keys)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
}

let number = 0

/** The operator's commands have room for five writes at once. */
const room = pLimit(5)

for (const step of STEPS) {
  const { command, what, isCall } = step
  for (const [how, fate] of Object.entries(FATES)) {
    test(`if PowerDNS ${how}, at ${what}, ${command} has its effect in the end`, (t) =>
      room(async () => {
        const name = `fails-${number++}.example`
        const keys = await prepare(name, step)
        const stopped = servers().proxy.stop((call) => isCall(call, name))
        const running = zoneplane('domain', command, name)
        await stopped.arrived
        stopped.release(fate)
        const [, printed] = await running
        t.regex(printed, PRINTED[command])
        await checkEnd(t, name, step, keys)
      }))
  }

  for (const [when, fate] of Object.entries({
    'before PowerDNS has the request': 'cut',
    'after PowerDNS has the request': 'swallow',
    'and PowerDNS applies the request later': { late: 1_000 },
  } satisfies Record<string, Fate>)) {
    test(`if ${command} is killed at ${what}, ${when}, it has its effect in the end`, (t) =>
      room(async () => {
        const name = `killed-${number++}.example`
        const keys = await prepare(name, step)
        const stopped = servers().proxy.stop((call) => isCall(call, name))
        const { child, ended } = startOurs(['domain', command, name], environmentFor(servers().backends))
        await stopped.arrived
        child.kill('SIGKILL')
        await ended
        stopped.release(fate)
        await checkEnd(t, name, step, keys)
      }))
  }
}

const a = (subname: string) => ({ subname, type: 'A', ttl: 60, records: ['192.0.2.1'] })

/**
 * A write holds a zone while a domain is suspended, and requests of another process wait for that.
 * @returns the answers to these requests
 */
async function whileHeld<T>(zone: string, suspended: string, send: () => Promise<T>): Promise<T> {
  const { db } = servers().system
  const isPatch = (call: Call) => toZone('PATCH')(call, zone)
  const held = await sendHeld(servers(), isPatch, () => newRRset(service().api, zone, a('held')))
  const suspending = zoneplaneElsewhere('domain', 'suspend', suspended)
  await eventually(async () => (await waitingForLocks(db)) === 1)
  const answering = send()
  await eventually(async () => (await waitingForLocks(db)) > 1)
  held.release('pass')
  await held.answering
  const [isDone, printed] = await suspending
  if (!isDone) throw new Error(printed)
  return answering
}

const refusal = (name: string) =>
  `{"detail":"${name} is suspended by the operator of this service: it is not served and cannot be changed. Please contact the operator."}`

/** The requests that may wait for a zone. */
const WRITES: Record<string, (api: Client, name: string) => Promise<Answer>> = {
  'a new RRset': (api, name) => api.post(`/domains/${name}/rrsets/`, a('new')),
  'a bulk write': (api, name) => api.put(`/domains/${name}/rrsets/`, [a('new'), a('newer')]),
  'a zone file': (api, name) =>
    api.put(`/domains/${name}/zonefile/`, undefined, {
      headers: { 'content-type': 'text/dns' },
      body: 'new 60 A 192.0.2.1\n',
    }),
  'a dynDNS update': (api, name) => api.get(`/dyndns/update?hostname=${name}&myipv4=192.0.2.9`),
  'a rollover': (api, name) => api.post(`/domains/${name}/rollover/`, {}),
  transfers: (api, name) =>
    api.put(`/domains/${name}/transfers/`, { addresses: ['192.0.2.7'], notify: [], tsig: true }),
  'its deletion': (api, name) => api.delete(`/domains/${name}/`),
}

for (const [what, send] of Object.entries(WRITES)) {
  test.serial(`${what} that waits for a zone while it is suspended is refused, and stores nothing`, async (t) => {
    const name = `waits-${number++}.example`
    await newDomainWithWww(service().api, name)
    const { status, text } = await whileHeld(name, name, () => send(other.api, name))
    t.is(status, 409)
    t.true(refusal(name).includes(text))
    t.deepEqual(await contentsOf(name), ['A held', 'A www', 'NS '])
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })
}

test.serial('a write above a domain that waits while that is suspended does not bring its names back', async (t) => {
  const name = 'above.example'
  await newDomainWithWww(service().api, name)
  await newDomainWithWww(service().api, `phish.${name}`)
  const write = () => other.api.post(`/domains/${name}/rrsets/`, a('www.phish'))
  const { status, text } = await whileHeld(name, `phish.${name}`, write)
  t.deepEqual([status, text], [409, refusal(`phish.${name}`)])
  t.deepEqual(await contentsOf(name), ['A held', 'A www', 'NS '])
  t.is((await ask(servers().powerDns, `www.phish.${name}`, 'A')).rcode, 'NXDOMAIN')
})

test.serial('at the end, DNS equals the database', async (t) => {
  t.deepEqual(await discrepancies(servers()), [])
})

/** The RRsets of a domain in the database. */
async function contentsOf(name: string): Promise<string[]> {
  const sql = `select concat_ws(' ', type, subname) as key from rrsets join domains on domains.id = domain_id
    where name = :name order by type, subname`
  return (await query<{ key: string }>(servers().system.db, sql, { name })).map((row) => row.key)
}
