import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { installed } from '../servers/programs.ts'
import { succeeded } from './api.ts'
import type { Client } from './client.ts'

// Clients of DNS UPDATE: real ones, and messages octet by octet, with a signer of their own.

const run = promisify(execFile)

/** The TSIG key of a token. */
export interface Key {
  name: string
  algorithm: string
  secret: string
}

/** Makes the TSIG key of a token. */
export async function keyFor(api: Client, tokenId: string): Promise<Key> {
  return succeeded(await api.post(`/auth/tokens/${tokenId}/tsig/`), 201).json as Key
}

/** Runs a program with an input; returns what it has written, and its exit code. */
async function runWith(program: string, args: string[], input: string): Promise<{ output: string; code: number }> {
  const running = run(installed(program), args)
  running.child.stdin!.end(input)
  return running.then(
    ({ stdout, stderr }) => ({ output: stdout + stderr, code: 0 }),
    (error: unknown) => {
      const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number }
      return { output: stdout + stderr, code }
    },
  )
}

/** Runs BIND's nsupdate; returns the code of the answer. Without `zone`, it asks for the zone. */
export async function nsupdate(
  { port, key, zone, tcp = false, algorithm = key.algorithm }: { port: number; key: Key; zone?: string; tcp?: boolean; algorithm?: string }, // prettier-ignore
  ...lines: string[]
): Promise<string> {
  const script = [`server 127.0.0.1 ${port}`, `key ${algorithm}:${key.name} ${key.secret}`]
  if (zone !== undefined) script.push(`zone ${zone}.`)
  script.push(...lines)
  const { output, code } = await runWith('nsupdate', [...(tcp ? ['-v'] : []), '-t', '20'], [...script, 'send', ''].join('\n')) // prettier-ignore
  const failure = /update failed: (\w+)/.exec(output)?.[1]
  if (code === 0 && output === '') return 'NOERROR'
  return failure ?? output
}

async function dig({ port, key }: { port: number; key: Key }, ...args: string[]): Promise<{ output: string }> {
  const signing = `${key.algorithm}:${key.name}:${key.secret}`
  return runWith('dig', ['@127.0.0.1', '-p', `${port}`, '-y', signing, ...args], '')
}

/** Transfers a zone with BIND's dig; returns its records, or what dig says. */
export async function transferred(
  { port, key, zone, from = '127.0.0.1' }: { port: number; key: Key; zone: string; from?: string }, // prettier-ignore
): Promise<string[]> {
  const { output } = await dig({ port, key }, zone, 'AXFR', '-b', from, '+noall', '+answer', '+onesoa')
  return output.split('\n').filter((line) => line !== '' && !line.includes('TSIG'))
}

/** Asks with BIND's dig; returns the code, and the records of answer and authority. */
export async function asked({ port, key }: { port: number; key: Key }, name: string, type: string): Promise<string[]> {
  const { output } = await dig({ port, key }, name, type, '+norec', '+noall', '+comments', '+answer', '+authority')
  const status = /status: (\w+)/.exec(output)?.[1] ?? output
  const records = output.split('\n').filter((line) => /\sIN\s/.test(line) && !line.startsWith(';'))
  return [status, ...records.map((line) => line.replace(/\s+/g, ' '))]
}

/** A record of a message, as text and numbers. */
export interface Entry {
  name: string
  type: number
  class?: number
  ttl?: number
  data?: Buffer
}

const uint16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [(value >> 8) & 255, value & 255]))
const uint32 = (value: number) => uint16(Math.floor(value / 65_536), value % 65_536)

/** A name on the wire. */
export function nameOn(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.alloc(1),
  ])
}

function entryOn({ name, type, class: kind = 1, ttl = 0, data = Buffer.alloc(0) }: Entry): Buffer {
  return Buffer.concat([nameOn(name), uint16(type, kind), uint32(ttl), uint16(data.length), data])
}

/** A message in parts; `counts` if they are not those of the sections. */
export interface Parts {
  id?: number
  flags?: number
  question?: { name: string; type: number; class?: number }
  sections?: [Entry[], Entry[], Entry[]]
}

