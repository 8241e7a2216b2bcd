import packet, { type Answer as RR } from 'dns-packet'
import ipaddr from 'ipaddr.js'
import { execFile } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { REGISTRY } from '../../../src/dns/registry.ts'
import { newFolder } from '../servers/folders.ts'

const run = promisify(execFile)

/** The address of a nameserver. */
export interface Server {
  dnsHost: string
  dnsPort: number
}

export interface DnsAnswer {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED`, … */
  rcode: string
  answers: RR[]
  authorities: RR[]
}

/** Asks a nameserver over UDP, and again over TCP if the answer was truncated; with DNSSEC records. */
export async function ask(server: Server, name: string, type: string): Promise<DnsAnswer> {
  const answer = packet.decode(await exchange(server, name, type))
  return {
    rcode: (answer as unknown as { rcode: string }).rcode,
    answers: answer.answers ?? [],
    authorities: answer.authorities ?? [],
  }
}

let queries = 0

const WITH_DNSSEC: packet.OptAnswer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  flags: packet.DNSSEC_OK,
  options: [],
  extendedRcode: 0,
  ednsVersion: 0,
  flag_do: true,
}

/**
 * Like `ask`, but returns the message unparsed.
 * @param options.dnssec whether to ask for DNSSEC records, which takes EDNS
 * @param options.recursive whether a resolver shall ask others
 */
export async function exchange(
  server: Server,
  name: string,
  type: string,
  { dnssec = true, recursive = false }: { dnssec?: boolean; recursive?: boolean } = {},
): Promise<Buffer> {
  const query = packet.encode({
    type: 'query',
    id: ++queries % 65536,
    flags: recursive ? packet.RECURSION_DESIRED : 0,
    questions: [{ type: codeOf(type) as 'A', name: name.replace(/\.$/, '') }],
    additionals: dnssec ? [WITH_DNSSEC] : [],
  })
  const datagram = await overUdp(server, query)
  const truncated = (datagram.readUInt16BE(2) & packet.TRUNCATED_RESPONSE) > 0
  return truncated ? overTcp(server, query) : datagram
}

/** The type as `dns-packet` expects it; it has no name for some types. */
function codeOf(type: string): string {
  const number = new Map(Object.entries<number>(REGISTRY.supported)).get(type)
  return number === undefined ? type : `UNKNOWN_${number}`
}

/** The socket of all questions of this process; a new one for each would cost more than PowerDNS' answer. */
let socket: Socket | undefined
const awaited = new Map<number, (answer: Buffer) => void>()

/** Milliseconds after which a question that has no answer is sent again: the server may just be starting. */
const PAUSES = [100, 200, 400, 800, 1_500, 3_000, 5_000, 5_000]

async function overUdp({ dnsHost, dnsPort }: Server, query: Buffer): Promise<Buffer> {
  socket ??= createSocket('udp4')
    .on('message', (answer) => awaited.get(answer.readUInt16BE(0))?.(answer))
    .unref()
  const id = query.readUInt16BE(0)
  const arrived = new Promise<Buffer>((resolve) => awaited.set(id, resolve))
  try {
    for (const pause of PAUSES) {
      socket.send(query, dnsPort, dnsHost)
      const timer = new AbortController()
      const answer = await Promise.race([
        arrived,
        sleep(pause, undefined, { signal: timer.signal }).catch(() => undefined),
      ])
      timer.abort()
      if (answer !== undefined) return answer
    }
    throw new Error(`no answer from ${dnsHost}:${dnsPort}`)
  } finally {
    awaited.delete(id)
  }
}

async function overTcp({ dnsHost, dnsPort }: Server, query: Buffer): Promise<Buffer> {
  const socket = connect(dnsPort, dnsHost)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(query.length)
  socket.write(Buffer.concat([length, query]))
  const chunks: Buffer[] = []
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer)
    const all = Buffer.concat(chunks)
    if (all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)) {
      socket.destroy()
      return all.subarray(2)
    }
  }
  throw new Error('the connection closed before the answer was complete')
}

/** The data of the answers of one type, as `dns-packet` returns it. */
export function dataOf(answer: DnsAnswer, type: string): unknown[] {
  return answer.answers.flatMap((rr) => (rr.type === (type as RR['type']) && 'data' in rr ? [rr.data] : []))
}

/** The records in a nameserver's answer, as dig prints them, sorted; without DNSSEC records. */
export async function lookUp(server: Server, name: string, type: string): Promise<string[]> {
  if (type === 'A' || type === 'AAAA') {
    const answer = packet.decode(await exchange(server, name, type, { dnssec: false })).answers ?? []
    const texts = answer.flatMap((record) =>
      record.type === 'A' || record.type === 'AAAA' ? (printed(record.data) ?? []) : [],
    )
    // To print the others is left to dig, which takes longer.
    if (texts.length === answer.length) return texts.sort()
  }
  const { dnsHost, dnsPort } = server
  const { stdout } = await run('dig', [`@${dnsHost}`, '-p', String(dnsPort), '+short', '+tcp', '+noedns', name, type])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

/** An address as dig prints it; undefined if it prints an IPv4 address at the end of an IPv6 address. */
function printed(address: string): string | undefined {
  if (!address.includes(':')) return address
  const text = ipaddr.IPv6.parse(address).toRFC5952String()
  return /^::(ffff:)?[^:]+:[^:]+$/.test(text) ? undefined : text
}

/**
 * Asks for a zone transfer; returns the zone as text.
 * @param key a TSIG key as `dig -y` wants it
 * @param from the address that asks
 */
export async function transfer(server: Server, zone: string, key?: string, from = '0.0.0.0'): Promise<string> {
  const target = [`@${server.dnsHost}`, '-p', String(server.dnsPort), '-b', from]
  if (key !== undefined) target.push('-y', key)
  const { stdout } = await run('dig', [...target, zone, 'AXFR', '+onesoa', '+nocomments', '+nocmd', '+nostats'], {
    maxBuffer: 2 ** 28,
  })
  if (stdout.includes('; Transfer failed')) throw new Error(`no transfer of ${zone}`)
  return stdout
}

/**
 * Verifies the signatures and the chain of denials of a zone file with `ldns-verify-zone`. Rejects with its output if the
 * zone is not valid.
 * @param ds contents of DS records, which the zone's keys must agree with
 */
export async function verifyZone(text: string, zone: string, ds: string[] = []): Promise<void> {
  const folder = newFolder()
  const trusted = ds.flatMap((content, i) => {
    const anchor = join(folder, `ds-${i}`)
    writeFileSync(anchor, `${zone}. IN DS ${content}\n`)
    return ['-k', anchor]
  })
  await runOnZone('ldns-verify-zone', trusted, text, folder)
}

/** Like `verifyZone`, with BIND's `dnssec-verify`, which does not look at the DS. */
export async function verifyByBind(text: string, zone: string): Promise<void> {
  // One key signs all: else a second one would have to sign what is not DNSKEY.
  await runOnZone('dnssec-verify', ['-z', '-o', zone], text)
}

async function runOnZone(program: string, options: string[], text: string, folder = newFolder()): Promise<void> {
  const file = join(folder, 'zone')
  writeFileSync(file, text)
  await run(program, [...options, file], { maxBuffer: 2 ** 24 })
  rmSync(folder, { recursive: true })
}

/** Like `verifyZone`, for a zone transfer. */
export async function verifyTransfer(server: Server, zone: string, ds?: string[]): Promise<void> {
  await verifyZone(await transfer(server, zone), zone, ds)
}
