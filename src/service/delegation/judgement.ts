import { absolute, lowerCase, parseName } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import { APEX_NS_TTL, DELEGATION_DS_TTL } from '../../limits.ts'
import type { ParentAnswer } from '../../nameserver/parents/parents.ts'
import type { Key } from '../domains/keys.ts'
import { isDigestOf } from '../secrets/delegation-digests.ts'
import { algorithmOf } from '../secrets/signing-keys.ts'
import { agreed, type DelegatedServer, type Observation } from './observation.ts'

/** The states of a delegation, and their meanings (contract §15.9). */
export const STATES = {
  unknown: 'not checked yet, or the parent zone cannot be asked',
  'not-delegated': 'the parent zone has no NS records of the domain',
  elsewhere: 'it is delegated to other nameservers only',
  partial: 'it is delegated to our nameservers and to others',
  insecure: 'it is delegated to us, without DS records',
  secure: 'a DS record matches a key that signs, and all others match a key',
  stale: 'a DS record matches a key that signs, and others match none',
  mismatch:
    'there are DS records, and none matches a key that signs: validating resolvers reject the domain, or, if they know no algorithm or digest type of the records, take it for unsigned',
  propagating: 'the servers of the parent zone disagree',
} as const

export type DelegationState = keyof typeof STATES

/** The domain as it should be delegated. Names are without final dot. */
export interface Delegatee {
  name: string
  /** The names of our nameservers. */
  nameServers: string[]
  keys: Key[]
}

/** A domain, and where its owner changes NS and DS. */
interface Place extends Delegatee {
  /** `at your registrar`, or in which zone. */
  where: string
}

export interface Verdict {
  state: DelegationState
  /** Sentences for the owner, with what to do. */
  problems: string[]
}

/** The digest type SHA-1 (RFC 8624 §3.3). */
const SHA1 = '1'

/**
 * The algorithms and digest types that some validating resolver knows (RFC 8624 §§3.1, 3.3). If it knows those of no DS
 * record, it takes the domain for unsigned (RFC 4035 §5.2).
 */
const KNOWN_ALGORITHMS = new Set(['5', '7', '8', '10', '13', '14', '15', '16'])
const KNOWN_DIGESTS = new Set(['1', '2', '4'])

const REGISTRAR = 'at your registrar'

/** Judges the delegation of a domain. */
export function judge(observation: Observation, domain: Delegatee): Verdict {
  const { parent, servers } = observation
  if (parent === null) {
    return {
      state: 'unknown',
      problems: ['The resolvers of this service do not tell which zone delegates the domain.'],
    }
  }
  const silent = servers.filter(({ problem }) => problem !== null)
  const failures = silent.map((server) => failureOf(parent, server))
  if (silent.length === servers.length) {
    const none = `The resolvers tell no server of the parent zone ${parent} that this machine can reach.`
    return { state: 'unknown', problems: servers.length === 0 ? [none] : failures }
  }
  const delegation = agreed(servers)
  if (delegation === undefined) {
    const wait = `The servers of the parent zone ${parent} disagree. After a change this ends by itself, so check again later.`
    return { state: 'propagating', problems: [wait, ...failures] }
  }
  const { isParentBogus = false, isParentOurs = false } = observation
  const where = isParentOurs ? `in the zone ${parent}, which this service has, too` : REGISTRAR
  const { state, problems: own } = judgeDelegation(parent, delegation, { ...domain, where })
  const problems = isParentBogus
    ? [
        `The signatures of the parent zone ${parent} are broken: validating resolvers reject it, and all domains below it. Only its operator can mend that. Tell them.`,
        ...own.filter((text) => text !== unsigned({ ...domain, where })),
      ]
    : own
  const warnings = [...observation.nameservers.flatMap(nameserverProblems), ...omissions(delegation.ns, observation)]
  return { state, problems: [...problems, ...warnings, ...failures] }
}

