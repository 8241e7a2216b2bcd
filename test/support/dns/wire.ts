import packet from 'dns-packet'
import { connect } from 'node:net'
import { lowerCase, MAX_LABEL, printName, takeName } from '../../../src/dns/names.ts'
import { decodeRdata } from '../../../src/dns/rdata.ts'
import { REGISTRY } from '../../../src/dns/registry.ts'
import { TYPES } from '../../../src/dns/types.ts'
import { exchange, type Server } from './dns.ts'

/** A record as it was on the wire: one character per octet, with the names in its data decompressed. */
export interface WireRecord {
  /** Absolute, lower case. */
  name: string
  type: string
  ttl: number
  rdata: string
}

export interface Message {
  rcode: string
  /** The flags AA and AD. */
  isAuthoritative: boolean
  isAuthentic: boolean
  answers: WireRecord[]
  authorities: WireRecord[]
  additionals: WireRecord[]
}

/** An RRset as DNS serves it: records in the API's canonical spelling, sorted; in hex for types that the API does not have. */
export interface ServedRRset {
  name: string
  type: string
  ttl: number
  records: string[]
}

const { supported, automatic } = REGISTRY
const MNEMONICS = new Map(
  Object.entries<number>({ ...supported, ...automatic }).map(([mnemonic, number]) => [number, mnemonic]),
)

/** The number of octets before the names in a record's data, and of names; these names may be compressed. */
const NAMES: Partial<Record<string, [before: number, names: number]>> = {
  NS: [0, 1],
  CNAME: [0, 1],
  PTR: [0, 1],
  MX: [2, 1],
  SRV: [6, 1],
  SOA: [0, 2],
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED', '', '', '', 'NOTAUTH']

/** Asks a nameserver. Unlike `ask`, it returns every octet of the data. */
export async function query(
  server: Server,
  name: string,
  type: string,
  options?: Parameters<typeof exchange>[3],
): Promise<Message> {
  return readMessage(await exchange(server, name, type, options))
}

function readMessage(message: Buffer): Message {
  let at = 12
  for (let questions = message.readUInt16BE(4); questions > 0; questions--) at = readName(message, at).end + 4

  function section(count: number): WireRecord[] {
    return Array.from({ length: count }, () => {
      const { name, end } = readName(message, at)
      const length = message.readUInt16BE(end + 8)
      at = end + 10 + length
      const number = message.readUInt16BE(end)
      const type = MNEMONICS.get(number) ?? `TYPE${number}`
      const rdata = readData(message, type, end + 10, at)
      return { name: lowerCase(printName(name)), type, ttl: message.readUInt32BE(end + 4), rdata }
    })
  }

  return {
    rcode: RCODES[message.readUInt8(3) & 15] ?? 'unknown',
    isAuthoritative: (message.readUInt8(2) & 4) > 0,
    isAuthentic: (message.readUInt8(3) & 32) > 0,
    answers: section(message.readUInt16BE(6)),
    authorities: section(message.readUInt16BE(8)),
    additionals: section(message.readUInt16BE(10)),
  }
}

/** The name at an offset of the message, in wire format but decompressed, and the offset after it. */
function readName(message: Buffer, start: number): { name: string; end: number } {
  let name = ''
  let end: number | undefined
  for (let at = start; ;) {
    const length = message.readUInt8(at)
    if (length > MAX_LABEL) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
    } else {
      name += message.toString('latin1', at, at + 1 + length)
      at += 1 + length
      if (length === 0) return { name: takeName(name), end: end ?? at }
    }
  }
}

function readData(message: Buffer, type: string, start: number, end: number): string {
  const [before, names] = NAMES[type] ?? [0, 0]
  let at = start + before
  let data = message.toString('latin1', start, at)
  for (let left = names; left > 0; left--) {
    const { name, end: next } = readName(message, at)
    data += name
    at = next
  }
  return data + message.toString('latin1', at, end)
}

