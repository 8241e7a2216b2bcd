import { createHmac } from 'node:crypto'
import { newDomain, shared } from '../support/clients/api.ts'
import {
  type Key, keyFor, messageOf, nameOn, type Parts, rcodeOf, sendByTcp, sendTo, signedWith, type Signing, UPDATE_FLAGS,
} from '../support/clients/dns-update.ts' // prettier-ignore
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §21.3: messages and signatures, octet by octet.

const service = useService({ DNS_UPDATE_PORT: '0' })
const site = shared(async () => {
  const account = await service().account({ limitDomains: null })
  const zone = await newDomain(account.api)
  return { zone, api: account.api, key: await keyFor(account.api, account.tokenId), port: service().updatePort! }
})

const A = Buffer.from([192, 0, 2, 1])

/** An update that adds an address. */
function addition(zone: string, label: string, more: Parts = {}): Buffer {
  const added = { name: `${label}.${zone}`, type: 1, ttl: 3600, data: A }
  return messageOf({ question: { name: zone, type: 6 }, sections: [[], [added], []], ...more })
}

/** The error of the TSIG record that ends an answer, and the octets of its MAC. */
function tsigOf(answer: Buffer, key: Key): { error: number; mac: Buffer; other: Buffer; start: number } {
  const name = nameOn(key.name)
  const start = answer.lastIndexOf(name)
  const algorithm = start + name.length + 10
  const fields = answer.indexOf(0, algorithm) + 1
  const end = fields + 10 + answer.readUInt16BE(fields + 8)
  return {
    error: answer.readUInt16BE(end + 2),
    mac: answer.subarray(fields + 10, end),
    other: answer.subarray(end + 6),
    start,
  }
}

async function exists(label: string): Promise<boolean> {
  const { api, zone } = await site()
  return (await api.get(`/domains/${zone}/rrsets/${label}/A/`)).status === 200
}

test('an answer has the id and the zone, and is signed over the MAC of the request', async (t) => {
  const { key, port, zone } = await site()
  const { message, mac } = signedWith(key, addition(zone, 'signed', { id: 513 }))
  const answer = (await sendTo(port, message))!
  t.is(answer.readUInt16BE(0), 513)
  t.is(answer.readUInt16BE(2), 0x8000 | UPDATE_FLAGS)
  t.is(rcodeOf(answer), 'NOERROR')
  t.deepEqual(answer.subarray(12, 12 + nameOn(zone).length), nameOn(zone))
  const tsig = tsigOf(answer, key)
  const unsigned = Buffer.from(answer.subarray(0, tsig.start))
  unsigned.writeUInt16BE(0, 10)
  const name = nameOn(key.name)
  const at = tsig.start + name.length
  const algorithm = nameOn('hmac-sha256')
  const timers = answer.subarray(at + 10 + algorithm.length, at + 10 + algorithm.length + 8)
  const expected = createHmac('sha256', Buffer.from(key.secret, 'base64'))
    .update(Buffer.from([0, mac.length]))
    .update(mac)
    .update(unsigned)
    .update(Buffer.concat([name, Buffer.from([0, 255, 0, 0, 0, 0]), algorithm, timers, Buffer.alloc(4)]))
    .digest()
  t.deepEqual(tsig.mac, expected)
  t.true(await exists('signed'))
})

const SIGNATURES: [title: string, signing: Signing, rcode: string, error: number | undefined][] = [
  ['a wrong MAC', { spoil: true }, 'NOTAUTH', 16],
  ['an unknown algorithm', { algorithm: 'hmac-md5.sig-alg.reg.int' }, 'NOTAUTH', 17],
  ['a time 301 s ago', { time: Math.floor(Date.now() / 1000) - 1_000 }, 'NOTAUTH', 18],
  ['a time ahead, and a larger fudge', { time: Math.floor(Date.now() / 1000) + 1_000, fudge: 65_535 }, 'NOTAUTH', 18],
  ['half a MAC', { length: 16 }, 'NOERROR', 0],
  ['less than half a MAC', { length: 15 }, 'FORMERR', undefined],
  ['no MAC', { length: 0 }, 'FORMERR', undefined],
]

for (const [position, [title, signing, rcode, error]] of SIGNATURES.entries()) {
  test(`signature: ${title} is ${rcode}`, async (t) => {
    const { key, port, zone } = await site()
    const label = `signature-${position}`
    const { message } = signedWith(key, addition(zone, label), signing)
    const answer = (await sendTo(port, message))!
    t.is(rcodeOf(answer), rcode)
    t.is(await exists(label), rcode === 'NOERROR')
    if (error === undefined) return
    if (signing.algorithm !== undefined) return
    const tsig = tsigOf(answer, key)
    t.is(tsig.error, error)
    // BADTIME is signed, and has the time of the server.
    t.is(tsig.mac.length, error === 16 ? 0 : 32)
    t.is(tsig.other.length, error === 18 ? 6 : 0)
    if (error !== 0) t.true(answer.length <= message.length + (error === 18 ? 38 : 0))
  })
}

test('an unknown key is NOTAUTH with BADKEY, unsigned', async (t) => {
  const { port, zone, key } = await site()
  for (const name of ['00000000-0000-4000-8000-000000000000.', 'some.key.', '.']) {
    const { message } = signedWith({ ...key, name }, addition(zone, 'unknown'))
    const answer = (await sendTo(port, message))!
    t.is(rcodeOf(answer), 'NOTAUTH')
    t.true(answer.length <= message.length)
  }
  t.false(await exists('unknown'))
})

