import { newDomain, shared } from '../support/clients/api.ts'
import {
  type Key, keyFor, messageOf, type Parts, rcodeOf, sendByTcp, sendTo, signedWith, UPDATE_FLAGS,
} from '../support/clients/dns-update.ts' // prettier-ignore
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §21.3: messages, octet by octet. signatures.test.ts has more about signatures, and requirements.test.ts about
// updates.

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

async function exists(label: string): Promise<boolean> {
  const { api, zone } = await site()
  return (await api.get(`/domains/${zone}/rrsets/${label}/A/`)).status === 200
}

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
    ['a wrong MAC', signedWith(key, plain, { spoil: true }).message, 'NOTAUTH'],
    ['too little of a MAC', signedWith(key, plain, { length: 15 }).message, 'FORMERR'],
    ['a key of no token', signedWith({ ...key, name: '.' }, plain).message, 'NOTAUTH'],
    ['a time long ago', signedWith(key, plain, { time: 1 }).message, 'NOTAUTH'],
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
    ['a compressed name', compressed, 'FORMERR'],
    ['cut', plain.subarray(0, -1), 'FORMERR'],
    ['compressed names in its signature', compressedSignature(key, zone), 'FORMERR'],
    ["a proxy's header", Buffer.concat([Buffer.from('0d0a0d0a000d0a515549540a21120000', 'hex'), signedWith(key, plain).message]), 'FORMERR'], // prettier-ignore
    ['longer', Buffer.concat([plain, Buffer.alloc(1)]), 'FORMERR'],
    ['AXFR by UDP', signedWith(key, messageOf({ flags: 0, question: { name: zone, type: 252 } })).message, 'REFUSED'],
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
