import ipaddr from 'ipaddr.js'

// Strangers write what is read here, so its cost has bounds: a name is read in a limited number of steps, whatever its
// pointers point to, and only contents of a few types are read.

/** The length of a name in octets, and its labels and pointers: a pointer before each label is odd, more are hostile. */
const NAME_LENGTH = 255
const NAME_STEPS = 255

/** The largest data of a DSYNC record: five octets, and a name. */
const DSYNC_LENGTH = 5 + NAME_LENGTH

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
  [TYPES.NS, ['NS', (message, start) => readName(message, start).name]],
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
    const owner = readName(message, at)
    const fields = owner.end
    const data = fields + 10
    at = data + message.readUInt16BE(fields + 8)
    if (at > message.length) throw new RangeError('The message ends within a record.')
    const [type, read] = CONTENTS.get(message.readUInt16BE(fields)) ?? []
    if (type === undefined) continue
    const ttl = message.readUInt32BE(fields + 4)
    records.push({ name: owner.name, type, ttl, content: read!(message, data, at) })
  }
  return { records, end: at }
}

/** Reads a name that may be compressed (RFC 1035 §4.1.4), and the offset behind it. @throws RangeError */
function readName(message: Buffer, start: number): { name: string; end: number } {
  const text = Buffer.allocUnsafe(NAME_LENGTH)
  let length = 0
  let end: number | undefined
  let at = start
  for (let left = NAME_STEPS; left > 0; left--) {
    const size = message.readUInt8(at)
    if (size === 0) return { name: plain(text.toString('latin1', 0, length - 1)) || '.', end: end ?? at + 1 }
    if (size >= 0xc0) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
      continue
    }
    if (size > 63 || length + size + 1 >= NAME_LENGTH) break
    // A loop, because calls of functions for labels of one octet take longer.
    for (let i = 1; i <= size; i++) text[length++] = message[at + i] ?? 0
    text[length++] = 0x2e
    at += 1 + size
  }
  throw new RangeError('A name is too long, or its pointers are.')
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
