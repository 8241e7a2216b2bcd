import { ROOT, takeName } from '../names.ts'
import { encodeUint } from '../octets.ts'
import type { RecordType } from '../types.ts'

// Messages of DNS (RFC 1035 §4.1). Strangers write what is read here, so its cost has bounds: a name is read in a limited
// number of steps, whatever its pointers point to, and what is skipped is not read.

/** The length of a name in octets, and its labels and pointers: a pointer before each label is odd, more are hostile. */
const NAME_LENGTH = 255
const NAME_STEPS = 255

/** The octets of a header, and its flags (RFC 1035 §4.1.1; CD: RFC 4035 §3.2.2). */
export const HEADER = 12
export const [QR, OPCODE, AA, TC, RD, CD, RCODE] = [0x8000, 0x7800, 0x0400, 0x0200, 0x0100, 0x0010, 0x000f]

/** Classes (RFC 1035 §3.2.4, RFC 2136 §1.3). */
export const CLASSES = { IN: 1, NONE: 254, ANY: 255 }

/** The codes of answers, by number (RFC 1035 §4.1.1, RFC 2136 §2.2). */
export const RCODES = [
  ...(['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'] as const),
  ...(['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NOTAUTH', 'NOTZONE'] as const),
]
export type Rcode = (typeof RCODES)[number]

/** A record in a message. */
export interface WireRecord {
  /** The owner in wire form, one character per octet, as it is spelt. */
  owner: string
  type: number
  class: number
  ttl: number
  /** The offsets at which the record, and its data, begin, and the one behind it. */
  start: number
  data: number
  end: number
}

/** Reads a name that may be compressed (RFC 1035 §4.1.4) into wire form, and the offset behind it. @throws RangeError */
export function readName(message: Buffer, start: number): { wire: string; end: number } {
  const octets = Buffer.allocUnsafe(NAME_LENGTH)
  let length = 0
  let end: number | undefined
  let at = start
  for (let left = NAME_STEPS; left > 0; left--) {
    const size = message.readUInt8(at)
    if (size >= 0xc0) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
      continue
    }
    if (size > 63 || length + size + 1 > NAME_LENGTH) break
    // A loop, because calls of functions for labels of one octet take longer.
    for (let i = 0; i <= size; i++) octets[length++] = message[at + i] ?? 0
    if (size === 0) return { wire: octets.toString('latin1', 0, length), end: end ?? at + 1 }
    at += 1 + size
  }
  throw new RangeError('A name is too long, or its pointers are.')
}

/** Returns the offset behind a name, whose pointers are not followed. @throws RangeError */
function skipName(message: Buffer, start: number): number {
  for (let at = start; at < start + NAME_LENGTH;) {
    const size = message.readUInt8(at)
    if (size === 0) return at + 1
    if (size >= 0xc0) return at + 2
    if (size > 63) break
    at += 1 + size
  }
  throw new RangeError('A name is too long.')
}

/** Returns the offset behind the record that begins at an offset. @throws RangeError if the message ends within it */
export function skipRecord(message: Buffer, start: number): number {
  const fields = skipName(message, start)
  const end = fields + 10 + message.readUInt16BE(fields + 8)
  if (end > message.length) throw new RangeError('The message ends within a record.')
  return end
}

/** Returns the type of the record that begins at an offset. @throws RangeError */
export function typeAt(message: Buffer, start: number): number {
  return message.readUInt16BE(skipName(message, start))
}

/** Reads the record that begins at an offset, but for its data. @throws RangeError */
export function readRecord(message: Buffer, start: number): WireRecord {
  const end = skipRecord(message, start)
  const { wire, end: fields } = readName(message, start)
  const [type, kind] = [message.readUInt16BE(fields), message.readUInt16BE(fields + 2)]
  return { owner: wire, type, class: kind, ttl: message.readUInt32BE(fields + 4), start, data: fields + 10, end }
}

/** Reads the records of a section. @throws RangeError */
export function* readSection(message: Buffer, start: number, count: number): Generator<WireRecord, number> {
  let at = start
  for (let left = count; left > 0; left--) {
    const record = readRecord(message, at)
    yield record
    at = record.end
  }
  return at
}

/** Where the parts of a message are. */
export interface Layout {
  opcode: number
  /** The numbers of entries in its four sections, and the offsets at which they begin. */
  counts: [number, number, number, number]
  sections: [number, number, number, number]
  /** The offset of its last record; undefined if the last section is empty. */
  last: number | undefined
}

/** Finds the parts of a whole message, without reading records. @throws RangeError also if something is left behind it */
export function layoutOf(message: Buffer): Layout {
  const counts = [4, 6, 8, 10].map((at) => message.readUInt16BE(at)) as Layout['counts']
  const sections: number[] = []
  let at = HEADER
  let last: number | undefined
  for (const [section, count] of counts.entries()) {
    sections.push(at)
    for (let left = count; left > 0; left--) {
      last = at
      at = section === 0 ? skipName(message, at) + 4 : skipRecord(message, at)
    }
  }
  if (at !== message.length) throw new RangeError('The message is longer than its sections, or ends within a question.')
  return {
    opcode: (message.readUInt16BE(2) & OPCODE) >> 11,
    counts,
    sections: sections as Layout['sections'],
    last: counts[3] === 0 ? undefined : last,
  }
}

/** The types whose names in data may be compressed, and so are read (RFC 3597 §4). */
const COMPRESSED = new Set(['NS', 'CNAME', 'PTR', 'MX', 'RP', 'AFSDB', 'SRV', 'NAPTR', 'KX', 'DNAME'])

/**
 * Returns the data of a record of a supported type, without compression. It need not be valid otherwise.
 * @throws RangeError, Unreadable if the data has not the fields of the type
 */
export function readData(message: Buffer, { data, end }: WireRecord, type: string, { fields }: RecordType): string {
  let wire = ''
  let at = data
  for (const field of fields) {
    let octets: string
    if (field.isName && COMPRESSED.has(type)) {
      const name = readName(message, at)
      octets = name.wire
      at = name.end
    } else {
      const rest = message.toString('latin1', at, end)
      octets = field.isName ? takeName(rest) : (field.take?.(rest) ?? rest)
      at += octets.length
    }
    wire += octets
  }
  if (at !== end) throw new RangeError('The data is longer or shorter than the record.')
  return wire
}

/** Returns the octets of a header. @param counts of the four sections */
export function encodeHeader(id: number, flags: number, counts: Layout['counts']): string {
  return [id, flags, ...counts].map((value) => encodeUint(value, 2)).join('')
}

/** Returns the octets of a question. @param name in wire form */
export function encodeQuestion(name: string, type: number): string {
  return name + encodeUint(type, 2) + encodeUint(CLASSES.IN, 2)
}

/** Returns the octets of a record. @param owner in wire form */
export function encodeRecord(
  owner: string,
  { type, class: kind = CLASSES.IN, ttl }: { type: number; class?: number; ttl: number },
  data: string,
): string {
  const fields = encodeUint(type, 2) + encodeUint(kind, 2) + encodeUint(ttl, 4)
  return `${owner}${fields}${encodeUint(data.length, 2)}${data}`
}

/** Returns the wire form of a name without escapes, with or without final dot; the root is `.`. */
export function wireOf(name: string): string {
  const labels = name.split('.').filter((label) => label !== '')
  return labels.map((label) => String.fromCharCode(label.length) + label).join('') + ROOT
}
