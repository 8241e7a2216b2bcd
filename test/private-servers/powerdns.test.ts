import test from 'ava'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { StartError } from '../../src/errors.ts'
import { type PowerDns, startPowerDns } from '../../src/private-servers/powerdns.ts'
import { newFolder } from '../support/servers/folders.ts'
import { isGone, quietly } from './processes.ts'

const options = { dnsPort: 0, durable: false, progress: quietly }

async function api(powerDns: PowerDns, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${powerDns.apiUrl}/api/v1/servers/localhost${path}`, {
    method,
    headers: { 'X-API-Key': powerDns.apiKey },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

const zone = { name: 'example.test.', kind: 'Master', dnssec: true, nameservers: ['ns.example.test.'] }

test.serial('zones survive a restart, and each start draws a new API key', async (t) => {
  const folder = newFolder()
  const first = await startPowerDns(folder, options)
  await api(first, 'POST', '/zones', zone)
  await first.stop()
  await isGone(first.pid)
  const second = await startPowerDns(folder, options)
  t.not(second.apiKey, first.apiKey)
  t.like(await api(second, 'GET', '/zones/example.test.'), { name: 'example.test.', dnssec: true })
  await second.stop()
})

test.serial('a killed PowerDNS starts again with its zones, on the same ports, with the same API key', async (t) => {
  const folder = newFolder()
  const first = await startPowerDns(folder, options)
  await api(first, 'POST', '/zones', zone)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const { dnsPort, apiPort, apiKey } = first
  const second = await startPowerDns(folder, { ...options, dnsPort, apiPort, apiKey })
  t.like(second, { apiUrl: first.apiUrl, dnsPort, apiKey })
  t.like(await api(second, 'GET', '/zones/example.test.'), { name: 'example.test.' })
  await second.stop()
})

test.serial('a suspended PowerDNS can be stopped, and the next start ends one that was left running', async (t) => {
  const folder = newFolder()
  const first = await startPowerDns(folder, options)
  process.kill(first.pid, 'SIGSTOP')
  await first.stop()
  const second = await startPowerDns(folder, options)
  process.kill(second.pid, 'SIGSTOP')
  const third = await startPowerDns(folder, options)
  await second.exited
  await third.stop()
  t.pass()
})

test.serial('other users can read neither the API key nor the questions of resolvers', async (t) => {
  const folder = newFolder()
  const powerDns = await startPowerDns(folder, options)
  t.is(statSync(join(folder, 'config', 'pdns.conf')).mode & 0o077, 0)
  if (process.platform === 'linux') {
    t.false(readFileSync(`/proc/${powerDns.pid}/cmdline`, 'utf8').includes(powerDns.apiKey))
  }
  for (const page of ['/', '/metrics']) t.is((await fetch(powerDns.apiUrl + page)).status, 401, page)
  await powerDns.stop()
})

/** The system gives none of these ports to other programs, so the same port is free for TCP. */
async function bindOutsideOfEphemeralPorts(): Promise<Socket> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    const socket = createSocket('udp4').bind(port, '127.0.0.1')
    const isBound = await once(socket, 'listening').then(
      () => true,
      () => false,
    )
    if (isBound) return socket
  }
}

test.serial('if another program uses a port, an error names it', async (t) => {
  const tcp = createServer().listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const udp = await bindOutsideOfEphemeralPorts()
  const tcpPort = (tcp.address() as AddressInfo).port
  const udpPort = udp.address().port
  const folder = newFolder()
  const refused = async (ports: { dnsPort?: number; apiPort?: number }, message: string) => {
    const error = await t.throwsAsync(startPowerDns(folder, { ...options, ...ports }), { instanceOf: StartError })
    t.true(error.message.startsWith(message), error.message)
  }
  await refused({ dnsPort: tcpPort }, `127.0.0.1:${tcpPort} (DNS over TCP) is taken`)
  await refused({ dnsPort: udpPort }, `127.0.0.1:${udpPort} (DNS over UDP) is taken`)
  await refused({ apiPort: tcpPort }, `127.0.0.1:${tcpPort} (PowerDNS' API) is taken`)
  t.false(readdirSync(folder).includes('process'))
  tcp.close()
  udp.close()
})

test.serial('a program that takes the port of the API before PowerDNS does is not told the key', async (t) => {
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const apiPort = (free.address() as AddressInfo).port
  free.close()
  const heard: (string | undefined)[] = []
  const thief = createHttpServer((request, response) => {
    heard.push(request.url)
    response.end('{}')
  })
  t.teardown(() => thief.close())
  thief.on('error', () => undefined)
  // The search for free ports has held the port until just now. PowerDNS may be faster all the same.
  const spawned = () => {
    if (!thief.listening) thief.listen(apiPort)
  }
  const start = () =>
    startPowerDns(newFolder(), { ...options, apiPort, spawned }).catch((error: unknown) => error as Error)
  let outcome = await start()
  for (; !(outcome instanceof Error); outcome = await start()) await outcome.stop()
  t.true(outcome instanceof StartError)
  t.regex(outcome.message, /\(PowerDNS' API\) is taken by another program/)
  t.deepEqual(heard, [])
})
