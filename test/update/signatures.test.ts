import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { newDomain, shared, succeeded } from '../support/clients/api.ts'
import { type Key, keyFor, nameOn, rcodeOf, sendTo, signedWith, type Signing } from '../support/clients/dns-update.ts'
import { addToken } from '../support/clients/tokens.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { statementsOf } from '../support/statements.ts'
import { messageFor } from './generated.ts'

// RFC 8945 §4 and §5, requirement by requirement (contract §21.3; docs/design/dns-update.md has the table).

const service = useService({ DNS_UPDATE_PORT: '0' })
const site = shared(async () => {
  const { api, id, tokenId } = await service().account({ limitDomains: null })
  return { api, id, zone: await newDomain(api), key: await keyFor(api, tokenId) }
})

async function update(): Promise<Buffer> {
  const { zone } = await site()
  return messageFor(zone, { prerequisites: [], updates: [] })
}

async function answerTo(message: Buffer): Promise<Buffer> {
  return (await sendTo(service().updatePort!, message))!
}

async function signed(signing: Signing = {}, more: Partial<Key> = {}): Promise<Buffer> {
  const { key } = await site()
  return signedWith({ ...key, ...more }, await update(), signing).message
}

interface Record {
  owner: string
  class: number
  ttl: number
  algorithm: string
  time: number
  fudge: number
  mac: Buffer
  originalId: number
  error: number
  other: Buffer
}

/** The TSIG record at the end of an answer that has a zone and nothing else. */
function tsigOf(answer: Buffer): Record {
  const text = (at: number): [name: string, end: number] => {
    const labels: string[] = []
    for (; answer[at] !== 0; at += 1 + answer[at]!) labels.push(answer.toString('latin1', at + 1, at + 1 + answer[at]!))
    return [labels.join('.'), at + 1]
  }
  const [owner, fields] = text(text(12)[1] + 4)
  const [algorithm, timers] = text(fields + 10)
  const mac = timers + 10
  const after = mac + answer.readUInt16BE(timers + 8)
  return {
    owner,
    class: answer.readUInt16BE(fields + 2),
    ttl: answer.readUInt32BE(fields + 4),
    algorithm,
    time: answer.readUIntBE(timers, 6),
    fudge: answer.readUInt16BE(timers + 6),
    mac: answer.subarray(mac, after),
    originalId: answer.readUInt16BE(after),
    error: answer.readUInt16BE(after + 2),
    other: answer.subarray(after + 6),
  }
}

const now = () => Math.floor(Date.now() / 1000)

test('RFC 8945 §4.2: the record in an answer has the name of the key, class ANY and TTL 0', async (t) => {
  const { key } = await site()
  const message = await signed()
  const answer = await answerTo(message)
  t.like(tsigOf(answer), { class: 255, ttl: 0, algorithm: 'hmac-sha256', fudge: 300, error: 0 })
  t.is(`${tsigOf(answer).owner}.`, key.name)
  t.is(tsigOf(answer).originalId, message.readUInt16BE(0))
})

test('RFC 8945 §4.2 and §5.2: a record with another class, a TTL, or fields that do not fill it, is FORMERR', async (t) => {
  const { key } = await site()
  const plain = await update()
  const start = plain.length + nameOn(key.name).length
  const changes: [at: number, value: number][] = [
    [start + 2, 1],
    [start + 2, 254],
    [start + 6, 1],
    [start + 8, 60],
    // The lengths of the MAC, and of other data.
    [start + 10 + nameOn(key.algorithm).length + 8, 33],
    [start + 10 + nameOn(key.algorithm).length + 10 + 32 + 4, 1],
  ]
  for (const [at, value] of changes) {
    const message = await signed()
    message.writeUInt16BE(value, at)
    t.is(rcodeOf(await answerTo(message)), 'FORMERR', `${at - start}`)
  }
})

test('RFC 8945 §4.3.2: what is signed has the original id, which a forwarder replaces', async (t) => {
  const message = await signed()
  message.writeUInt16BE(message.readUInt16BE(0) ^ 0xffff, 0)
  const answer = await answerTo(message)
  t.is(rcodeOf(answer), 'NOERROR')
  t.is(answer.readUInt16BE(0), message.readUInt16BE(0))
})

test('RFC 8945 §4.3.3: the names of key and algorithm are signed in lower case, however they are spelt', async (t) => {
  const message = await signed()
  const { key } = await site()
  const upper = (text: string) => nameOn(text.toUpperCase())
  for (const name of [key.name, key.algorithm]) upper(name).copy(message, message.lastIndexOf(nameOn(name)))
  t.is(rcodeOf(await answerTo(message)), 'NOERROR')
})

