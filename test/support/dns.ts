import packet, { type Answer as RR } from 'dns-packet'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where to ask. */
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

/** Asks a nameserver over UDP, and again over TCP if the answer was cut; signatures are asked for. */
export async function ask(server: Server, name: string, type: string): Promise<DnsAnswer> {
  const query = packet.encode({
    type: 'query',
    id: Math.floor(Math.random() * 65536),
    questions: [{ type: type as 'A', name: name.replace(/\.$/, '') }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        flags: packet.DNSSEC_OK,
        options: [],
        extendedRcode: 0,
        ednsVersion: 0,
        flag_do: true,
      },
    ],
  })
  const datagram = packet.decode(await overUdp(server, query))
  const answer = datagram.flag_tc ? packet.decode(await overTcp(server, query)) : datagram
  return {
    rcode: (answer as unknown as { rcode: string }).rcode,
    answers: answer.answers ?? [],
    authorities: answer.authorities ?? [],
  }
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

/** The contents that a nameserver answers with, as dig prints them, sorted; signatures are not asked for. */
export async function lookUp({ dnsHost, dnsPort }: Server, name: string, type: string): Promise<string[]> {
  const { stdout } = await run('dig', [`@${dnsHost}`, '-p', String(dnsPort), '+short', '+tcp', '+noedns', name, type])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

/**
 * Whether a validating resolver that trusts only this DS accepts what the server says about a name: `delv` prints
 * `fully validated` for answers, and the same of the proofs for denials.
 * @param ds contents of the zone's DS records
 */
export async function validate(
  server: Server,
  zone: string,
  ds: string[],
  name: string,
  type: string,
): Promise<string> {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'anchor-'))
  const anchors = ds.map((content) => {
    const [tag, algorithm, digest, hex] = content.split(' ')
    return `"${zone}." static-ds ${tag} ${algorithm} ${digest} "${hex}";`
  })
  const file = join(folder, 'anchors')
  writeFileSync(file, `trust-anchors { ${anchors.join(' ')} };\n`)
  const args = [
    `@${server.dnsHost}`,
    '-p',
    String(server.dnsPort),
    '-a',
    file,
    `+root=${zone}`,
    '+nocrypto',
    name,
    type,
  ]
  const { stdout, stderr } = await run('delv', args).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  return stdout + stderr
}

/** Asks for a zone transfer and lets `ldns-verify-zone` judge it; rejects with what it says if the zone is not valid. */
export async function verifyTransfer(server: Server, zone: string): Promise<void> {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'axfr-'))
  const { stdout } = await run(
    'dig',
    [`@${server.dnsHost}`, '-p', String(server.dnsPort), zone, 'AXFR', '+onesoa', '+nocomments', '+nocmd', '+nostats'],
    { maxBuffer: 2 ** 28 },
  )
  const file = join(folder, 'zone')
  writeFileSync(file, stdout)
  await run('ldns-verify-zone', [file])
}
