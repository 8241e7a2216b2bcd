import test from 'ava'
import { release } from '../../src/service/adoption/adoption.ts'
import { pause } from '../../src/service/adoption/pausing.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { query } from '../../src/store/database.ts'
import { createAccount, emailOf } from '../support/clients/accounts.ts'
import { newReservedDomain, type ShownDomain, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { allLettersTo } from '../support/clients/mails.ts'
import { commandsOn } from '../support/command-line.ts'
import { hasMembers } from '../support/dns/catalog.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { ask, lookUp } from '../support/dns/dns.ts'
import { type OwnService, useServers } from '../support/harness.ts'

// Contract §7.9: the operator suspends a domain, and serves it again.

const servers = useServers()
const CATALOG = 'catalog.example'
const SUFFIX = 'dyn.example.net'
let service: OwnService
let api: Client

test.serial.before('a service with a catalog zone and a local public suffix', async () => {
  service = await servers().serve({ CATALOG_ZONE: CATALOG, LOCAL_PUBLIC_SUFFIXES: SUFFIX, LOG_LEVEL: 'error' })
  ;({ api } = service)
})

const zoneplane = commandsOn(() => service.system)

async function done(...args: string[]): Promise<string> {
  const [succeeded, printed] = await zoneplane(...args)
  if (!succeeded) throw new Error(printed)
  return printed
}

const rrsets = (name: string) => `/domains/${name}/rrsets/`
const a = (subname: string, address = '192.0.2.1') => ({ subname, type: 'A', ttl: 60, records: [address] })
const served = (name: string) => lookUp(servers().powerDns, `www.${name}`, 'A')
const codeOf = async (name: string) => (await ask(servers().powerDns, `www.${name}`, 'A')).rcode
const shown = async (name: string) => (await api.get(`/domains/${name}/`)).json as ShownDomain & { suspended?: string }
const serialAt = async (name: string) =>
  ((await servers().pdns('GET', `/zones/${name}.`)).json as { serial: number }).serial

async function make(name: string): Promise<void> {
  succeeded(await api.post('/domains/', { name }), 201)
  succeeded(await api.post(rrsets(name), a('www')), 201)
}

const refusal = (name: string) =>
  `{"detail":"${name} is suspended by the operator of this service: it is not served and cannot be changed. Please contact the operator."}`

test.serial('a suspended domain is not served, shows since when, and comes back as it was', async (t) => {
  const name = 'abuse.example'
  await make(name)
  await hasMembers(servers().powerDns, CATALOG, [name])
  const before = await shown(name)
  const serial = await serialAt(name)
  t.is(before.suspended, undefined)
  t.is(await done('domain', 'suspend', name), `${name}: suspended\n`)
  t.is(await codeOf(name), 'REFUSED')
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 404)
  await hasMembers(servers().powerDns, CATALOG, [])
  const { suspended, ...during } = await shown(name)
  t.regex(String(suspended), /^20.*Z$/)
  t.deepEqual(during, before)
  t.is((await api.get(`/domains/?search=${name}`)).text.includes('"suspended":"20'), true)
  t.deepEqual(((await api.get(`${rrsets(name)}www/A/`)).json as { records: string[] }).records, ['192.0.2.1'])
  const status = (await api.get(`/domains/${name}/publication/`)).json as { nameservers: { detail: string }[] }
  t.is(status.nameservers[0]?.detail, 'does not serve the zone')

  // Nothing brings it back: not repair, not the audit, not a repetition.
  t.deepEqual(await reconcileAll(service.system, { contents: true }), { doubtful: [], left: [] })
  t.is(await done('domain', 'suspend', name), `${name}: suspended\n`)
  t.is(await codeOf(name), 'REFUSED')

  t.is(await done('domain', 'resume-serving', name), `${name}: served again\n`)
  t.deepEqual(await served(name), ['192.0.2.1'])
  t.deepEqual(await shown(name), before)
  t.true((await serialAt(name)) > serial)
  await hasMembers(servers().powerDns, CATALOG, [name])
  t.is((await api.patch(`${rrsets(name)}www/A/`, a('www', '192.0.2.2'))).status, 200)
  t.deepEqual(await served(name), ['192.0.2.2'])

  const letters = await allLettersTo(service.system, await emailOf(service.system, servers().owner.id))
  t.deepEqual(
    letters.map(({ subject }) => subject),
    [`${name} was suspended`, `${name} is served again`],
  )
})

