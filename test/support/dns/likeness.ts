import { lowerCase } from '../../../src/dns/names.ts'
import { decodeRdata } from '../../../src/dns/rdata.ts'
import { TYPES } from '../../../src/dns/types.ts'
import type { Server } from './dns.ts'
import { query, type WireRecord } from './wire.ts'

/** An answer that is not like that of the primary. */
export interface Difference<Name> {
  server: Name
  question: string
  answer: string
  expected: string
}

/**
 * How secondaries answer otherwise than the primary does. Answers are alike if their codes, records and referrals are,
 * and the same records are signed; signatures, and upper and lower case in names, may differ.
 * @param questions absolute names, and types
 */
export async function differences<Name extends string>(
  primary: Server,
  secondaries: ReadonlyMap<Name, Server>,
  questions: readonly [name: string, type: string][],
): Promise<Difference<Name>[]> {
  const found: Difference<Name>[] = []
  for (const question of questions) {
    const expected = await answerOf(primary, ...question)
    for (const [server, secondary] of secondaries) {
      const answer = await answerOf(secondary, ...question)
      if (answer !== expected) found.push({ server, question: question.join(' '), answer, expected })
    }
  }
  return found
}

async function answerOf(server: Server, name: string, type: string): Promise<string> {
  const { rcode, answers, authorities } = await query(server, name, type)
  const isReferral = rcode === 'NOERROR' && answers.length === 0
  const referral = authorities.filter(({ type }) => isReferral && (type === 'NS' || type === 'DS'))
  return [[rcode], printed(answers), printed(referral)].map((part) => part.join(', ')).join('; ')
}

function printed(records: readonly WireRecord[]): string[] {
  return records
    .map(({ name, type, ttl, rdata }) => {
      if (type === 'RRSIG') return `${name} RRSIG of type ${hex(rdata.slice(0, 2))}`
      // PowerDNS transfers CDS and CDNSKEY with a TTL of its own.
      return `${name} ${['CDS', 'CDNSKEY'].includes(type) ? '' : ttl} ${type} ${hex(keyOf(type, rdata))}`
    })
    .sort()
}

/** What two records with equal data have in common. A CNAME made from a DNAME may have a target that users cannot write. */
function keyOf(type: string, rdata: string): string {
  return type === 'CNAME' || !TYPES.has(type) ? lowerCase(rdata) : decodeRdata(type, rdata).key
}

const hex = (octets: string) => Buffer.from(octets, 'latin1').toString('hex')
