import { nameOf, parseName } from '../dns/names.ts'
import { encodeUint, utf8 } from '../dns/octets.ts'
import { parseRdata } from '../dns/rdata.ts'
import { numberOf } from '../dns/registry.ts'
import { AA, encodeHeader, encodeQuestion, encodeRecord, HEADER, OPCODE, QR, type Rcode, RCODES, RD, skipRecord, TC, wireOf } from '../dns/wire/messages.ts' // prettier-ignore
import type { Access } from '../service/actor.ts'
import type { Domain } from '../service/domains/domains.ts'
import { exportIn } from '../service/domains/zonefiles.ts'
import { soaOf } from '../service/doors/zone-views.ts'
import { suspension } from '../service/names/suspended.ts'
import type { RRsetKey, RRsetState } from '../service/rrsets/rrsets.ts'
import * as rrsets from '../service/rrsets/rrsets.ts'
import type { System } from '../system.ts'

/** The octets of the records in a message of a transfer, but for those of one that is longer. */
const TRANSFER_SIZE = 32_768

/** The octets of the text of an error, so that answers by UDP have room for it. */
const TEXT_SIZE = 250

/** Why something was not done. */
export interface Outcome {
  rcode: Rcode
  /** For people; undefined: it was done. */
  text?: string
}

/** The question, or zone, of a message. */
export interface Question {
  /** In wire form. */
  name: string
  type: number
  class: number
}

/** The contents of an answer. */
export interface Contents extends Outcome {
  question?: Question | undefined
  answers?: string[]
  authorities?: string[]
  /** Whether the request has an OPT record, so that the answer has one, with the text. */
  hasOptions?: boolean
}

/** Returns an answer, without a signature, that has at most `largest` octets: what does not fit is left out. */
export function answerTo(request: Buffer, contents: Contents, largest: number): Buffer {
  const { rcode, text, question, answers = [], authorities = [], hasOptions = false } = contents
  const asked = request.readUInt16BE(2)
  const isAuthoritative = answers.length + authorities.length > 0
  const flags = QR | (asked & (OPCODE | RD)) | (isAuthoritative ? AA : 0) | RCODES.indexOf(rcode)
  const options = hasOptions ? [optionsWith(rcode, text)] : []
  const id = request.readUInt16BE(0)
  const body = [question ? encodeQuestion(question.name, question.type) : '', ...answers, ...authorities, ...options].join('') // prettier-ignore
  const header = encodeHeader(id, flags, [question ? 1 : 0, answers.length, authorities.length, options.length])
  if (HEADER + body.length <= largest) return Buffer.from(header + body, 'latin1')
  const cut = answerTo(request, { rcode, question }, Infinity)
  cut.writeUInt16BE(cut.readUInt16BE(2) | TC, 2)
  return cut
}

/** Returns an OPT record (RFC 6891 §6.1.2), with an extended error (RFC 8914 §2). */
function optionsWith(rcode: Rcode, text: string | undefined): string {
  const code = rcode === 'NOTAUTH' ? 20 : rcode === 'REFUSED' ? 18 : 0
  const error = text === undefined ? '' : encodeUint(code, 2) + utf8(text).slice(0, TEXT_SIZE)
  const option = error === '' ? '' : encodeUint(15, 2) + encodeUint(error.length, 2) + error
  return encodeRecord('\0', { type: 41, class: 1232, ttl: 0 }, option)
}

/** Returns the SOA record that is served now. @throws Conflict if the domain is suspended */
function soaRecord(system: System, domain: Domain, version = domain.version): string {
  if (domain.suspended !== null) throw suspension(domain.name)
  const { ttl, records } = soaOf(system, domain, version)
  const [primary, contact, ...numbers] = records[0]!.split(' ') as [string, string, ...string[]]
  const data = parseName(primary) + parseName(contact) + numbers.map((each) => encodeUint(Number(each), 4)).join('')
  return encodeRecord(wireOf(domain.name), { type: 6, ttl }, data)
}

/**
 * Returns the answer to a question for an RRset, with what the API shows: that RRset, or the CNAME at its name; NS below the
 * apex as authority; without either, the SOA as authority.
 * @throws Denied if the service generates RRsets of this type itself; Conflict if the domain is suspended
 */
export async function contentsOf(access: Access, { subname, type }: RRsetKey): Promise<Contents> {
  const { system, domain } = access
  const soa = [soaRecord(system, domain)]
  if (type === 'SOA') return { rcode: 'NOERROR', ...(subname === '' ? { answers: soa } : { authorities: soa }) }
  rrsets.refuseAutomatic(type)
  const { rows } = await rrsets.list(access, { subname })
  const found = rows.find((each) => each.type === type) ?? rows.find((each) => each.type === 'CNAME')
  if (found === undefined) return { rcode: 'NOERROR', authorities: soa }
  const records = recordsOf(domain, found)
  const isReferral = found.type === 'NS' && subname !== ''
  return { rcode: 'NOERROR', ...(isReferral ? { authorities: records } : { answers: records }) }
}

/**
 * Returns the records of a domain in pieces for the messages of a transfer (RFC 5936 §2.2): those that the API shows.
 * @param breakOff as of `exportIn`
 * @throws Conflict if the domain is suspended; Busy
 */
export async function* transferOf(access: Access, breakOff: () => void): AsyncGenerator<string[]> {
  const { system, domain } = access
  let soa = ''
  const form = {
    head: (version: number) => (soa = soaRecord(system, domain, version)),
    rrset: (rrset: RRsetState) => recordsOf(domain, rrset).join(''),
    tail: '',
  }
  for await (const text of exportIn(access, form, breakOff)) yield* pieces(Buffer.from(text, 'latin1'))
  yield [soa]
}

function recordsOf(domain: Domain, { subname, type, ttl, records }: RRsetState): string[] {
  const owner = wireOf(nameOf(domain, subname))
  return records.map((text) => encodeRecord(owner, { type: numberOf(type), ttl }, parseRdata(type, text).wire))
}

function* pieces(octets: Buffer): Generator<string[]> {
  let records: string[] = []
  let begin = 0
  for (let at = 0; at < octets.length;) {
    const end = skipRecord(octets, at)
    if (end - begin > TRANSFER_SIZE && records.length > 0) {
      yield records
      records = []
      begin = at
    }
    records.push(octets.toString('latin1', at, end))
    at = end
  }
  if (records.length > 0) yield records
}