test.serial('its owner can neither change nor delete it, and no zone brings its names back', async (t) => {
  const name = 'phish.parent.example'
  await make(name)
  await make('parent.example')
  const entry = ((await api.get(`/domains/${name}/history/`)).json as { id: string }[])[0]!.id
  t.regex(await done('domain', 'suspend', name), /: its account also has .* which are served: parent\.example\n$/)
  const refused: [what: string, answer: Promise<{ status: number; text: string }>][] = [
    ['POST', api.post(rrsets(name), a('new'))],
    ['PATCH', api.patch(`${rrsets(name)}www/A/`, { ttl: 61 })],
    ['DELETE', api.delete(`${rrsets(name)}www/A/`)],
    ['dry run', api.post(`${rrsets(name)}?dry_run=true`, a('new'))],
    ['bulk', api.put(rrsets(name), [a('new')])],
    ['undo', api.post(`/domains/${name}/history/${entry}/undo/`)],
    ['restore', api.post(`/domains/${name}/restore/`, { version: 1 })],
    ['note', api.patch(`/domains/${name}/`, { note: 'Ask Alice.' })],
    ['transfers', api.put(`/domains/${name}/transfers/`, { addresses: [], notify: [], tsig: true })],
    ['rollover', api.post(`/domains/${name}/rollover/`, {})],
    ['deletion', api.delete(`/domains/${name}/`)],
    ['export', api.get(`/domains/${name}/zonefile/`)],
    // Of the domain above it.
    ['at its name', api.post(rrsets('parent.example'), a('phish'))],
    ['below it', api.put(rrsets('parent.example'), [a('fine'), a('www.phish')])],
    ['wildcard', api.post(rrsets('parent.example'), a('*'))],
    ['wildcard below', api.post(rrsets('parent.example'), a('*.phish'))],
    ['DNAME', api.post(rrsets('parent.example'), { ...a('phish'), type: 'DNAME', records: ['x.example.'] })],
    ['delegation', api.post(rrsets('parent.example'), { ...a('phish'), type: 'NS', records: ['ns.x.example.'] })],
    ['dry run above', api.post(`${rrsets('parent.example')}?dry_run=true`, a('phish'))],
  ]
  for (const [what, answer] of refused) {
    const { status, text } = await answer
    t.deepEqual([status, text], [409, refusal(name)], what)
  }
  const dyndns = await api.get(`/dyndns/update?hostname=${name}&myipv4=192.0.2.9`)
  t.deepEqual([dyndns.status, dyndns.text], [409, (JSON.parse(refusal(name)) as { detail: string }).detail])

  const conflict = '{"name":["This domain name conflicts with an existing domain, or is disallowed by policy."]}'
  const { api: other } = await createAccount(service.system, service.url)
  for (const client of [api, other]) {
    t.is((await client.post('/domains/', { name })).text, '{"name":["domain with this name already exists."]}')
    t.is((await client.post('/domains/', { name: `www.${name}` })).text, conflict)
    t.is((await client.post('/domains/', { name, restore: true })).status, 400)
  }
  // What does not answer for its names can be written.
  t.is((await api.post(rrsets('parent.example'), a('other'))).status, 201)
  t.is((await api.delete(`${rrsets('parent.example')}other/A/`)).status, 204)
  t.is(await codeOf(name), 'NXDOMAIN')

  t.is((await api.delete('/domains/parent.example/')).status, 204)
  t.is((await api.post('/domains/', { name: 'parent.example' })).text, conflict)
  t.is((await api.post('/domains/', { name: 'parent.example', restore: true })).text, conflict)
  t.is(await codeOf(name), 'REFUSED')
  await done('domain', 'resume-serving', name)
  t.is((await api.post('/domains/', { name: 'parent.example', restore: true })).status, 201)
})

test.serial('below a local public suffix, the delegation goes and comes back', async (t) => {
  await newReservedDomain(service, servers().owner.id, SUFFIX)
  const name = `child.${SUFFIX}`
  await make(name)
  const ds = () => lookUp(servers().powerDns, name, 'DS')
  const before = await ds()
  t.true(before.length > 0)
  await done('domain', 'suspend', name)
  t.deepEqual(await ds(), [])
  t.is(await codeOf(name), 'NXDOMAIN')
  await done('domain', 'resume-serving', name)
  t.deepEqual(await ds(), before)
  t.deepEqual(await served(name), ['192.0.2.1'])
})

test.serial('a zone that appears at PowerDNS is deleted, with its keys stored; a deleted one stays away', async (t) => {
  const name = 'again.example'
  await make(name)
  const { keys } = await shown(name)
  await done('domain', 'suspend', name)
  await servers().pdns('POST', '/zones', { name: `${name}.`, kind: 'Native', nameservers: ['ns1.x.example.'] })
  const { doubtful, left } = await reconcileAll(service.system, { contents: false })
  t.deepEqual([doubtful, left], [[name], []])
  t.is(await codeOf(name), 'REFUSED')
  await done('domain', 'resume-serving', name)
  t.deepEqual((await shown(name)).keys, keys)
  t.deepEqual(await served(name), ['192.0.2.1'])
})

test.serial('the operator deletes a suspended domain, and other commands leave it alone', async (t) => {
  const name = 'ended.example'
  await make(name)
  const [isPaused, paused] = await zoneplane('domain', 'suspend', 'nowhere.example')
  t.deepEqual([isPaused, paused], [false, 'zoneplane: There is no domain nowhere.example.\n'])
  t.is((await zoneplane('domain', 'resume-serving', name))[1], `zoneplane: ${name} is not suspended.\n`)
  await done('domain', 'suspend', name)
  const text = JSON.parse(refusal(name)) as { detail: string }
  await t.throwsAsync(pause(service.system, name), { message: text.detail })
  await t.throwsAsync(release(service.system, name), { message: text.detail })
  await t.throwsAsync(() => done('domain', 'set-denial', name, 'nsec'), { message: /is suspended/ })
  await t.throwsAsync(() => done('domain', 'delete', name, '--confirm', 'other.example'), { message: /nothing was/ })
  t.is(await done('domain', 'delete', name, '--confirm', name), `${name}: deleted\n`)
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  t.is((await api.post('/domains/', { name, restore: true })).status, 201)
  t.deepEqual(await served(name), ['192.0.2.1'])

  await pause(service.system, name)
  await t.throwsAsync(() => done('domain', 'suspend', name), { message: /is paused/ })
})

test.serial('at the end, DNS equals the database', async (t) => {
  t.deepEqual(await discrepancies(servers(), [CATALOG]), [])
  t.deepEqual(await query(service.system.db, 'select zone from marks where not settled'), [])
})
