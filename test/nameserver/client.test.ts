import test from 'ava'
import packet, { type Answer } from 'dns-packet'
import { DnsClient } from '../../src/nameserver/wire/client.ts'
import { type Asked, reply, startDouble } from '../support/dns/double.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/servers/ports.ts'
import { udpSockets } from '../support/state/sockets.ts'

const QUESTION = { name: 'example.test', type: 'DS' } as const
const DIGEST = Buffer.alloc(32, 0xab)
const DS = {
  type: 'DS',
  name: 'Example.TEST',
  ttl: 3600,
  data: { keyTag: 1234, algorithm: 13, digestType: 2, digest: DIGEST },
} satisfies Answer
const RECORD = { name: 'example.test', type: 'DS', ttl: 3600, content: `1234 13 2 ${DIGEST.toString('hex')}` }

const TRUNCATED = { flags: packet.AUTHORITATIVE_ANSWER | packet.TRUNCATED_RESPONSE }

/** Asks a double with these answers once. */
async function ask(answers: (asked: Asked) => Buffer[], time = 5_000) {
  const endpoint = { address: '127.0.0.1', port: await freePort() }
  const double = await startDouble(endpoint, answers)
  const client = new DnsClient(endpoint)
  try {
    return { answer: await client.query(QUESTION, time), asked: double.asked.map(({ over }) => over) }
  } finally {
    await client.close()
    await double.close()
  }
}

test.serial('a question of any type is answered over UDP', async (t) => {
  const { answer, asked } = await ask((question) => [reply(question, [DS])])
  t.deepEqual(asked, ['udp'])
  t.like(answer, { rcode: 'NOERROR', isAuthoritative: true, answers: [RECORD], authorities: [] })
})

test.serial(
  'the question has EDNS with 1232 octets, and asks a resolver for recursion without validation, but for DSYNC',
  async (t) => {
    const messages: Buffer[] = []
    const endpoint = { address: '127.0.0.1', port: await freePort() }
    const { createSocket } = await import('node:dgram')
    const socket = createSocket('udp4').on('message', (message, { port, address }) => {
      messages.push(message)
      const [question] = packet.decode(message).questions!
      socket.send(reply({ id: message.readUInt16BE(0), over: 'udp', ...question! }, []), port, address)
    })
    socket.bind(endpoint.port, endpoint.address)
    const client = new DnsClient(endpoint)
    await client.query(QUESTION, 5_000)
    await client.query({ ...QUESTION, recursive: true }, 5_000)
    await client.query({ ...QUESTION, type: 'DSYNC', recursive: true, validated: true }, 5_000)
    await client.close()
    socket.close()
    const [plain, recursive, dsync] = messages.map((message) => packet.decode(message))
    t.like(plain!.additionals![0], { type: 'OPT', udpPayloadSize: 1232 })
    t.false(plain!.flag_rd)
    t.true(recursive!.flag_rd)
    t.true(recursive!.flag_cd)
    // What says where to send messages must be valid.
    t.false(dsync!.flag_cd)
  },
)

test.serial('a truncated answer is asked for again over TCP', async (t) => {
  const { answer, asked } = await ask((question) => [
    question.over === 'udp' ? reply(question, [], TRUNCATED) : reply(question, [DS]),
  ])
  t.deepEqual(asked, ['udp', 'tcp'])
  t.deepEqual(answer!.answers, [RECORD])
})

/** A record in wire form (RFC 1035 §4.1.3). */
function wireRecord(owner: number[], type: number, data: number[]): Buffer {
  return Buffer.from([...owner, 0, type, 0, 1, 0, 0, 14, 16, data.length >> 8, data.length & 0xff, ...data])
}

/** An answer with these records in wire form. */
function wireReply(asked: Asked, records: Buffer[]): Buffer {
  const message = Buffer.concat([reply(asked, []), ...records])
  message.writeUInt16BE(records.length, 6)
  return message
}

/** The offset of the question's name, as a pointer. */
const QUESTION_NAME = [0xc0, 12]

