import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Key, messageOf, rcodeOf, signedWith } from '../test/support/clients/dns-update.ts'
import { freePort } from '../test/support/servers/ports.ts'
import { fill } from './size.ts'
import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, zone } from './support/zones.ts'

const CHANGES = 1_500
const STRANGERS = 3_000

const port = await freePort()

/** DNS UPDATE is taken at a free port. */
export const dnsUpdateSettings = { DNS_UPDATE_PORT: String(port), THROTTLE: 'off' }

/**
 * A change of one RRset by DNS UPDATE, compared with the same by the API; and what strangers send with a key that is none,
 * compared with a secret that is none.
 */
export async function dnsUpdate(setup: Setup): Promise<void> {
  const { api, read } = setup
  const socket = createSocket('udp4')
  try {
    await fill(setup, 10)
    const { id } = (await api('POST', '/auth/tokens/', {})) as { id: string }
    const key = (await api('POST', `/auth/tokens/${id}/tsig/`)) as Key
    const send = async (message: Buffer, rcode: string) => {
      socket.send(message, port, '127.0.0.1')
      const [answer] = (await once(socket, 'message')) as [Buffer]
      if (rcodeOf(answer) !== rcode) throw new Error(rcodeOf(answer))
    }
    const name = `host1.${zone(10)}`
    const change = (i: number) => {
      const data = Buffer.from(address(i).split('.').map(Number))
      const deletion = { name, type: 1, class: 255 }
      const updates = [deletion, { name, type: 1, ttl: 3600, data }]
      return messageOf({ id: i & 0xffff, question: { name: zone(10), type: 6 }, sections: [[], updates, []] })
    }
    const [ours, other] = await alternating(
      CHANGES,
      (i) => send(signedWith(key, change(2 * i + 1)).message, 'NOERROR'),
      (i) => api('PATCH', `/domains/${zone(10)}/rrsets/host1/A/`, { records: [address(2 * i + 2)] }),
    )
    compare('one-RRset change by DNS UPDATE and by the API, p50', 'ms', percentile(ours!, 0.5), percentile(other!, 0.5))
    compare(
      'one-RRset change by DNS UPDATE and by the API, p99',
      'ms',
      percentile(ours!, 0.99),
      percentile(other!, 0.99),
    )
    const unknown = { ...key, name: '00000000-0000-4000-8000-000000000000.' }
    const [stranger, request] = await alternating(
      STRANGERS,
      (i) => send(signedWith(unknown, change(i)).message, 'NOTAUTH'),
      () => read(`/domains/${zone(10)}/rrsets/host1/A/`, 'none'),
    )
    compare('an unknown key and an unknown token, p50', 'ms', percentile(stranger!, 0.5), percentile(request!, 0.5))
  } finally {
    socket.close()
  }
}
