import test from 'ava'
import packet from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Busy } from '../../src/errors.ts'
import { Secondary } from '../../src/nameserver/secondaries/secondary.ts'

/** Starts a nameserver that serves every zone with serial 7. Returns also the zones of its questions. */
async function start(): Promise<{ secondary: Secondary; asked: string[]; close: () => Promise<void> }> {
  const asked: string[] = []
  const server = createSocket('udp4').bind(0, '127.0.0.1')
  await once(server, 'listening')
  server.on('message', (question, { port, address }) => {
    const { id, questions = [] } = packet.decode(question)
    const [{ name } = { name: '' }] = questions
    asked.push(name)
    const times = { refresh: 1, retry: 1, expire: 1, minimum: 1 }
    const data = { mname: 'invalid', rname: 'invalid', serial: 7, ...times }
    const answers = [{ type: 'SOA', name, ttl: 0, data } as const]
    server.send(
      packet.encode({ type: 'response', id, flags: packet.AUTHORITATIVE_ANSWER, questions, answers }),
      port,
      address,
    )
  })
  const secondary = new Secondary({ name: 'ns2.example', address: '127.0.0.1', port: server.address().port })
  const close = async () => {
    await secondary.close()
    server.close()
  }
  return { secondary, asked, close }
}

test('callers that ask about a zone at the same time share a question, and do not keep other zones waiting', async (t) => {
  const { secondary, asked, close } = await start()
  const many = Array.from({ length: 1_000 }, () => secondary.serves('many.example'))
  t.deepEqual(await secondary.serves('other.example'), { serial: 7 })
  for (const served of await Promise.all(many)) t.deepEqual(served, { serial: 7 })
  // The first question may get lost on a busy machine.
  t.true(asked.length <= 4, `${asked.length} questions`)
  await secondary.serves('many.example')
  t.is(asked.at(-1), 'many.example')
  await close()
})

test('questions wait for each other; those that would wait for seconds are refused', async (t) => {
  const { secondary, asked, close } = await start()
  const questions = Array.from({ length: 700 }, (_, i) => secondary.serves(`zone${i}.example`))
  const results = await Promise.allSettled(questions)
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  t.true(refused.length > 0 && refused.length < 300, `${refused.length} are refused`)
  t.true(refused.every((error) => error instanceof Busy))
  t.is(new Set(asked).size, 700 - refused.length)
  await close()
})
