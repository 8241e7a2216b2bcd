import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { type Key, keyFor, rcodeOf, signedWith } from '../support/clients/dns-update.ts'
import { depth } from '../support/depth.ts'
import { folded, transferred } from '../support/dns/wire.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { test } from '../support/serial.ts'
import { freePort } from '../support/servers/ports.ts'
import { codeForForm, isAnswered, type Mutated, mutated } from './mutations.ts'

// Contract §21.3 and §21.6: whatever comes, by UDP and TCP, its answer is what its form deserves, no trouble is told but that
// of a backend, and neither memory nor the time for a message grows.

const RUNS = Number(process.env['FUZZ_RUNS'] ?? depth(3_000, 1_000_000))
const ROUND = Math.min(RUNS, 20_000)
const SENDERS = 24
/** Messages at once on a connection. */
const PIPELINE = 10

const servers = useServers()
const random = new Random()
const codes: Record<string, number> = {}
let attacked: TestProcess
let port: number
let memory: number
const costs: number[] = []
/** The milliseconds of the longest request by HTTP meanwhile. */
let longest = 0

test.before('a service of its own starts', async () => {
  port = await freePort()
  attacked = await servers().start({ DNS_UPDATE_PORT: String(port), LOG_LEVEL: 'error', HISTORY_DAYS: '1' })
})

/** Mebibytes of the process, and milliseconds of processors that it has used. */
function used(): { memory: number; time: number } {
  const status = readFileSync(`/proc/${attacked.pid}/status`, 'utf8')
  const fields = readFileSync(`/proc/${attacked.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return {
    memory: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024,
    time: (Number(fields[11]) + Number(fields[12])) * 10,
  }
}

/** Counts an answer; returns what is wrong with it. */
function judge({ message, isSigned }: Mutated, answer: Buffer): string[] {
  const rcode = rcodeOf(answer)
  codes[rcode] = (codes[rcode] ?? 0) + 1
  const expected = codeForForm(message)
  const wrong = [
    ...(expected !== undefined && rcode !== expected ? [`${expected} expected`] : []),
    ...(rcode === 'SERVFAIL' ? ['trouble'] : []),
    ...((answer.readUInt16BE(2) & 0x8000) === 0 ? ['no answer'] : []),
    ...(!isSigned && !['FORMERR', 'NOTIMP', 'REFUSED', 'NOTAUTH'].includes(rcode) ? ['without a signature'] : []),
    ...(!isSigned && answer.length > message.length ? [`${answer.length} octets`] : []),
  ]
  return wrong.map((what) => `${what}: ${rcode} for ${message.toString('hex')}`)
}

/** Sends messages by UDP, one after the other. */
async function sendByUdp(next: () => Mutated | undefined): Promise<string[]> {
  const socket = createSocket('udp4')
  const wrong: string[] = []
  let asked: { mutated: Mutated; done: () => void } | undefined
  socket.on('message', (answer) => {
    if (asked === undefined || answer.readUInt16BE(0) !== asked.mutated.message.readUInt16BE(0)) {
      wrong.push(`unexpected: ${answer.toString('hex')}`)
      return
    }
    wrong.push(...judge(asked.mutated, answer))
    asked.done()
  })
  for (let one = next(); one !== undefined; one = next()) {
    if (!isAnswered(one.message)) {
      socket.send(one.message, port, '127.0.0.1')
      continue
    }
    const current = one
    const answered = new Promise<void>((done) => (asked = { mutated: current, done }))
    const again = setInterval(() => {
      socket.send(current.message, port, '127.0.0.1')
    }, 20_000)
    socket.send(one.message, port, '127.0.0.1')
    await answered
    asked = undefined
    clearInterval(again)
  }
  socket.close()
  return wrong
}

/** Sends messages by TCP, some at once. */
async function sendByTcp(next: () => Mutated | undefined): Promise<string[]> {
  const wrong: string[] = []
  for (;;) {
    const messages: Mutated[] = []
    while (messages.length < PIPELINE) {
      const one = next()
      if (one === undefined) break
      messages.push(one)
    }
    if (messages.length === 0) return wrong
    wrong.push(...(await exchange(messages)))
  }
}

/** Sends messages on a connection, and waits until each that gets an answer has it; a transfer is of several. */
async function exchange(messages: Mutated[]): Promise<string[]> {
  const wrong: string[] = []
  const asked = messages.filter(({ message }) => isAnswered(message))
  const open = new Map(asked.map((one) => [one.message.readUInt16BE(0), one]))
  const missing = new Set(open.keys())
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  for (const { message } of messages) socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message])) // prettier-ignore
  let rest = Buffer.alloc(0)
  if (missing.size > 0)
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk as Buffer])
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const answer = rest.subarray(2, 2 + rest.readUInt16BE(0))
        const one = open.get(answer.readUInt16BE(0))
        wrong.push(...(one === undefined ? [`unexpected: ${answer.toString('hex')}`] : judge(one, answer)))
        missing.delete(answer.readUInt16BE(0))
        rest = rest.subarray(2 + answer.length)
      }
      if (missing.size === 0) break
    }
  socket.destroy()
  return [...wrong, ...[...missing].map((id) => `not answered: ${open.get(id)!.message.toString('hex')}`)]
}

let ids = 0

for (let first = 0; first < RUNS; first += ROUND) {
  test(`mutated messages get what they deserve: messages ${first + 1} to ${first + ROUND}`, async (t) => {
    const { api, owner } = { api: attacked.api, owner: servers().owner }
    const domain = await newDomain(api, `round-${first}.test`)
    const key: Key = await keyFor(api, owner.tokenId)
    let left = ROUND
    const next = () => (left-- > 0 ? mutated(random, domain, ids++ & 0xffff, key) : undefined)
    const before = used()
    const over = new AbortController()
    const watching = (async () => {
      while (!over.signal.aborted) {
        const start = performance.now()
        succeeded(await api.get('/'), 200)
        longest = Math.max(longest, performance.now() - start)
        await sleep(50)
      }
    })()
    const senders = Array.from({ length: SENDERS }, (_, i) => (i % 2 === 0 ? sendByUdp(next) : sendByTcp(next)))
    const wrong = (await Promise.all(senders)).flat()
    over.abort()
    await watching
    t.deepEqual(wrong.slice(0, 10), [])
    const after = used()
    costs.push((after.time - before.time) / ROUND)
    // When everything is warm.
    if (first <= RUNS / 4) memory = after.memory
    servers().proxy.calls.length = 0
    // The zone that is served is the one that is stored.
    const [served, stored] = await Promise.all([
      transferred(servers().powerDns, domain),
      transferred({ dnsHost: '127.0.0.1', dnsPort: port }, domain, (message) => signedWith(key, message).message),
    ])
    t.deepEqual(folded(served), folded(stored))
    succeeded(await api.delete(`/domains/${domain}/`), 204)
  })
}

test('nothing unexpected is logged, and neither memory nor what a message costs grows', (t) => {
  const grown = used().memory - memory
  const sorted = costs.toSorted((a, b) => a - b)
  const [median, most] = [sorted[sorted.length >> 1]!, sorted.at(-1)!]
  t.log(codes, { grown, memory, median, most, longest })
  t.false(attacked.output().includes('error'), attacked.output().slice(-2_000))
  t.true(grown < 60, `${grown} MiB`)
  t.true(most < 5 * median, `${most} ms`)
})
