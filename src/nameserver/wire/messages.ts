import packet, { type Answer, type DecodedPacket } from 'dns-packet'
import { randomInt } from 'node:crypto'

/** NOTIFY (RFC 1996 §3.3), with the flag AA (§3.7). */
const NOTIFY = (4 << 11) | packet.AUTHORITATIVE_ANSWER

/** The flags of a question to a resolver: it does not validate the answer, because a broken parent is shown, too. */
const RECURSIVE = packet.RECURSION_DESIRED | packet.CHECKING_DISABLED

/** The largest answer over UDP, in octets (RFC 6891 §6.2.5): more is fragmented on the way, and gets lost. */
const UDP_PAYLOAD = 1232

/** A question to a nameserver, or to a resolver if it is recursive. */
export interface Question {
  /** Without final dot; the root is `.`. */
  name: string
  type: 'SOA' | 'NS' | 'DS' | 'A' | 'AAAA'
  recursive?: boolean
}

/** A record of an answer. Names are in lower case, without final dot. */
export interface ReplyRecord {
  name: string
  type: string
  ttl: number
  /** The content of NS, DS, A or AAAA; the serial of a SOA; of other types empty. */
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
export function questionMessage(id: number, { name, type, recursive = false }: Question): Buffer {
  return packet.encode({
    type: 'query',
    id,
    flags: recursive ? RECURSIVE : 0,
    questions: [{ name, type }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
}

/** Returns a NOTIFY for a zone: a name without final dot. */
export function notifyMessage(zone: string): Buffer {
  return packet.encode({
    type: 'query',
    id: randomInt(65_536),
    flags: NOTIFY,
    questions: [{ name: zone, type: 'SOA' }],
  })
}

/** Reads a message; undefined unless it answers this question, under this id. */
export function readReply(octets: Buffer, id: number, { name, type }: Question): Reply | undefined {
  const message = decoded(octets)
  const [asked, ...others] = message?.questions ?? []
  const isOurs = asked !== undefined && others.length === 0 && asked.type === type && plain(asked.name) === plain(name)
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
      return { name: plain(answer.name), type: answer.type, ttl, content: contentOf(answer) }
    })
}

function contentOf(answer: Answer): string {
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

/** Returns a name in lower case. Strangers choose names, which reach terminals: only usual characters stay. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_.*-]/g, '?')
}
