import { randomInt } from 'node:crypto'
import { ROOT } from '../../dns/names.ts'
import {
  AA, CD, encodeHeader, encodeQuestion, encodeRecord, HEADER, OPCODE, QR, RCODE, RCODES, RD, TC, wireOf,
} from '../../dns/wire/messages.ts' // prettier-ignore
import { readSection, type ReplyRecord, TYPES } from './records.ts'

export type { ReplyRecord } from './records.ts'

/** The flags of NOTIFY (RFC 1996 §3.3), with AA (§3.7). */
const NOTIFY = (4 << 11) | AA

/** The largest answer over UDP, in octets (RFC 6891 §6.2.5): more is fragmented on the way, and gets lost. */
export const UDP_PAYLOAD = 1232

/** Every question says that we can take an answer of this size: an OPT record (RFC 6891 §6.1.2). */
const EDNS = encodeRecord(ROOT, { type: 41, class: UDP_PAYLOAD, ttl: 0 }, '')

/** The most records that an answer may have. Those with 13 nameservers, their addresses and signatures have some 60. */
const RECORDS_MAX = 200

/** A question to a nameserver, or to a resolver if it is recursive; or a NOTIFY, which is answered, too. */
export interface Question {
  /** Without final dot; the root is `.`. */
  name: string
  type: keyof typeof TYPES
  recursive?: boolean
  /** True if a resolver shall answer only what it has validated, if it validates. */
  validated?: boolean
  notify?: boolean
}

/** An answer, with its records of types that can be asked for. */
export interface Reply {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED` … */
  rcode: string
  isAuthoritative: boolean
  isTruncated: boolean
  answers: ReplyRecord[]
  authorities: ReplyRecord[]
  additionals: ReplyRecord[]
}

/** Returns a message that asks this question. */
export function questionMessage(id: number, question: Question): Buffer {
  const { name, type, notify = false } = question
  const header = encodeHeader(id, flagsOf(question), [1, 0, 0, notify ? 0 : 1])
  return Buffer.from(header + encodeQuestion(wireOf(name), TYPES[type]) + (notify ? '' : EDNS), 'latin1')
}

function flagsOf({ recursive = false, validated = false, notify = false }: Question): number {
  if (notify) return NOTIFY
  if (!recursive) return 0
  return validated ? RD : RD | CD
}

/** Returns a NOTIFY for a zone: a name without final dot. */
export function notifyMessage(zone: string): Buffer {
  return questionMessage(randomInt(65_536), { name: zone, type: 'SOA', notify: true })
}

/**
 * Reads a message; undefined unless it answers the question that was sent, and can be read. Reading takes little time,
 * whatever the message contains.
 */
export function readReply(octets: Buffer, sent: Buffer): Reply | undefined {
  // The question's name is not compressed, and only the root label that ends it is zero; type and class follow.
  const end = sent.indexOf(0, HEADER) + 5
  if (!isAnswer(octets, sent, end)) return undefined
  const countAt = (at: number) => octets.readUInt16BE(at)
  const [answered, authoritative, additional] = [countAt(6), countAt(8), countAt(10)]
  if (answered + authoritative + additional > RECORDS_MAX) return undefined
  const flags = octets.readUInt16BE(2)
  try {
    const answers = readSection(octets, end, answered)
    const authorities = readSection(octets, answers.end, authoritative)
    const additionals = readSection(octets, authorities.end, additional)
    return {
      rcode: RCODES[flags & RCODE] ?? `RCODE_${flags & RCODE}`,
      isAuthoritative: (flags & AA) !== 0,
      isTruncated: (flags & TC) !== 0,
      answers: answers.records,
      authorities: authorities.records,
      additionals: additionals.records,
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Reports whether a message has the id, the opcode and the question, which ends there, of one that was sent. */
function isAnswer(octets: Buffer, sent: Buffer, end: number): boolean {
  if (octets.length < end || octets.readUInt16BE(0) !== sent.readUInt16BE(0)) return false
  if ((octets.readUInt16BE(2) & (QR | OPCODE)) !== (QR | (sent.readUInt16BE(2) & OPCODE))) return false
  const nameOf = (message: Buffer) => message.toString('latin1', HEADER, end - 4).toLowerCase()
  const hasSameType = octets.subarray(end - 4, end).equals(sent.subarray(end - 4, end))
  return octets.readUInt16BE(4) === 1 && hasSameType && nameOf(octets) === nameOf(sent)
}
