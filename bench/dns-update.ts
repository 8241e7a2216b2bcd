import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPowerDns } from '../src/private-servers/powerdns.ts'
import { type Key, messageOf, rcodeOf, signedWith } from '../test/support/clients/dns-update.ts'
import { freePort } from '../test/support/servers/ports.ts'
import { fill } from './size.ts'
import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, zone } from './support/zones.ts'

const CHANGES = 1_500
const STRANGERS = 3_000

const port = await freePort()

/** DNS UPDATE is taken at a free port. */
export const dnsUpdateSettings = { DNS_UPDATE_PORT: String(port), THROTTLE: 'off' }

/** Where updates go, of which zone, and the key that signs them. */
interface Door {
  port: number
  zone: string
  key: Key
}

/**
 * A change of one RRset by DNS UPDATE, compared with the same by the API and with PowerDNS' own DNS UPDATE; and what
 * strangers send with a key that is none, compared with a secret that is none.
 */
export async function dnsUpdate(setup: Setup): Promise<void> {
  const { api, read } = setup
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  chmodSync(folder, 0o711)
  const socket = createSocket('udp4')
  const powerDns = await startPowerDns(join(folder, 'powerdns'), {
    dnsPort: 0,
    backend: [
      'launch=lmdb',
      `lmdb-filename=${join(folder, 'powerdns', 'lmdb', 'zones')}`,
      'dnsupdate=yes',
      'allow-dnsupdate-from=127.0.0.1',
    ],
    progress: () => undefined,
  })
  try {
    const raw = async (method: string, path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': powerDns.apiKey }
      const url = `${powerDns.apiUrl}/api/v1/servers/localhost${path}`
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    }
    await fill({ ...setup, raw }, 10)
    const { id } = (await api('POST', '/auth/tokens/', {})) as { id: string }
    const key = (await api('POST', `/auth/tokens/${id}/tsig/`)) as Key
    const ours = { port, zone: zone(10), key }
    const theirs = { port: powerDns.dnsPort, zone: rawName(10).slice(0, -1), key: { ...key, name: 'bench.' } }
    await raw('POST', '/tsigkeys', { name: 'bench', algorithm: key.algorithm, key: key.secret })
    await raw('PUT', `/zones/${rawName(10)}/metadata/TSIG-ALLOW-DNSUPDATE`, { metadata: ['bench'] })
    const send = async (door: Door, i: number, rcode: string) => {
      socket.send(signedWith(door.key, change(door, i)).message, door.port, '127.0.0.1')
      const [answer] = (await once(socket, 'message')) as [Buffer]
      if (rcodeOf(answer) !== rcode) throw new Error(rcodeOf(answer))
    }
    const [update, request, powerDnsUpdate] = await alternating(
      CHANGES,
      (i) => send(ours, 2 * i + 1, 'NOERROR'),
      (i) => api('PATCH', `/domains/${zone(10)}/rrsets/host1/A/`, { records: [address(2 * i + 2)] }),
      (i) => send(theirs, i, 'NOERROR'),
    )
    for (const p of [0.5, 0.99]) {
      const [one, other, third] = [update!, request!, powerDnsUpdate!].map((times) => percentile(times, p))
      compare(`one-RRset change by DNS UPDATE and by the API, p${p * 100}`, 'ms', one!, other!)
      compare(`by DNS UPDATE, and by PowerDNS' own, p${p * 100}`, 'ms', one!, third!)
    }
    const unknown = { ...ours, key: { ...key, name: '00000000-0000-4000-8000-000000000000.' } }
    const [stranger, refused] = await alternating(
      STRANGERS,
      (i) => send(unknown, i, 'NOTAUTH'),
      () => read(`/domains/${zone(10)}/rrsets/host1/A/`, 'none'),
    )
    compare('an unknown key and an unknown token, p50', 'ms', percentile(stranger!, 0.5), percentile(refused!, 0.5))
  } finally {
    socket.close()
    await powerDns.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The message that replaces an RRset. */
function change({ zone }: Door, i: number): Buffer {
  const name = `host1.${zone}`
  const data = Buffer.from(address(i).split('.').map(Number))
  const updates = [
    { name, type: 1, class: 255 },
    { name, type: 1, ttl: 3600, data },
  ]
  return messageOf({ id: i & 0xffff, question: { name: zone, type: 6 }, sections: [[], updates, []] })
}