export const UPDATE_FLAGS = 5 << 11

export function messageOf({ id = 4711, flags = UPDATE_FLAGS, question, sections = [[], [], []] }: Parts): Buffer {
  const head = uint16(id, flags, question ? 1 : 0, ...sections.map((section) => section.length))
  const asked = question ? [nameOn(question.name), uint16(question.type, question.class ?? 1)] : []
  return Buffer.concat([head, ...asked, ...sections.flat().map(entryOn)])
}

/** How a message is signed, if not as usual. */
export interface Signing {
  time?: number
  fudge?: number
  algorithm?: string
  /** The octets of its MAC that are sent. */
  length?: number
  spoil?: boolean
}

/** Signs a message (RFC 8945 §4); written apart from the service's own code. */
export function signedWith(key: Key, message: Buffer, options: Signing = {}): { message: Buffer; mac: Buffer } {
  const { time = Math.floor(Date.now() / 1000), fudge = 300, algorithm = key.algorithm, length } = options
  const names = [nameOn(key.name.toLowerCase()), nameOn(algorithm)] as const
  const timers = Buffer.concat([uint16(0), uint32(time), uint16(fudge)])
  const variables = Buffer.concat([names[0], uint16(255), uint32(0), names[1], timers, uint16(0, 0)])
  const hash = algorithm.replace(/^hmac-|\.$/g, '')
  const whole = createHmac(['sha384', 'sha512'].includes(hash) ? hash : 'sha256', Buffer.from(key.secret, 'base64'))
    .update(message)
    .update(variables)
    .digest()
  const mac = Buffer.from(whole.subarray(0, length ?? whole.length))
  if (options.spoil) mac[0]! ^= 1
  const data = Buffer.concat([names[1], timers, uint16(mac.length), mac, message.subarray(0, 2), uint16(0, 0)])
  const result = Buffer.concat([message, entryOn({ name: key.name, type: 250, class: 255, data })])
  result.writeUInt16BE(result.readUInt16BE(10) + 1, 10)
  return { message: result, mac }
}

/** Sends a message by UDP; undefined: no answer within this time. */
export async function sendTo(port: number, message: Buffer, time = 5_000): Promise<Buffer | undefined> {
  const socket = createSocket('udp4')
  try {
    socket.send(message, port, '127.0.0.1')
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort()
    }, time)
    const answer = await once(socket, 'message', { signal: late.signal }).catch(() => [undefined])
    clearTimeout(timer)
    return answer[0] as Buffer | undefined
  } finally {
    socket.close()
  }
}

/**
 * Sends messages by TCP, at once, and returns as many answers; fewer if the connection ends.
 * @param sent.header what comes before them
 * @param sent.piece sends pieces of so many octets, one after the other
 */
export async function sendByTcp(
  port: number,
  { host = '127.0.0.1', header = Buffer.alloc(0), messages, piece = Infinity }: { host?: string; header?: Buffer; messages: Buffer[]; piece?: number }, // prettier-ignore
): Promise<Buffer[]> {
  const socket = connect({ host, port, noDelay: true })
  const octets = Buffer.concat([header, ...messages.flatMap((message) => [uint16(message.length), message])])
  if (piece === Infinity) socket.write(octets)
  else
    for (let at = 0; at < octets.length; at += piece)
      await new Promise((sent) => socket.write(octets.subarray(at, at + piece), () => setImmediate(sent)))
  const answers: Buffer[] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      answers.push(rest.subarray(2, 2 + rest.readUInt16BE(0)))
      rest = rest.subarray(2 + rest.readUInt16BE(0))
    }
    if (answers.length >= messages.length) break
  }
  socket.destroy()
  return answers
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED', 'YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NOTAUTH', 'NOTZONE'] // prettier-ignore

export function rcodeOf(answer: Buffer | undefined): string {
  return answer === undefined ? 'no answer' : RCODES[answer.readUInt16BE(2) & 15]!
}
