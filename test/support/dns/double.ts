import packet, { type Answer, type Packet } from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** A question that a double was asked. */
export interface Asked {
  id: number
  name: string
  type: string
  over: 'udp' | 'tcp'
  /** What is asked of the double, and with which flags. */
  flags?: { opcode: string; isAuthoritative: boolean }
}

/** A nameserver that answers what a test says: right, wrong or not at all. */
export interface Double {
  asked: Asked[]
  close(): Promise<void>
}

/**
 * Starts a double on UDP and TCP.
 * @param answer the messages that it sends for a question
 */
export async function startDouble(
  { address, port }: { address: string; port: number },
  answer: (asked: Asked) => Buffer[],
): Promise<Double> {
  const asked: Asked[] = []
  const answersTo = (message: Buffer, over: Asked['over']) => {
    const { id = 0, questions, flag_aa: isAuthoritative, ...rest } = packet.decode(message)
    const { opcode } = rest as unknown as { opcode: string }
    const question = {
      ...{ id, over, flags: { opcode, isAuthoritative } },
      ...{ name: questions![0]!.name, type: questions![0]!.type },
    }
    asked.push(question)
    return answer(question)
  }
  const udp = createSocket('udp4').on('message', (message, { port: from, address: to }) => {
    for (const each of answersTo(message, 'udp')) udp.send(each, from, to)
  })
  const open = new Set<Socket>()
  const tcp = createServer((socket) => {
    open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)))
    socket.on('data', (message) => {
      for (const each of answersTo(message.subarray(2), 'tcp')) {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(each.length)
        // In two pieces, as a network may deliver them.
        socket.write(Buffer.concat([length, each.subarray(0, 5)]))
        setImmediate(() => socket.write(each.subarray(5)))
      }
    })
  })
  udp.bind(port, address)
  tcp.listen(port, address)
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')])
  return {
    asked,
    async close() {
      for (const socket of open) socket.destroy()
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

/** A message that answers a question. @param more changes it, such as its flags or its id */
export function reply({ id, name, type }: Asked, answers: Answer[], more: Packet = {}): Buffer {
  return packet.encode({
    type: 'response',
    id,
    flags: packet.AUTHORITATIVE_ANSWER,
    questions: [{ name, type: type as 'A' }],
    answers,
    ...more,
  })
}
