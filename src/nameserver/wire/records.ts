import ipaddr from 'ipaddr.js'
import { split, takeCounted } from '../../dns/octets.ts'
import { readName, readRecord } from '../../dns/wire/messages.ts'

// Strangers write what is read here, so only contents of a few types are read.

/** The largest data of a DSYNC record: five octets, and a name. */
const DSYNC_LENGTH = 5 + 255

/** The numbers of the types that are asked for. */
export const TYPES = { A: 1, NS: 2, SOA: 6, AAAA: 28, DS: 43, CDS: 59, DSYNC: 66 }

/** A record of an answer. Names are in lower case, without final dot. */
export interface ReplyRecord {
  name: string
  type: string
  ttl: number
  /** The content of NS, DS, A, AAAA or DSYNC (with the number of its type); the serial of a SOA. */
  content: string
}

/** Returns the content of a record whose data are these octets of a message. */
type ReadContent = (message: Buffer, start: number, end: number) => string

const CONTENTS = new Map<number, [type: string, read: ReadContent]>([
  [TYPES.A, ['A', (message, start, end) => addressOf(message, start, end, 4)]],
  [TYPES.AAAA, ['AAAA', (message, start, end) => addressOf(message, start, end, 16)]],
  [TYPES.NS, ['NS', (message, start) => textOf(readName(message, start).wire)]],
  [TYPES.SOA, ['SOA', (message, start) => serialOf(message, start)]],
  [TYPES.DS, ['DS', (message, start, end) => dsContent(message.subarray(start, end))]],
  [TYPES.DSYNC, ['DSYNC', (message, start, end) => dsyncContent(message.subarray(start, end))]],
])

/**
 * Reads a section of a message: those of its records whose types are asked for, and the offset behind it.
 * @throws RangeError if it has not the form of RFC 1035 §4.1.3
 */
export function readSection(message: Buffer, start: number, count: number): { records: ReplyRecord[]; end: number } {
  const records: ReplyRecord[] = []
  let at = start
  for (let left = count; left > 0; left--) {
    const { owner, ttl, data, end, ...record } = readRecord(message, at)
    at = end
    const [type, read] = CONTENTS.get(record.type) ?? []
    if (type !== undefined) records.push({ name: textOf(owner), type, ttl, content: read!(message, data, end) })
  }
  return { records, end: at }
}

/** Returns a name in wire form as text. */
function textOf(wire: string): string {
  const labels = split(wire.slice(0, -1), takeCounted).map((label) => label.slice(1))
  return plain(labels.join('.')) || '.'
}

function addressOf(message: Buffer, start: number, end: number, size: 4 | 16): string {
  if (end - start !== size) throw new RangeError('An address has a wrong length.')
  return ipaddr.fromByteArray([...message.subarray(start, end)]).toString()
}

function serialOf(message: Buffer, start: number): string {
  const contact = readName(message, start).end
  return String(message.readUInt32BE(readName(message, contact).end))
}

function dsContent(data: Buffer): string {
  return [data.readUInt16BE(0), data.readUInt8(2), data.readUInt8(3), data.toString('hex', 4)].join(' ')
}

/** Returns the content of a DSYNC record, such as `59 1 5300 cds.example`: type, scheme, port and target; empty: invalid. */
function dsyncContent(data: Buffer): string {
  if (data.length > DSYNC_LENGTH) return ''
  const labels: string[] = []
  let at = 5
  for (let length = data[at] ?? 0; length > 0; length = data[at] ?? 0) {
    labels.push(data.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  // The name is not compressed, and ends with the root label, which ends the data.
  if (labels.length === 0 || at + 1 !== data.length) return ''
  return [data.readUInt16BE(0), data.readUInt8(2), data.readUInt16BE(3), plain(labels.join('.'))].join(' ')
}

/** Returns a name in lower case. Strangers choose names, which reach terminals: only usual characters stay. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_.*-]/g, '?')
}
