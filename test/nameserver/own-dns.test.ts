import test from 'ava'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { endpointsOf } from '../../src/nameserver/powerdns/own-dns.ts'
import type { PowerDns } from '../../src/nameserver/powerdns/powerdns.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { driverAt } from '../support/servers/powerdns/driver.ts'

// Where PowerDNS answers queries is learnt from its settings. There it is asked for the serial of a zone before each write,
// and its API only if the answer is another one, or none.

const service = useService()

const NO_CACHES = { 'cache-ttl': '0', 'query-cache-ttl': '0' }

for (const [what, settings, url, expected] of [
  ['one address', { 'local-address': '192.0.2.1' }, 'http://127.0.0.1:8081', ['192.0.2.1 53']],
  [
    'several, some with ports',
    { 'local-address': '192.0.2.1:5300, 2001:db8::1;[2001:db8::2]:5301 [2001:db8::3]' },
    'http://127.0.0.1:8081',
    ['192.0.2.1 5300', '2001:db8::1 53', '2001:db8::2 5301', '2001:db8::3 53'],
  ],
  [
    'all, which are that of the API',
    { 'local-address': '0.0.0.0, ::', 'local-port': '5300' },
    'http://[::1]:8081/pdns',
    ['::1 5300'],
  ],
  ['all, with a port', { 'local-address': '0.0.0.0:54' }, 'http://192.0.2.9:8081', ['192.0.2.9 54']],
  ['all, behind a name without address', { 'local-address': '0.0.0.0' }, 'http://name.invalid', []],
  ['none', { 'local-address': '' }, 'http://127.0.0.1:8081', []],
  ['what is no address', { 'local-address': 'eth0, 192.0.2.1' }, 'http://127.0.0.1:8081', ['192.0.2.1 53']],
  ['a packet cache', { 'local-address': '192.0.2.1', 'cache-ttl': '20' }, 'http://127.0.0.1:8081', []],
  ['a query cache', { 'local-address': '192.0.2.1', 'query-cache-ttl': '1' }, 'http://127.0.0.1:8081', []],
] as const) {
  test(`addresses: ${what}`, async (t) => {
    const all: Record<string, string> = { 'local-port': '53', ...NO_CACHES, ...settings }
    const endpoints = await endpointsOf((setting) => all[setting] ?? '', url)
    const shown = endpoints.map(({ address, port }) => `${address} ${port}`)
    t.deepEqual(shown, expected)
  })
}

test('settings that PowerDNS does not tell mean nothing', async (t) => {
  t.deepEqual(await endpointsOf(() => '', 'http://127.0.0.1:8081'), [])
})