test('RFC 8945 §5.1: the record is the last one, and the only one, or the message is FORMERR', async (t) => {
  const message = await signed()
  const opt = Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0])
  const behind = Buffer.concat([message, opt])
  behind.writeUInt16BE(2, 10)
  t.is(rcodeOf(await answerTo(behind)), 'FORMERR')
  const { key } = await site()
  t.is(rcodeOf(await answerTo(signedWith(key, message).message)), 'FORMERR')
})

test('RFC 8945 §5.2.1 and §6: a key or an algorithm that is not known is NOTAUTH with BADKEY, not signed', async (t) => {
  const { api, id } = await site()
  const keys: Key[] = []
  for (const gone of ['tsig/', '']) {
    const token = await addToken(service(), id, {})
    keys.push(await keyFor(api, token.id))
    succeeded(await api.delete(`/auth/tokens/${token.id}/${gone}`), 204)
  }
  const none = await addToken(service(), id, {})
  const messages = [
    await signed({}, { name: '00000000-0000-4000-8000-000000000000.' }),
    await signed({}, { name: 'some.key.' }),
    ...(await Promise.all(keys.map((key) => signed({}, key)))),
    await signed({}, { name: `${none.id}.` }),
    ...(await Promise.all(['hmac-md5.sig-alg.reg.int', 'hmac-sha1', 'hmac-sha224', 'gss-tsig'].map((algorithm) => signed({ algorithm })))), // prettier-ignore
  ]
  for (const message of messages) {
    const answer = await answerTo(message)
    t.is(rcodeOf(answer), 'NOTAUTH')
    t.like(tsigOf(answer), { error: 17, mac: Buffer.alloc(0), other: Buffer.alloc(0) })
  }
})

test('RFC 8945 §5.2.2: a MAC of anything else is NOTAUTH with BADSIG, not signed', async (t) => {
  const whole = await signed()
  const changed = (at: number) => {
    const message = Buffer.from(whole)
    message[at]! ^= 1
    return message
  }
  const { key } = await site()
  const timers = whole.lastIndexOf(nameOn(key.algorithm)) + nameOn(key.algorithm).length
  // A flag, the time, the fudge, both ends of the MAC, the original id and the error.
  for (const at of [3, timers + 5, timers + 7, timers + 10, timers + 41, timers + 43, timers + 45]) {
    const answer = await answerTo(changed(at))
    t.is(rcodeOf(answer), 'NOTAUTH', `${at - timers}`)
    t.like(tsigOf(answer), { error: 16, mac: Buffer.alloc(0), other: Buffer.alloc(0) })
  }
  const otherKey = await answerTo(await signed({}, { secret: Buffer.alloc(32).toString('base64') }))
  t.is(tsigOf(otherKey).error, 16)
})

for (const [algorithm, size] of [
  ['hmac-sha256', 32],
  ['hmac-sha384', 48],
  ['hmac-sha512', 64],
] as const) {
  test(`RFC 8945 §5.2.2.1 and §6: ${algorithm} may be cut to its half, and its answers are whole`, async (t) => {
    for (const length of [size, size - 1, size / 2]) {
      const answer = await answerTo(await signed({ algorithm, length }))
      t.is(rcodeOf(answer), 'NOERROR', `${length}`)
      t.is(tsigOf(answer).mac.length, size)
    }
    for (const length of [size / 2 - 1, 10, 9, 1, 0])
      t.is(rcodeOf(await answerTo(await signed({ algorithm, length }))), 'FORMERR', `${length}`)
    // Longer than its hash.
    const message = await signed({ algorithm })
    const at = message.length - 6 - size - 2
    const longer = Buffer.concat([message.subarray(0, -6), Buffer.alloc(1), message.subarray(-6)])
    longer.writeUInt16BE(size + 1, at)
    const lengthAt = at - 8 - nameOn(algorithm).length - 2
    longer.writeUInt16BE(longer.readUInt16BE(lengthAt) + 1, lengthAt)
    t.is(rcodeOf(await answerTo(longer)), 'FORMERR')
  })
}