/** Says why a server of the parent zone counts for nothing. */
export function failureOf(parent: string, { name, address, problem }: ParentAnswer): string {
  return `The server ${name}${address === '' ? '' : ` (${address})`} of the parent zone ${parent} ${problem}.`
}

/** Judges the delegation on which all servers of the parent zone agree. */
function judgeDelegation(parent: string, { ns, ds }: { ns: string[]; ds: string[] }, domain: Place): Verdict {
  const { nameServers } = domain
  const list = nameServers.join(', ')
  if (ns.length === 0) {
    const todo =
      domain.where === REGISTRAR
        ? `The parent zone ${parent} does not delegate the domain: enter these nameservers ${domain.where}: ${list}.`
        : `The parent zone ${parent}, which this service has, too, does not delegate the domain, and validating resolvers reject it. Add these record sets to ${parent}: ${recordSets(parent, domain)}.`
    return { state: 'not-delegated', problems: [todo] }
  }
  const records = ds.map((content) => classify(content, domain))
  const signed = records.some(({ signs }) => signs)
  const broken = ds.length > 0 && !signed
  if (!ns.some((host) => nameServers.includes(host))) {
    const change = `Replace the nameservers ${ns.join(', ')} ${domain.where} by ${list}.`
    const before = `Before that, remove the DS records ${quoted(ds)} ${domain.where}, and wait for a day: they belong to other keys, and the domain would fail.`
    return { state: 'elsewhere', problems: broken ? [before, change] : [change] }
  }
  const missing = nameServers.filter((host) => !ns.includes(host))
  const problems = [
    ...missing.map((host) => `Add the nameserver ${host} ${domain.where}.`),
    ...(broken
      ? [
          ds.some(isSupported)
            ? `Add the DS record ${quoted(dsOf(domain))} ${domain.where}: until then, validating resolvers reject the domain.`
            : `Add the DS record ${quoted(dsOf(domain))} ${domain.where}: until then, the domain is not protected by DNSSEC, because resolvers know no algorithm or digest type of the DS records that are there.`,
        ]
      : []),
    ...records.flatMap((record) => dsProblems(record, ds, domain)),
    ...digestProblems(ds, domain),
  ]
  if (broken) return { state: 'mismatch', problems }
  const others = ns.filter((host) => !nameServers.includes(host))
  if (others.length > 0) {
    const note = `The nameservers ${others.join(', ')} are not ours: remove them ${domain.where}, unless they serve the same zone.`
    return { state: 'partial', problems: [note, ...problems, ...(ds.length === 0 ? [unsigned(domain)] : [])] }
  }
  if (ds.length === 0) return { state: 'insecure', problems: [...problems, unsigned(domain)] }
  return { state: records.every(({ known, usable }) => known && usable) ? 'secure' : 'stale', problems }
}

/** Returns the record sets that delegate the domain, as lines of the zone file of a parent zone of ours. */
function recordSets(parent: string, domain: Delegatee): string {
  const label = domain.name.slice(0, -parent.length - 1)
  return [
    ...domain.nameServers.map((host) => `"${label} ${APEX_NS_TTL} NS ${host}."`),
    ...dsOf(domain).map((content) => `"${label} ${DELEGATION_DS_TTL} DS ${content}"`),
  ].join(', ')
}

/** Reports whether some resolver knows the algorithm and the digest type of a DS record. */
function isSupported(content: string): boolean {
  const [, algorithm = '', digest = ''] = content.split(' ')
  return KNOWN_ALGORITHMS.has(algorithm) && KNOWN_DIGESTS.has(digest)
}

/** A DS record of the parent zone. */
interface DsRecord {
  content: string
  /** True if it is one of a key that signs, or of any key. */
  signs: boolean
  known: boolean
  /** True if a key of its algorithm signs. */
  usable: boolean
}