/** A message signed by what its longest name is: that of its question. */
function compressedSignature(key: Key, zone: string): Buffer {
  const message = messageOf({ question: { name: zone, type: 6 } })
  const { message: whole } = signedWith({ ...key, name: '.' }, message)
  const [before, after] = [whole.subarray(0, message.length), whole.subarray(message.length + 1)]
  return Buffer.concat([before, Buffer.from([0xc0, 12]), after])
}

test('messages that are not signed, or of another form, get what the contract says, and never more than they are', async (t) => {
  const { key, port, zone } = await site()
  const question = { name: zone, type: 6 }
  const plain = addition(zone, 'plain')
  const compressed = Buffer.concat([plain.subarray(0, 12), Buffer.from([0xc0, 12, 0, 6, 0, 1])])
  compressed.fill(0, 6, 12)
  const cases: [string, Buffer, string][] = [
    ['not signed', plain, 'REFUSED'],
    ['a query without signature', messageOf({ flags: 0, question }), 'REFUSED'],
    [
      'a query for ANY',
      signedWith(key, messageOf({ flags: 0, question: { name: zone, type: 255 } })).message,
      'REFUSED',
    ],
    ['a query for RRSIG', signedWith(key, messageOf({ flags: 0, question: { name: zone, type: 46 } })).message, 'REFUSED'], // prettier-ignore
    ['a query of another class', signedWith(key, messageOf({ flags: 0, question: { name: zone, type: 1, class: 3 } })).message, 'REFUSED'], // prettier-ignore
    ['NOTIFY', messageOf({ flags: 4 << 11, question }), 'NOTIMP'],
    ['no zone', signedWith(key, messageOf({})).message, 'FORMERR'],
    ['a zone of another type', signedWith(key, messageOf({ question: { name: zone, type: 1 } })).message, 'FORMERR'],
    ['a zone of another class', signedWith(key, messageOf({ question: { ...question, class: 3 } })).message, 'NOTAUTH'],
    ['a compressed name', compressed, 'FORMERR'],
    ['cut', plain.subarray(0, -1), 'FORMERR'],
    ['compressed names in its signature', compressedSignature(key, zone), 'FORMERR'],
    ["a proxy's header", Buffer.concat([Buffer.from('0d0a0d0a000d0a515549540a21120000', 'hex'), signedWith(key, plain).message]), 'FORMERR'], // prettier-ignore
    ['longer', Buffer.concat([plain, Buffer.alloc(1)]), 'FORMERR'],
    ['AXFR by UDP', signedWith(key, messageOf({ flags: 0, question: { name: zone, type: 252 } })).message, 'REFUSED'],
    ['signed twice', signedWith(key, signedWith(key, plain).message).message, 'FORMERR'],
    ['a prerequisite with a TTL', signedWith(key, addition(zone, 'x', { sections: [[{ name: zone, type: 255, class: 255, ttl: 1 }], [], []] })).message, 'FORMERR'], // prettier-ignore
    ['a deletion with data', signedWith(key, addition(zone, 'x', { sections: [[], [{ name: zone, type: 1, class: 255, data: A }], []] })).message, 'FORMERR'], // prettier-ignore
    ['an addition of ANY', signedWith(key, addition(zone, 'x', { sections: [[], [{ name: zone, type: 255, data: A }], []] })).message, 'FORMERR'], // prettier-ignore
    ['a short address', signedWith(key, addition(zone, 'x', { sections: [[], [{ name: zone, type: 1, data: A.subarray(1) }], []] })).message, 'FORMERR'], // prettier-ignore
    ['a class of its own', signedWith(key, addition(zone, 'x', { sections: [[], [{ name: zone, type: 1, class: 3, data: A }], []] })).message, 'FORMERR'], // prettier-ignore
  ]
  for (const [title, message, rcode] of cases) {
    const answer = await sendTo(port, message)
    t.is(rcodeOf(answer), rcode, title)
    t.true(answer!.length <= message.length + 38, title)
  }
  t.false(await exists('plain'))
})

test('answers, and what is shorter than a header, are not answered', async (t) => {
  const { port, zone } = await site()
  t.is(await sendTo(port, addition(zone, 'x', { flags: 0x8000 | UPDATE_FLAGS }), 300), undefined)
  t.is(await sendTo(port, Buffer.alloc(11), 300), undefined)
})

test('the error is in the answer to whom has OPT: what the API would say', async (t) => {
  const { key, port, zone } = await site()
  const opt = { name: '', type: 41, class: 1232 }
  const low = { name: `low.${zone}`, type: 1, ttl: 1, data: A }
  const message = addition(zone, 'low', { sections: [[], [low], [opt]] })
  const answer = (await sendTo(port, signedWith(key, message).message))!
  t.is(rcodeOf(answer), 'REFUSED')
  t.regex(answer.toString('latin1'), /RRset low\..* IN A: ttl: Ensure this value is greater/)
})

test('the same message again is carried out once', async (t) => {
  const { api, key, port, zone } = await site()
  const { message } = signedWith(key, addition(zone, 'again'))
  t.is(rcodeOf(await sendTo(port, message)), 'NOERROR')
  t.is((await api.delete(`/domains/${zone}/rrsets/again/A/`)).status, 204)
  t.is(rcodeOf(await sendTo(port, message)), 'NOERROR')
  t.false(await exists('again'))
})

test('by TCP, messages of a connection are answered in their order', async (t) => {
  const { key, port, zone } = await site()
  const ids = [1, 2, 3]
  const messages = ids.map((id) => signedWith(key, addition(zone, `tcp-${id}`, { id })).message)
  const answers = await sendByTcp(port, { messages })
  t.deepEqual(
    answers.map((answer) => answer.readUInt16BE(0)),
    ids,
  )
  t.deepEqual(answers.map(rcodeOf), ['NOERROR', 'NOERROR', 'NOERROR'])
})
