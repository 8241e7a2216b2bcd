import test from 'ava'
import packet from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { NOTIFY_PAUSES } from '../../src/nameserver/secondaries/secondaries.ts'
import type { PowerDns } from '../../src/private-servers/powerdns.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { commandsOn } from '../support/command-line.ts'
import { transfer } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { needs } from '../support/needs.ts'
import { lackOfPort53, ownNetwork } from '../support/servers/ports.ts'
import { pdnsOf } from '../support/servers/powerdns/driver.ts'
import { type Closed, startClosed } from '../support/servers/servers.ts'
import type { LocalService } from '../support/servers/service.ts'

// Contract §15.7, as PowerDNS serves it. This PowerDNS lets nobody transfer a zone unless its settings say so. It remembers
// for a minute who may transfer a zone: so each zone is asked for once, or in the same state. One test after the other,
// because the creations of an account wait for each other.

let servers: Closed
let powerDns: PowerDns
let service: LocalService
let api: Client

test.serial.before('a PowerDNS that lets nobody transfer zones', async () => {
  servers = await startClosed({ dnsPort: 0 })
  ;({ powerDns, service } = servers)
  const account = await createAccount(service.system, service.url, { limitDomains: null })
  api = account.api
})

test.after.always('the servers stop', async () => {
  await servers.stop()
})

interface Shown {
  key?: { name: string; algorithm: string; secret: string }
}

async function set(name: string, addresses: string[], { tsig = false, notify = [] as string[] } = {}): Promise<string> {
  const answer = succeeded(await api.put(`/domains/${name}/transfers/`, { addresses, notify, tsig }), 200)
  const { key } = answer.json as Shown
  return key === undefined ? '' : `${key.algorithm}:${key.name}:${key.secret}`
}

const mayTransfer = (name: string, key?: string, from = '127.0.0.1') =>
  transfer(powerDns, name, key, from).then(
    (text) => /\sSOA\s/.test(text),
    () => false,
  )

test.serial('who is named may transfer the zone, others may not', async (t) => {
  const name = await newDomain(api)
  t.is(await set(name, ['127.0.0.2', '127.1.0.0/16', '2001:db8::/64']), '')
  t.true(await mayTransfer(name, undefined, '127.0.0.2'))
  t.true(await mayTransfer(name, undefined, '127.1.2.3'))
  t.false(await mayTransfer(name, undefined, '127.0.0.1'))
  t.false(await mayTransfer(name, undefined, '127.2.0.1'))
})

test.serial('whoever has the key may transfer the zone from anywhere, and no other zone', async (t) => {
  const [name, other] = [await newDomain(api), await newDomain(api)]
  const key = await set(name, [], { tsig: true })
  await set(other, [], { tsig: true })
  t.true(await mayTransfer(name, key))
  t.false(await mayTransfer(other, key))
  t.false(await mayTransfer(name))
})

test.serial('a key that was withdrawn, and an address that was removed, are refused', async (t) => {
  const name = await newDomain(api)
  const former = await set(name, ['127.0.0.2', '127.0.0.3'], { tsig: true })
  await set(name, ['127.0.0.3'])
  t.false(await mayTransfer(name, former))
  t.false(await mayTransfer(name, undefined, '127.0.0.2'))
  t.true(await mayTransfer(name, undefined, '127.0.0.3'))
  const next = await set(name, [], { tsig: true })
  t.not(next, former)
  t.false(await mayTransfer(name, former))
})

test.serial('changes leave it as it is; also those after which PowerDNS was changed by somebody else', async (t) => {
  const name = await newDomain(api)
  const key = await set(name, ['127.0.0.2'], { tsig: true })
  await newRRset(api, name)
  const call = pdnsOf(powerDns)
  const [algorithm, id, secret] = key.split(':')
  await call('PUT', `/zones/${name}.`, { master_tsig_key_ids: [] })
  await call('PUT', `/zones/${name}./metadata/ALLOW-AXFR-FROM`, { kind: 'ALLOW-AXFR-FROM', metadata: ['127.0.0.9'] })
  await call('DELETE', `/tsigkeys/${id}.`)
  const [succeeded, printed] = await commandsOn(() => service.system)('reconcile', '--contents')
  t.true(succeeded, printed)
  t.true(await mayTransfer(name, `${algorithm}:${id}:${secret}`))
  t.true(await mayTransfer(name, undefined, '127.0.0.2'))
  t.false(await mayTransfer(name, undefined, '127.0.0.9'))
})

test.serial('a domain that comes back has them again', async (t) => {
  const name = await newDomain(api)
  const key = await set(name, ['127.0.0.2'], { tsig: true })
  succeeded(await api.delete(`/domains/${name}/`), 204)
  t.false(await mayTransfer(name, key))
  succeeded(await api.post('/domains/', { name, restore: true }), 201)
  t.true(await mayTransfer(name, key))
  t.true(await mayTransfer(name, undefined, '127.0.0.2'))
})

test.serial('a new domain of the same name has nothing of it', async (t) => {
  const name = await newDomain(api)
  await set(name, ['127.0.0.2'], { tsig: true })
  succeeded(await api.delete(`/domains/${name}/`), 204)
  await newDomain(api, name)
  t.deepEqual((await api.get(`/domains/${name}/transfers/`)).json, { addresses: [], notify: [], tsig: false })
  t.false(await mayTransfer(name, undefined, '127.0.0.2'))
})

test.serial('a PowerDNS that has lost its zones gets all of it again', async (t) => {
  const name = await newDomain(api)
  const key = await set(name, ['127.0.0.2'], { tsig: true })
  await service.system.nameserver.deleteZone(`${name}.`, { confirm: () => Promise.resolve() })
  await service.system.nameserver.removeTransferKey(key.split(':')[1]!)
  const [succeeded, printed] = await commandsOn(() => service.system)('reconcile')
  t.true(succeeded, printed)
  t.true(await mayTransfer(name, key))
  t.true(await mayTransfer(name, undefined, '127.0.0.2'))
})

/** NOTIFY goes to port 53 alone. */
const ADDRESS = `${ownNetwork()}7`

needs(lackOfPort53(ADDRESS))('who is to be told gets a NOTIFY after each change, and again', async (t) => {
  const socket = createSocket('udp4').bind(53, ADDRESS)
  await once(socket, 'listening')
  const told: { zone: string | undefined; type: string | undefined; opcode: string }[] = []
  socket.on('message', (octets) => {
    const { questions, opcode } = packet.decode(octets) as unknown as { questions: packet.Question[]; opcode: string }
    told.push({ zone: questions[0]?.name, type: questions[0]?.type, opcode })
  })
  const [name, other] = [await newDomain(api), await newDomain(api)]
  await set(name, [`${ADDRESS}/32`], { notify: [ADDRESS] })
  await newRRset(api, other)
  await eventually(() => told.length >= 2)
  for (const subname of ['a', 'b', 'c']) {
    const before = told.length
    await newRRset(api, name, { subname })
    await eventually(() => told.length > before)
  }
  socket.close()
  // One change is told so many times at most.
  t.true(told.length > NOTIFY_PAUSES.length)
  for (const each of told) t.deepEqual(each, { zone: name, type: 'SOA', opcode: 'NOTIFY' })
})