test.serial('names can be compressed; records of types that are never asked for are left out', async (t) => {
  const soa = [1, 97, ...QUESTION_NAME, 1, 98, ...QUESTION_NAME, 0, 0, 1, 2, ...Array.from({ length: 16 }, () => 0)]
  const { answer } = await ask((asked) => [
    wireReply(asked, [
      wireRecord(QUESTION_NAME, 2, [3, 0x4e, 0x53, 0x31, ...QUESTION_NAME]),
      wireRecord(QUESTION_NAME, 47, [0, 255, 255]),
      wireRecord(QUESTION_NAME, 6, soa),
      wireRecord([0], 1, [192, 0, 2, 1]),
      wireRecord([1, 42, 0xc0, 20], 28, [32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ]),
  ])
  t.deepEqual(answer!.answers, [
    { name: 'example.test', type: 'NS', ttl: 3600, content: 'ns1.example.test' },
    { name: 'example.test', type: 'SOA', ttl: 3600, content: '258' },
    { name: '.', type: 'A', ttl: 3600, content: '192.0.2.1' },
    { name: '*.test', type: 'AAAA', ttl: 3600, content: '2001:db8::1' },
  ])
})

/** An answer of 64 KB: the names of its records, by pointers, have 250 octets. */
function hugeReply(asked: Asked): Buffer {
  const data: number[] = []
  // Where the data begin: behind the question, the root label and the fields of the record.
  const start = reply(asked, []).length + 11
  for (let i = 0; i < 118; i++) {
    const before = i === 0 ? 12 : start + 4 * (i - 1)
    data.push(1, 97, 0xc0 | (before >> 8), before & 0xff)
  }
  const last = start + 4 * 117
  const name = [0xc0 | (last >> 8), last & 0xff]
  return wireReply(asked, [
    wireRecord([0], 10, data),
    ...Array.from({ length: 4_607 }, () => wireRecord(name, 2, name)),
  ])
}

/** An answer with a name of 300 pointers, each to the one before. */
function pointersReply(asked: Asked): Buffer {
  const start = reply(asked, []).length + 11
  const before = (i: number) => (i === 0 ? 12 : start + 2 * (i - 1))
  const data = Array.from({ length: 300 }, (_, i) => [0xc0 | (before(i) >> 8), before(i) & 0xff]).flat()
  return wireReply(asked, [wireRecord([0], 10, data), wireRecord(data.slice(-2), 2, [0])])
}

const UNREADABLE = Buffer.from([0xff])

const OTHERS: [string, (asked: Asked) => Buffer][] = [
  ['with another id', (asked) => reply({ ...asked, id: asked.id ^ 1 }, [])],
  ['to another name', (asked) => reply({ ...asked, name: 'other.test' }, [])],
  ['to another type', (asked) => reply({ ...asked, type: 'NS' }, [])],
  ['that is a question itself', (asked) => reply(asked, [], { type: 'query' })],
  ['that cannot be read', (asked) => reply(asked, [DS]).subarray(0, 40)],
  ['that is shorter than an id', () => Buffer.from([1])],
  ['to another name, whose rest cannot be read', (asked) => wireReply({ ...asked, name: 'other.test' }, [UNREADABLE])],
  ['with another opcode', (asked) => reply(asked, [DS], { flags: 4 << 11 })],
  ['with an address of three octets', (asked) => wireReply(asked, [wireRecord([0], 1, [192, 0, 2])])],
  [
    'with a name that points to itself',
    (asked) => wireReply(asked, [wireRecord([0xc0, reply(asked, []).length], 2, [0])]),
  ],
  ['with a name of 300 pointers', pointersReply],
  [
    'with 201 records',
    (asked) =>
      wireReply(
        asked,
        Array.from({ length: 201 }, () => wireRecord([0], 2, [0])),
      ),
  ],
]

for (const [what, wrong] of OTHERS) {
  test.serial(`an answer ${what} is ignored; the right one after it counts`, async (t) => {
    const { answer } = await ask((question) => [wrong(question), reply(question, [DS])])
    t.deepEqual(answer!.answers, [RECORD])
    t.is((await ask((question) => [wrong(question)], 50)).answer, undefined)
  })

  test.serial(`an answer over TCP ${what} is none`, async (t) => {
    const { answer, asked } = await ask(
      (question) => [question.over === 'udp' ? reply(question, [], TRUNCATED) : wrong(question)],
      500,
    )
    t.deepEqual(asked, ['udp', 'tcp'])
    t.is(answer, undefined)
  })
}

test.serial('an answer over UDP of more octets than were asked for is ignored', async (t) => {
  const long = { ...DS, data: { ...DS.data, digest: Buffer.alloc(1_300) } }
  const { answer } = await ask((question) => [reply(question, [long]), reply(question, [DS])])
  t.deepEqual(answer!.answers, [RECORD])
  const whole = await ask((question) => [
    question.over === 'udp' ? reply(question, [], TRUNCATED) : reply(question, [long]),
  ])
  t.is(whole.answer!.answers[0]!.content, `1234 13 2 ${'00'.repeat(1_300)}`)
})

test.serial('after eight messages that are no answer, a nameserver is given up', async (t) => {
  const wrong = (count: number) => (asked: Asked) => [
    ...Array.from({ length: count }, () => reply({ ...asked, type: 'NS' }, [])),
    reply(asked, [DS]),
  ]
  t.deepEqual((await ask(wrong(7))).answer!.answers, [RECORD])
  t.is((await ask(wrong(8))).answer, undefined)
})

test.serial('an answer over TCP with thousands of long names is none', async (t) => {
  const { answer, asked } = await ask((question) => [
    question.over === 'udp' ? reply(question, [], TRUNCATED) : hugeReply(question),
  ])
  t.deepEqual(asked, ['udp', 'tcp'])
  t.is(answer, undefined)
})

test.serial(
  'a nameserver that does not answer is given up, over UDP and over TCP, and no socket is left',
  async (t) => {
    const before = udpSockets()
    t.is((await ask(() => [], 50)).answer, undefined)
    const slow = await ask((question) => (question.over === 'udp' ? [reply(question, [], TRUNCATED)] : []), 200)
    t.deepEqual(slow.asked, ['udp', 'tcp'])
    t.is(slow.answer, undefined)
    // Nothing listens there.
    const client = new DnsClient({ address: '127.0.0.1', port: await freePort() })
    t.is(await client.query(QUESTION, 5_000), undefined)
    await client.close()
    await eventually(() => udpSockets() <= before)
    t.pass()
  },
)

test.serial('an answer that is truncated over TCP, too, is none', async (t) => {
  const { answer, asked } = await ask((question) => [reply(question, [], TRUNCATED)])
  t.deepEqual(asked, ['udp', 'tcp'])
  t.is(answer, undefined)
})

test.serial('an address to which nothing can be sent is an error of the system', async (t) => {
  const client = new DnsClient({ address: '255.255.255.255', port: 53 })
  const error = await t.throwsAsync(client.query(QUESTION, 5_000))
  t.truthy((error as NodeJS.ErrnoException).code)
  await client.close()
})
