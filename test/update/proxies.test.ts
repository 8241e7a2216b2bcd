import ipaddr from 'ipaddr.js'
import { newDomain, shared } from '../support/clients/api.ts'
import { keyFor, messageOf, nameOn, rcodeOf, sendByTcp, sendTo, signedWith } from '../support/clients/dns-update.ts'
import { addToken } from '../support/clients/tokens.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §21.2: the address of a client behind a proxy, by PROXY headers of version 2, octet by octet.

const service = useService({ DNS_UPDATE_PORT: '0', TRUSTED_PROXIES: '127.0.0.1' })
const site = shared(async () => {
  const { api, id } = await service().account({ limitDomains: null })
  const zone = await newDomain(api)
  const token = await addToken(service(), id, { allowedSubnets: ['192.0.2.0/24', '2001:db8::/32'] })
  return { api, zone, key: await keyFor(api, token.id), port: service().updatePort! }
})

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const [LOCAL, PROXY] = [0x20, 0x21]

/** A header that names a client, with octets of more fields behind the addresses. */
function headerOf(client: string, { command = PROXY, more = 0 } = {}): Buffer {
  const octets = ipaddr.parse(client).toByteArray()
  const family = octets.length === 4 ? 0x12 : 0x22
  const addresses = Buffer.concat([Buffer.from(octets), Buffer.alloc(octets.length + 4 + more)])
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, 0, addresses.length]), addresses])
}

async function newMessage(label: string): Promise<Buffer> {
  const { key, zone } = await site()
  const added = { name: `${label}.${zone}`, type: 1, ttl: 3600, data: Buffer.from([192, 0, 2, 1]) }
  return signedWith(key, messageOf({ question: { name: zone, type: 6 }, sections: [[], [added], []] })).message
}

const CASES: [title: string, header: Buffer, rcode: string][] = [
  ['an IPv4 address', headerOf('192.0.2.7'), 'NOERROR'],
  ['an IPv6 address, and more fields', headerOf('2001:db8::7', { more: 9 }), 'NOERROR'],
  ['an IPv4 address mapped to IPv6', headerOf('::ffff:192.0.2.7'), 'NOERROR'],
  ['another address', headerOf('198.51.100.7'), 'REFUSED'],
  ['the proxy itself', headerOf('192.0.2.7', { command: LOCAL }), 'REFUSED'],
  ['nobody', Buffer.alloc(0), 'REFUSED'],
  ['an unknown command', headerOf('192.0.2.7', { command: 0x22 }), 'no answer'],
  ['no address', Buffer.concat([SIGNATURE, Buffer.from([PROXY, 0, 0, 0])]), 'no answer'],
  ['half an address', Buffer.concat([SIGNATURE, Buffer.from([PROXY, 0x12, 0, 2, 192, 0])]), 'no answer'],
  ['half a header', SIGNATURE, 'no answer'],
]

for (const [position, [title, header, rcode]] of CASES.entries()) {
  test(`a trusted proxy names ${title}: ${rcode}`, async (t) => {
    const { api, port, zone } = await site()
    const message = await newMessage(`udp-${position}`)
    const datagram = title === 'half a header' ? header : Buffer.concat([header, message])
    t.is(rcodeOf(await sendTo(port, datagram, rcode === 'no answer' ? 300 : 5_000)), rcode)
    t.is((await api.get(`/domains/${zone}/rrsets/udp-${position}/A/`)).status, rcode === 'NOERROR' ? 200 : 404)
    if (title === 'half a header') return
    const messages = [await newMessage(`tcp-${position}`), await newMessage(`tcp-more-${position}`)]
    const answers = await sendByTcp(port, { header, messages })
    t.deepEqual(answers.map(rcodeOf), rcode === 'no answer' ? [] : [rcode, rcode])
  })
}

test('a header of a connection may come in pieces', async (t) => {
  const { port } = await site()
  const messages = [await newMessage('pieces')]
  t.deepEqual((await sendByTcp(port, { header: headerOf('192.0.2.7'), messages, piece: 5 })).map(rcodeOf), ['NOERROR'])
})

test('the name of a key is not found in a header', async (t) => {
  const { port, key } = await site()
  t.is(rcodeOf(await sendTo(port, Buffer.concat([headerOf('192.0.2.7'), nameOn(key.name)]))), 'FORMERR')
})
