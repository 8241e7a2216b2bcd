import packet, { type Answer as RR } from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
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

/** As `ask`, but returns the message as it arrived; without `dnssec`, without DNSSEC records. */
export async function exchange(
  server: Server,
  name: string,
  type: string,
  { dnssec = true }: { dnssec?: boolean } = {},
): Promise<Buffer> {
  const query = packet.encode({
    type: 'query',
    id: ++queries % 65536,
    questions: [{ type: codeOf(type) as 'A', name: name.replace(/\.$/, '') }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        flags: dnssec ? packet.DNSSEC_OK : 0,
        options: [],
        extendedRcode: 0,
        ednsVersion: 0,
        flag_do: dnssec,
      },
    ],
  })
  const datagram = await overUdp(server, query)
  const truncated = (datagram.readUInt16BE(2) & packet.TRUNCATED_RESPONSE) > 0
  return truncated ? overTcp(server, query) : datagram
}

/** The type as `dns-packet` takes it, which has no name for some. */
function codeOf(type: string): string {
  const number = new Map(Object.entries<number>(REGISTRY.supported)).get(type)
  return number === undefined ? type : `UNKNOWN_${number}`
}

async function overUdp({ dnsHost, dnsPort }: Server, query: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4')
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      socket.send(query, dnsPort, dnsHost)
      const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(3000) }).catch(() => [])) as [
        Buffer?,
      ]
      if (answer !== undefined && answer.readUInt16BE(0) === query.readUInt16BE(0)) return answer
    }
    throw new Error(`no answer from ${dnsHost}:${dnsPort}`)
  } finally {
    socket.close()
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

/** The data of the answers of one type, as `dns-packet` gives it. */
export function dataOf(answer: DnsAnswer, type: string): unknown[] {
  return answer.answers.flatMap((rr) => (rr.type === (type as RR['type']) && 'data' in rr ? [rr.data] : []))
}

/** The contents that a nameserver answers with, as dig prints them, sorted; without DNSSEC records. */
export async function lookUp({ dnsHost, dnsPort }: Server, name: string, type: string): Promise<string[]> {
  const { stdout } = await run('dig', [`@${dnsHost}`, '-p', String(dnsPort), '+short', '+tcp', '+noedns', name, type])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

/**
 * What a validating resolver that trusts only this DS says of an answer, in the words of `delv`: `fully validated` or
 * `negative response, fully validated` if all of it is proven; else `unsigned answer`, `negative response, unsigned
 * answer`, or why there is no answer, such as `failed: broken trust chain`. A referral is not an answer, and neither is
 * a CNAME to a name on another server.
 * @param ds contents of the zone's DS records
 */
export async function validate(
  server: Server,
  zone: string,
  ds: string[],
  name: string,
  type: string,
): Promise<string> {
  const folder = newFolder()
  const anchors = ds.map((content) => {
    const [tag, algorithm, digest, hex] = content.split(' ')
    return `"${zone}." static-ds ${tag} ${algorithm} ${digest} "${hex}";`
  })
  const file = join(folder, 'anchors')
  writeFileSync(file, `trust-anchors { ${anchors.join(' ')} };\n`)
  const place = [`@${server.dnsHost}`, '-p', String(server.dnsPort)]
  const { stdout, stderr } = await run('delv', [...place, '-a', file, `+root=${zone}`, '+nocrypto', name, type]).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  rmSync(folder, { recursive: true })
  return verdict(stdout + stderr)
}

/**
 * What delv's output comes to. It says `; fully validated` and the like before the first RRset, and again before each
 * whose standing is another; the last line is a failure, unless a denial is all that there is to tell.
 */
function verdict(output: string): string {
  const failure = /^;; resolution failed: (?!ncache nx(?:domain|rrset)$)(.*)$/m.exec(output)
  if (failure) return `failed: ${failure[1]}`
  const standings = [...output.matchAll(/^; ([a-z][a-z ,]*)$/gm)].map(([, words]) => words!)
  if (standings.length === 0) return `failed: ${output.trim()}`
  const doubtful = standings.find((words) => !/^(negative response, )?fully validated$/.test(words))
  return doubtful ?? standings[0]!
}

/** Asks for a zone transfer; returns the zone as text. */
export async function transfer(server: Server, zone: string): Promise<string> {
  const place = [`@${server.dnsHost}`, '-p', String(server.dnsPort)]
  const { stdout } = await run('dig', [...place, zone, 'AXFR', '+onesoa', '+nocomments', '+nocmd', '+nostats'], {
    maxBuffer: 2 ** 28,
  })
  if (stdout.includes('; Transfer failed')) throw new Error(`no transfer of ${zone}`)
  return stdout
}

/**
 * Lets `ldns-verify-zone` judge a zone as text: its signatures and its NSEC3 chain. Rejects with what it says
 * if the zone is not valid.
 * @param ds contents of DS records, which the zone's keys must agree with
 */
export async function verifyZone(text: string, zone: string, ds: string[] = []): Promise<void> {
  const folder = newFolder()
  const file = join(folder, 'zone')
  writeFileSync(file, text)
  const trusted = ds.flatMap((content, i) => {
    const anchor = join(folder, `ds-${i}`)
    writeFileSync(anchor, `${zone}. IN DS ${content}\n`)
    return ['-k', anchor]
  })
  await run('ldns-verify-zone', [...trusted, file])
  rmSync(folder, { recursive: true })
}

/** Asks for a zone transfer and lets `ldns-verify-zone` judge it; rejects with what it says if the zone is not valid. */
export async function verifyTransfer(server: Server, zone: string, ds?: string[]): Promise<void> {
  await verifyZone(await transfer(server, zone), zone, ds)
}
