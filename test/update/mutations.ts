import { parseRdata } from '../../src/dns/rdata.ts'
import { numberOf } from '../../src/dns/registry.ts'
import { CLASSES, HEADER, OPCODE, QR } from '../../src/dns/wire/messages.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import { type Entry, type Key, messageOf, signedWith, UPDATE_FLAGS } from '../support/clients/dns-update.ts'
import type { Random } from '../support/random.ts'

// Messages that were valid before a few of their octets were changed.

/** Records of every type, as [type, text]. */
const RECORDS = [...EXAMPLES].flatMap(([type, { accepted }]) =>
  accepted.map((example): [string, string] => [type, typeof example === 'string' ? example : example[1]]),
)

/** Octets that mean something: ends, pointers, lengths of labels, and types and classes of this protocol. */
const OCTETS = [0, 1, 5, 6, 12, 41, 63, 64, 127, 128, 191, 192, 250, 252, 254, 255]

const LABELS = ['', 'www', 'a.b', '*', '_x._tcp', 'x'.repeat(63)]

/** A message in which each part is valid, as far as it can be alone. */
function template(random: Random, domain: string): Buffer {
  const name = () => [random.of(LABELS), domain].filter((label) => label !== '').join('.')
  const entry = (isPrerequisite: boolean): Entry => {
    const [mnemonic, text] = random.of(RECORDS)
    const [type, kind] = [numberOf(mnemonic), random.of([CLASSES.IN, CLASSES.IN, CLASSES.NONE, CLASSES.ANY])]
    if (kind === CLASSES.ANY || (isPrerequisite && kind === CLASSES.NONE))
      return { name: name(), type: random.of([type, CLASSES.ANY]), class: kind }
    const ttl = isPrerequisite || kind === CLASSES.NONE ? 0 : 3600
    return { name: name(), type, class: kind, ttl, data: Buffer.from(parseRdata(mnemonic, text).wire, 'latin1') }
  }
  const some = (count: number, isPrerequisite: boolean) => Array.from({ length: count }, () => entry(isPrerequisite))
  if (random.below(2_000) === 0) return large(random, domain)
  if (random.below(10) === 0) return messageOf({ flags: 0, question: { name: domain, type: 6 } })
  const additional = random.below(2) === 0 ? [{ name: '', type: 41, class: 1232 }] : []
  return messageOf({
    question: { name: domain, type: 6 },
    sections: [some(random.below(2), true), some(random.below(4), false), additional],
  })
}

/** A message of nearly 64 KiB, whose names are long and compressed, so that each costs as much as it can. */
function large(random: Random, domain: string): Buffer {
  const name = `${'x.'.repeat(100)}${domain}`
  const first = messageOf({ question: { name: domain, type: 6 }, sections: [[], [{ name, type: 1, class: 255 }], []] })
  const start = HEADER + domain.length + 2 + 4
  const data = random.of([Buffer.alloc(0), Buffer.from([192, 0, 2, 1])])
  const fixed = Buffer.from([0xc0, start, 0, 1, 0, random.of([1, 254, 255]), 0, 0, 0, 0, 0, data.length])
  const record = Buffer.concat([fixed, data])
  const count = random.of([50, 2_000, 4_000])
  const message = Buffer.concat([first, ...Array.from({ length: count }, () => record)])
  // Addresses that differ, for contents that do.
  if (data.length > 0) for (let i = 0; i < count; i++) message.writeUInt16BE(i, message.length - i * record.length - 2)
  const section = random.of([8, 10])
  message.writeUInt16BE(message.readUInt16BE(section) + count, section)
  return message
}

/** Changes a few octets, but not the id. */
function spoilt(random: Random, message: Buffer): Buffer {
  let octets = [...message]
  for (let left = random.below(5); left > 0; left--) {
    const at = 2 + random.below(octets.length - 2)
    const kind = random.below(9)
    if (kind <= 1) octets[at]! ^= 1 << random.below(8)
    else if (kind <= 3) octets[at] = random.of(OCTETS)
    else if (kind === 4) octets.splice(at, 2, 0xc0 + random.below(2), random.below(256))
    else if (kind === 5) octets.splice(at, 0, ...octets.slice(at, at + random.below(40)))
    else if (kind === 6) octets.splice(at, random.below(4))
    else if (kind === 7) octets[4 + random.below(8)] = random.of([0, 0, 1, 2, 255])
    else if (random.below(4) === 0) octets = octets.slice(0, Math.max(at, 3))
  }
  return Buffer.from(octets)
}

const folded = (message: Buffer) => message.toString('latin1').toLowerCase()

/** A message to send, and whether its signature may be valid. */
export interface Mutated {
  message: Buffer
  isSigned: boolean
}

/** A message about a domain: not signed, or signed before or after it was changed. */
export function mutated(random: Random, domain: string, id: number, key: Key): Mutated {
  const message = template(random, domain)
  message.writeUInt16BE(id, 0)
  const kind = random.below(10)
  if (kind < 4) return { message: spoilt(random, message), isSigned: false }
  if (kind < 7) {
    const { message: signed } = signedWith(key, message)
    const changed = spoilt(random, signed)
    // The names of a signature may be in any case.
    return { message: changed, isSigned: folded(changed) === folded(signed) }
  }
  const changed = spoilt(random, message)
  if (changed.length < HEADER || changed.readUInt16BE(10) === 0xffff) return { message: changed, isSigned: false }
  return { message: signedWith(key, changed).message, isSigned: true }
}

/** Whether a message is answered at all (contract §21.3). */
export function isAnswered(message: Buffer): boolean {
  return message.length >= HEADER && (message.readUInt16BE(2) & QR) === 0
}

/** The codes that a message may get for its form alone; undefined: its form allows more than one. */
export function codeForForm(message: Buffer): string | undefined {
  const sections = walk(message)
  if (sections === undefined) return 'FORMERR'
  const opcode = (message.readUInt16BE(2) & OPCODE) >> 11
  if (opcode !== 0 && opcode !== UPDATE_FLAGS >> 11) return 'NOTIMP'
  return message.readUInt16BE(4) === 1 ? undefined : 'FORMERR'
}

/** Walks through all that the header promises; undefined unless the message has just that. */
function walk(message: Buffer): true | undefined {
  let at = HEADER
  for (const section of [4, 6, 8, 10]) {
    for (let left = message.readUInt16BE(section); left > 0; left--) {
      const start = at
      for (;;) {
        const size = message[at]
        if (size === undefined || (size > 63 && size < 192) || at - start >= 255) return undefined
        at += size >= 192 ? 2 : 1 + size
        if (size === 0 || size >= 192) break
      }
      if (section === 4) at += 4
      else if (at + 10 > message.length) return undefined
      else at += 10 + message.readUInt16BE(at + 8)
      if (at > message.length) return undefined
    }
  }
  return at === message.length ? true : undefined
}