/** The keys that sign are ours; the others are those of other signers, which the user has added. */
function classify(content: string, { name, keys }: Delegatee): DsRecord {
  const owner = lowerCase(parseName(absolute(name)))
  const own = keys.filter(({ dnskey }) => isDigestOf(content, owner, parseRdata('DNSKEY', dnskey).wire))
  const [, algorithm] = content.split(' ')
  return {
    content,
    signs: own.some(({ managed }) => managed),
    known: own.length > 0,
    usable: keys.some(({ managed, dnskey }) => managed && algorithmOf(dnskey) === algorithm),
  }
}

/** @param all DS records of the parent zone */
function dsProblems({ content, known, usable }: DsRecord, all: string[], domain: Place): string[] {
  if (!known) {
    return [`Remove the DS record ${quoted([content])} ${domain.where}: the domain has no such key.`]
  }
  if (!usable) {
    return [
      `Remove the DS record ${quoted([content])} ${domain.where}: no key of its algorithm signs, so strict resolvers reject the domain.`,
    ]
  }
  if (content.split(' ')[2] !== SHA1) return []
  const better = dsOf(domain).filter((each) => !all.includes(each))
  const todo = better.length === 0 ? 'Remove' : `Add the DS record ${quoted(better)}, and then remove`
  return [`${todo} the DS record ${quoted([content])} ${domain.where}: resolvers stop trusting its digest, SHA-1.`]
}

/**
 * Some validators ignore all DS but those of the greatest digest type in the set, as RFC 4509 §3 says of SHA-256 and
 * SHA-1. They reject a signer that has none of these. Our keys sign together, each other key alone.
 */
function digestProblems(all: string[], { keys, where }: Place): string[] {
  const typeOf = (content: string) => Number(content.split(' ')[2])
  const greatest = Math.max(...all.map(typeOf))
  const ours = keys.flatMap(({ managed, ds }) => (managed ? ds : []))
  const others = keys.flatMap(({ managed, ds }) => (managed ? [] : [ds]))
  return [ours, ...others].flatMap((ds) => {
    const there = ds.filter((content) => all.includes(content))
    const missing = ds.filter((content) => typeOf(content) === greatest)
    if (there.length === 0 || missing.length === 0 || there.some((content) => typeOf(content) === greatest)) return []
    return [
      `Add the DS record ${quoted(missing)} ${where}: another key has a DS record of the digest type ${greatest}, and some resolvers then ignore the other types.`,
    ]
  })
}

function unsigned(domain: Place): string {
  return `Add the DS record ${quoted(dsOf(domain))} ${domain.where}: until then, the domain is not protected by DNSSEC.`
}

/** Returns the contents of the DS records that the parent zone should have: those of our keys, with SHA-256. */
function dsOf({ keys }: Delegatee): string[] {
  return keys
    .filter(({ managed }) => managed)
    .flatMap(({ ds }) => ds.filter((content) => content.split(' ')[2] === '2'))
}

/** Says which of the domain's nameservers were not asked. */
function omissions(ns: string[], { nameservers }: Observation): string[] {
  const left = ns.filter((host) => !nameservers.some(({ name }) => name === host))
  if (left.length === 0) return []
  return [`The check did not ask these nameservers: ${left.join(', ')}. There are too many, or it took too long.`]
}

/** Warns of what will break. */
function nameserverProblems({ name, addresses, glue, problem }: DelegatedServer): string[] {
  const differs = addresses.length > 0 && glue.some((address) => !addresses.includes(address))
  return [
    ...(problem === null ? [] : [`The nameserver ${name} does not serve the domain: ${problem}.`]),
    ...(differs
      ? [
          `The parent zone has the addresses ${glue.join(', ')} for ${name}, which has ${addresses.join(', ')}: its owner must correct them at their registrar.`,
        ]
      : []),
  ]
}

function quoted(contents: string[]): string {
  return contents.map((content) => `"${content}"`).join(', ')
}
