import type { Reply, ReplyRecord } from '../wire/messages.ts'

/** The records of one type, and the addresses of a name, that are kept, and their characters: strangers choose both. */
const RECORDS_MAX = 32
export const GLUE_MAX = 8
const CONTENT_LENGTH = 253

/** The delegation of a domain, as a server of its parent zone has it. Names are without final dot. */
export interface Referral {
  /** The names of the domain's nameservers, sorted. */
  ns: string[]
  /** The contents of its DS records, sorted. */
  ds: string[]
  dsTtl: number | null
  /** The addresses of nameservers that the parent zone has, by name. */
  glue: Record<string, string[]>
  /** The reason why the server has not told the delegation; null: it has. */
  problem: string | null
}

/** Reads the answers of a server of the parent zone to the questions for NS and DS of a domain; undefined: none came. */
export function readReferral(name: string, parent: string, nsReply?: Reply, dsReply?: Reply): Referral {
  const of = (type: string, records: ReplyRecord[] = []) =>
    records.filter((record) => record.type === type && record.name === name)
  const isChild = isOfChild(nsReply, dsReply)
  const delegating = isChild ? [] : of('NS', [...(nsReply?.answers ?? []), ...(nsReply?.authorities ?? [])])
  const signing = of('DS', dsReply?.answers)
  const isTold = delegating.length > 0 || isChild || isWildcard(name, parent, nsReply)
  const problem =
    (isTold ? undefined : problemOf(parent, nsReply, false)) ?? problemOf(parent, dsReply, signing.length > 0)
  if (problem !== undefined) return refused(problem)
  const ns = contents(delegating)
  const glue = ns.map((host): [string, string[]] => [
    host,
    contents(
      nsReply!.additionals.filter((record) => record.name === host && /^A(AAA)?$/.test(record.type)),
      GLUE_MAX,
    ),
  ])
  return {
    ns,
    ds: contents(signing),
    dsTtl: signing[0]?.ttl ?? null,
    glue: Object.fromEntries(glue.filter(([, addresses]) => addresses.length > 0)),
    problem: null,
  }
}

/**
 * Reports whether a server has answered with NS of the domain itself, and the parent zone has none: it serves both, and
 * answers the question for DS from the parent zone, in which a delegated name exists.
 */
function isOfChild(nsReply?: Reply, dsReply?: Reply): boolean {
  return nsReply?.isAuthoritative === true && nsReply.rcode === 'NOERROR' && dsReply?.rcode === 'NXDOMAIN'
}

/**
 * Reports whether a referral is one of a wildcard. It delegates nothing: resolvers follow only NS of the name itself, or of a
 * name above it.
 */
function isWildcard(name: string, parent: string, reply?: Reply): boolean {
  return (reply?.authorities ?? []).some(({ type, name: owner }) => {
    return type === 'NS' && owner.startsWith('*.') && isWithin(owner.slice(2), parent) && name.endsWith(owner.slice(1))
  })
}

/** Returns the delegation that a server with this problem has told: nothing. */
export function refused(problem: string): Referral {
  return { ns: [], ds: [], dsTtl: null, glue: {}, problem }
}

/** Reports whether a name is in a zone, by the names alone. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '.' || name === zone || name.endsWith(`.${zone}`)
}

/** Returns the reason why an answer does not count. Without records, it must prove that the parent zone has none. */
function problemOf(parent: string, reply: Reply | undefined, hasRecords: boolean): string | undefined {
  if (reply === undefined) return 'does not answer'
  const { rcode, isAuthoritative, authorities } = reply
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return `answers ${rcode}`
  if (!isAuthoritative) return `is not authoritative for ${parent}`
  if (hasRecords) return undefined
  const soa = authorities.find(({ type }) => type === 'SOA')
  if (soa === undefined) return `answers without the SOA of ${parent}`
  return soa.name === parent ? undefined : `answers from the zone ${soa.name}`
}

function contents(records: ReplyRecord[], max = RECORDS_MAX): string[] {
  const texts = records.map(({ content }) => content).filter((text) => text.length <= CONTENT_LENGTH)
  return [...new Set(texts)].sort().slice(0, max)
}
