import packet, { type Answer, type DecodedPacket, type RecordType } from 'dns-packet'
import { randomInt } from 'node:crypto'

/** The flags of NOTIFY (RFC 1996 §3.3), with AA (§3.7). */
const NOTIFY = (4 << 11) | packet.AUTHORITATIVE_ANSWER

/** The flags of a question to a resolver: it does not validate the answer, because a broken parent is shown, too. */
const RECURSIVE = packet.RECURSION_DESIRED | packet.CHECKING_DISABLED

/** A type as dns-packet names it, which does not know DSYNC (RFC 9859 §2). */
const DSYNC = 'UNKNOWN_66'

/** The largest answer over UDP, in octets (RFC 6891 §6.2.5): more is fragmented on the way, and gets lost. */
const UDP_PAYLOAD = 1232

/** Every question says that we can take an answer of this size. */
const EDNS: packet.OptAnswer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: UDP_PAYLOAD,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
}

/** A question to a nameserver, or to a resolver if it is recursive; or a NOTIFY, which is answered, too. */
export interface Question {
  /** Without final dot; the root is `.`. */
  name: string
  type: 'SOA' | 'NS' | 'DS' | 'A' | 'AAAA' | 'CDS' | 'DSYNC'
  recursive?: boolean
  notify?: boolean
}

/** A record of an answer. Names are in lower case, without final dot. */
export interface ReplyRecord {
  name: string
  type: string
  ttl: number
  /** The content of NS, DS, A, AAAA or DSYNC (with the number of its type); the serial of a SOA; of others empty. */
  content: string
}

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
  return packet.encode({
    type: 'query',
    id,
    flags: flagsOf(question),
    questions: [{ name, type: wireType(type) }],
    additionals: notify ? [] : [EDNS],
  })
}

function flagsOf({ type, recursive = false, notify = false }: Question): number {
  if (notify) return NOTIFY
  if (!recursive) return 0
  // Messages go where a DSYNC says, so it must be valid (RFC 9859 §4.1).
  return type === 'DSYNC' ? packet.RECURSION_DESIRED : RECURSIVE
}

function wireType(type: Question['type']): RecordType {
  return (type === 'DSYNC' ? DSYNC : type) as RecordType
}

/** Returns a NOTIFY for a zone: a name without final dot. */
export function notifyMessage(zone: string): Buffer {
  return questionMessage(randomInt(65_536), { name: zone, type: 'SOA', notify: true })
}

/** Reads a message; undefined unless it answers this question, under this id. */
export function readReply(octets: Buffer, id: number, { name, type }: Question): Reply | undefined {
  const message = decoded(octets)
  const [asked, ...others] = message?.questions ?? []
  const isOurs =
    asked !== undefined && others.length === 0 && asked.type === wireType(type) && plain(asked.name) === plain(name)
  if (message?.type !== 'response' || message.id !== id || !isOurs) return undefined
  return {
    rcode: (message as { rcode?: string }).rcode ?? 'an error',
    isAuthoritative: message.flag_aa,
    isTruncated: message.flag_tc,
    answers: records(message.answers),
    authorities: records(message.authorities),
    additionals: records(message.additionals),
  }
}

/** Returns the id of a message. */
export function idOf(octets: Buffer): number | undefined {
  return octets.length < 2 ? undefined : octets.readUInt16BE(0)
}

function decoded(octets: Buffer): DecodedPacket | undefined {
  try {
    return packet.decode(octets)
  } catch {
    return undefined
  }
}

function records(answers: Answer[] = []): ReplyRecord[] {
  return answers
    .filter(({ type }) => type !== 'OPT')
    .map((answer) => {
      const ttl = 'ttl' in answer ? (answer.ttl ?? 0) : 0
      const type = (answer.type as string) === DSYNC ? 'DSYNC' : answer.type
      return { name: plain(answer.name), type, ttl, content: contentOf(answer) }
    })
}

function contentOf(answer: Answer): string {
  if ((answer.type as string) === DSYNC) return dsyncContent((answer as unknown as { data: Buffer }).data)
  switch (answer.type) {
    case 'NS':
      return plain(answer.data)
    case 'A':
    case 'AAAA':
      return answer.data
    case 'SOA':
      return String(answer.data.serial ?? 0)
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = answer.data
      return [keyTag, algorithm, digestType, digest.toString('hex')].join(' ')
    }
    default:
      return ''
  }
}

/** Returns the content of a DSYNC record, such as `59 1 5300 cds.example`: type, scheme, port and target; empty: invalid. */
function dsyncContent(data: Buffer): string {
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