/** The RRsets among records, sorted by name and type; without signatures and EDNS. */
export function rrsetsOf(records: WireRecord[]): ServedRRset[] {
  const rrsets = new Map<string, ServedRRset>()
  for (const record of records) {
    const { name, type, ttl } = record
    if (type === 'RRSIG' || type === 'OPT') continue
    const rrset = rrsets.get(`${name} ${type}`) ?? { name, type, ttl, records: [] }
    rrset.records.push(contentOf(record))
    rrsets.set(`${name} ${type}`, rrset)
  }
  return sorted([...rrsets.values()])
}

/** RRsets and their records in a fixed order, for comparison. */
export function sorted(rrsets: ServedRRset[]): ServedRRset[] {
  const key = ({ name, type }: ServedRRset) => `${name} ${type}`
  return rrsets
    .map((rrset) => ({ ...rrset, records: [...rrset.records].sort() }))
    .sort((one, other) => (key(one) < key(other) ? -1 : 1))
}

/**
 * RRsets with the names in their records in lower case: name compression may replace a name by an earlier one that
 * differs in case (RFC 4343 §4.1).
 */
export function folded(rrsets: ServedRRset[]): ServedRRset[] {
  const fold = ({ type, records, ...rest }: ServedRRset) => ({
    ...rest,
    type,
    records: NAMES[type] === undefined ? records : records.map(lowerCase),
  })
  return sorted(rrsets.map(fold))
}

/** A record's content in the API's canonical spelling. */
export function contentOf({ type, rdata }: WireRecord): string {
  return TYPES.has(type) ? decodeRdata(type, rdata).text : Buffer.from(rdata, 'latin1').toString('hex')
}

/** The RRsets, as `name type`, that no signature covers. */
export function unsigned(records: WireRecord[]): string[] {
  const covered = new Set(
    records
      .filter(({ type }) => type === 'RRSIG')
      .map(({ name, rdata }) => `${name} ${MNEMONICS.get((rdata.charCodeAt(0) << 8) + rdata.charCodeAt(1))}`),
  )
  return rrsetsOf(records)
    .map(({ name, type }) => `${name} ${type}`)
    .filter((key) => !covered.has(key))
}

/** A zone's SOA serial, as it is served. */
export async function servedSerial(server: Server, zone: string): Promise<number> {
  const { answers } = await query(server, zone, 'SOA')
  const rdata = answers.find(({ type }) => type === 'SOA')?.rdata
  if (rdata === undefined) throw new Error(`${zone} has no SOA`)
  return Buffer.from(rdata.slice(-20, -16), 'latin1').readUInt32BE()
}

/** Whether the nameserver adds its own records to this RRset. */
export function isMixed(zone: string, name: string, type: string): boolean {
  return name === `${zone}.` && ['DNSKEY', 'CDS', 'CDNSKEY'].includes(type)
}

/**
 * The RRsets of a zone transfer, without those that the nameserver generates or adds records to.
 * @param sign adds a signature to the question
 */
export async function transferred(
  server: Server,
  zone: string,
  sign = (message: Buffer) => message,
): Promise<ServedRRset[]> {
  const question = sign(packet.encode({ type: 'query', id: 1, questions: [{ type: 'AXFR', name: zone }] }))
  const socket = connect(server.dnsPort, server.dnsHost)
  socket.write(Buffer.concat([Buffer.from([question.length >> 8, question.length & 255]), question]))
  const records: WireRecord[] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0)
      const message = readMessage(rest.subarray(2, end))
      if (message.rcode !== 'NOERROR') throw new Error(`transfer of ${zone}: ${message.rcode}`)
      records.push(...message.answers)
      rest = rest.subarray(end)
    }
    // The SOA comes first, and once more at the end (RFC 5936 §2.2).
    if (records.filter(({ type }) => type === 'SOA').length < 2) continue
    socket.destroy()
    return rrsetsOf(records).filter(({ name, type }) => !(type in automatic || isMixed(zone, name, type)))
  }
  throw new Error(`the transfer of ${zone} broke off`)
}
