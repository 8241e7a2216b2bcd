import test from 'ava'
import packet, { type Answer } from 'dns-packet'
import { DnsClient } from '../../src/nameserver/wire/client.ts'
import { eventually } from '../support/eventually.ts'
import { reply, startDouble, type Asked } from '../support/dns/double.ts'
import { freePort } from '../support/servers/ports.ts'
import { udpSockets } from '../support/state/sockets.ts'

const QUESTION = { name: 'example.test', type: 'DS' } as const
const DIGEST = Buffer.alloc(32, 0xab)
const DS: Answer = {
  type: 'DS',
  name: 'Example.TEST',
  ttl: 3600,
  data: { keyTag: 1234, algorithm: 13, digestType: 2, digest: DIGEST },
}
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
    await client.query({ ...QUESTION, type: 'DSYNC', recursive: true }, 5_000)
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

const OTHERS: [string, (asked: Asked) => Buffer][] = [
  ['with another id', (asked) => reply({ ...asked, id: asked.id ^ 1 }, [])],
  ['to another name', (asked) => reply({ ...asked, name: 'other.test' }, [])],
  ['to another type', (asked) => reply({ ...asked, type: 'NS' }, [])],
  ['that is a question itself', (asked) => reply(asked, [], { type: 'query' })],
  ['that cannot be read', (asked) => reply(asked, [DS]).subarray(0, 40)],
  ['that is shorter than an id', () => Buffer.from([1])],
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