test('RFC 8945 §5.2.3 and §10: the time may differ by the fudge, and by 300 s at most; else BADTIME, signed, with our time', async (t) => {
  const { key } = await site()
  const cases: [offset: number, fudge: number, rcode: string][] = [
    [-280, 300, 'NOERROR'],
    [280, 300, 'NOERROR'],
    [-320, 300, 'NOTAUTH'],
    [320, 300, 'NOTAUTH'],
    [-320, 65_535, 'NOTAUTH'],
    [320, 65_535, 'NOTAUTH'],
    [-100, 60, 'NOTAUTH'],
    [100, 60, 'NOTAUTH'],
  ]
  for (const [offset, fudge, rcode] of cases) {
    const before = now()
    const time = before + offset
    const { message, mac } = signedWith(key, await update(), { time, fudge })
    const answer = await answerTo(message)
    t.is(rcodeOf(answer), rcode, `${offset} ${fudge}`)
    if (rcode === 'NOERROR') continue
    const tsig = tsigOf(answer)
    t.like(tsig, { error: 18, time, fudge: 300 })
    const ours = tsig.other.readUIntBE(0, 6)
    t.true(tsig.other.length === 6 && ours >= before && ours <= now())
    t.deepEqual(tsig.mac, expectedMac(key, { answer, tsig, prior: mac }))
  }
})

/** The MAC of an answer (RFC 8945 §5.3), computed here. */
function expectedMac(key: Key, { answer, tsig, prior }: { answer: Buffer; tsig: Record; prior: Buffer }): Buffer {
  const name = nameOn(key.name)
  const plain = Buffer.from(answer.subarray(0, answer.lastIndexOf(name)))
  plain.writeUInt16BE(0, 10)
  const fixed = Buffer.alloc(12)
  fixed.writeUIntBE(tsig.time, 0, 6)
  fixed.writeUInt16BE(tsig.fudge, 6)
  fixed.writeUInt16BE(tsig.error, 8)
  fixed.writeUInt16BE(tsig.other.length, 10)
  const length = Buffer.from([0, prior.length])
  const parts = [length, prior, plain, name, Buffer.from([0, 255, 0, 0, 0, 0]), nameOn(tsig.algorithm), fixed, tsig.other] // prettier-ignore
  return crypto.createHmac('sha256', Buffer.from(key.secret, 'base64')).update(Buffer.concat(parts)).digest()
}

test('RFC 8945 §5.3: answers, and errors that are not of the signature, are signed over the MAC of the message', async (t) => {
  const { key, zone } = await site()
  for (const [domain, rcode] of [
    [zone, 'NOERROR'],
    ['not-ours.test', 'NOTAUTH'],
  ] as const) {
    const { message, mac } = signedWith(key, messageFor(domain, { prerequisites: [], updates: [] }))
    const answer = await answerTo(message)
    t.is(rcodeOf(answer), rcode)
    const tsig = tsigOf(answer)
    t.is(tsig.error, 0)
    t.deepEqual(tsig.mac, expectedMac(key, { answer, tsig, prior: mac }))
  }
})

/** What happens in this process while a message is answered: statements, hashes and comparisons, in their order. */
async function eventsOf(message: Buffer): Promise<string[]> {
  const events: string[] = []
  const { createHmac, timingSafeEqual } = crypto
  const watched = crypto as { createHmac: unknown; timingSafeEqual: unknown }
  watched.createHmac = (...args: Parameters<typeof createHmac>) => {
    events.push(`hash by ${args[0]} with ${(args[1] as Buffer).length} octets`)
    return createHmac(...args)
  }
  watched.timingSafeEqual = (a: Buffer, b: Buffer) => {
    events.push(`comparison of ${a.length} octets`)
    return timingSafeEqual(a, b)
  }
  syncBuiltinESMExports()
  try {
    const statements = await statementsOf(() => answerTo(message))
    return [...statements, ...events]
  } finally {
    Object.assign(watched, { createHmac, timingSafeEqual })
    syncBuiltinESMExports()
  }
}

test('a key that does not exist takes the way of a wrong MAC: the same statements, hashes and comparisons', async (t) => {
  const { key } = await site()
  const flipped = async (at: number) => {
    const message = await signed()
    message[message.length - 6 - 32 + at]! ^= 1
    return message
  }
  const wrong = await eventsOf(await signed({ spoil: true }))
  t.is(wrong.length, 5, wrong.join('\n'))
  const alike = {
    'the last octet': await flipped(31),
    'a key of no token': await signed({}, { name: '00000000-0000-4000-8000-000000000000.' }),
    'a token without a key': await signed({}, { name: `${(await addToken(service(), (await site()).id, {})).id}.` }),
    'another secret': await signed({}, { secret: Buffer.alloc(32, 1).toString('base64') }),
    'a wrong time, too': signedWith(key, await update(), { spoil: true, time: 1 }).message,
  }
  for (const [what, message] of Object.entries(alike)) t.deepEqual(await eventsOf(message), wrong, what)
  t.true((await eventsOf(await signed())).length > wrong.length)
})