/** A server for DNS that answers as PowerDNS does, or not at all. */
async function relay(): Promise<{ socket: Socket; endpoint: string; mute: () => void }> {
  const { dnsHost, dnsPort } = service().powerDns
  const socket = createSocket('udp4')
  let isMute = false
  socket.on('message', (question, { port, address }) => {
    if (isMute) return
    const onward = createSocket('udp4')
    onward.on('message', (answer) => {
      socket.send(answer, port, address)
      onward.close()
    })
    onward.send(question, dnsPort, dnsHost)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    socket,
    endpoint: `127.0.0.1:${socket.address().port}`,
    mute: () => (isMute = true),
  }
}

/** A driver that has learnt these settings of PowerDNS. */
async function driverWith(settings: Record<string, string>): Promise<PowerDns> {
  const { proxy, backends } = service()
  const all = Object.entries({ launch: 'lmdb', 'dname-processing': 'yes', ...NO_CACHES, ...settings })
  const answer = all.map(([name, value]) => ({ name, value }))
  proxy.fail(({ path }) => (path === '/config' ? { answer } : 'pass'))
  const driver = driverAt(proxy.url, backends.pdnsApiKey, { connections: 2 })
  await driver.probe()
  proxy.heal()
  return driver
}

/**
 * Waits until a driver that has learnt these settings asks so. On a busy machine an answer over DNS may be late; then the
 * API is asked.
 */
async function asks(settings: Record<string, string>, expected: typeof BY_DNS): Promise<void> {
  await eventuallyIs(async () => {
    const driver = await driverWith(settings)
    const seen = await asked(driver)
    await driver.close()
    return seen
  }, expected)
}

/** Whether a zone has the serial that it has, and the next one; and how many questions the API got for each. */
async function asked(driver: PowerDns) {
  const { api } = await service().account()
  const zone = `${await newDomain(api)}.` as const
  const serial = (await driver.serial(zone))!
  const ask = async (expected: number) => {
    const seen = service().proxy.calls.length
    const has = await driver.hasSerial(zone, expected)
    return { has, calls: service().proxy.calls.length - seen }
  }
  return { current: await ask(serial), other: await ask(serial + 1) }
}

const BY_DNS = { current: { has: true, calls: 0 }, other: { has: false, calls: 1 } }
const BY_API = { current: { has: true, calls: 1 }, other: { has: false, calls: 1 } }

test.serial('a write asks for the serial over DNS, and sends the API its change alone', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  let ttl = 3600
  await eventuallyIs(async () => {
    // On a busy machine, DNS may not have answered the probe in time.
    await service().system.nameserver.probe()
    const seen = service().proxy.calls.length
    succeeded(await api.put(`/domains/${name}/rrsets/`, [{ type: 'A', ttl: ttl++, records: ['192.0.2.1'] }]), 200)
    return service()
      .proxy.calls.slice(seen)
      .map(({ method, path }) => `${method} ${path}`)
  }, [`PATCH /zones/${name}.`])
  t.pass()
})

test.serial('a probe is repeated if PowerDNS fails because another process probes', async (t) => {
  const refused = [409, 500]
  service().proxy.fail(({ method }) => (method === 'POST' && refused.length > 0 ? { refuse: refused.pop()! } : 'pass'))
  await service().system.nameserver.probe()
  t.deepEqual(refused, [])
})

test.serial('another serial than the expected one is asked for at the API', async (t) => {
  const { dnsHost, dnsPort } = service().powerDns
  await asks({ 'local-address': dnsHost, 'local-port': String(dnsPort) }, BY_DNS)
  t.pass()
})

test.serial('of several addresses, that is asked where PowerDNS answers', async (t) => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const { endpoint, socket } = await relay()
  await asks({ 'local-address': `127.0.0.1:${silent.address().port}, 127.0.0.1:9, ${endpoint}` }, BY_DNS)
  t.pass()
  for (const each of [silent, socket]) each.close()
})

test.serial('if nothing answers at the addresses, or another server, the API is asked', async (t) => {
  const other = createSocket('udp4')
  // It refuses everything.
  other.on('message', (question, { port, address }) => {
    const answer = Buffer.from(question)
    answer.writeUInt16BE(0x8005, 2)
    other.send(answer, port, address)
  })
  other.bind(0, '127.0.0.1')
  await once(other, 'listening')
  for (const endpoint of ['127.0.0.1:9', `127.0.0.1:${other.address().port}`]) {
    const driver = await driverWith({ 'local-address': endpoint })
    t.deepEqual(await asked(driver), BY_API, endpoint)
    await driver.close()
  }
  other.close()
})

test.serial('if PowerDNS keeps answers in a cache, the API is asked', async (t) => {
  const { dnsHost, dnsPort } = service().powerDns
  const address = { 'local-address': dnsHost, 'local-port': String(dnsPort) }
  const driver = await driverWith({ ...address, 'cache-ttl': '20' })
  t.deepEqual(await asked(driver), BY_API)
  await driver.close()
})

test.serial('if no answer comes any more, the API is asked', async (t) => {
  const { endpoint, mute, socket } = await relay()
  await asks({ 'local-address': endpoint }, BY_DNS)
  const driver = await driverWith({ 'local-address': endpoint })
  mute()
  t.deepEqual(await asked(driver), BY_API)
  socket.close()
  t.deepEqual(await asked(driver), BY_API)
  await driver.close()
})
