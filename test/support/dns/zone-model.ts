import { type Message, rrsetsOf, type ServedRRset, sorted, unsigned } from './wire.ts'

/** A nameserver's reply, without signatures and the contents of proofs. */
export interface Reply {
  rcode: string
  answers: ServedRRset[]
  /** The NS RRset of a referral. */
  referral: ServedRRset | undefined
  /** The types in the authority section. */
  authority: string[]
}

/** The model follows no longer chains of CNAMEs. */
const CHAIN = 8

/**
 * Predicts the replies for a zone by RFC 1034 §4.3.2, RFC 4592, RFC 4035 §3.1.3 and RFC 5155 §7.2, signed with NSEC or with
 * NSEC3 without opt-out. As simple as possible, because tests rely on it: names have no escapes, and the targets of DNAMEs
 * (RFC 6672) are not in the zone.
 */
export class ZoneModel {
  readonly #apex: string
  /** The type of the records that prove denials. */
  readonly proof: 'NSEC' | 'NSEC3'
  /** By absolute name, then type. */
  readonly #names = new Map<string, Map<string, ServedRRset>>()

  /** @param zone without final dot */
  constructor(zone: string, proof: 'NSEC' | 'NSEC3' = 'NSEC3') {
    this.#apex = `${zone}.`
    this.proof = proof
  }

  put(rrset: ServedRRset): void {
    const types = this.#names.get(rrset.name) ?? new Map<string, ServedRRset>()
    this.#names.set(rrset.name, types.set(rrset.type, rrset))
  }

  remove(name: string, type: string): void {
    const types = this.#names.get(name)
    types?.delete(type)
    if (types?.size === 0) this.#names.delete(name)
  }

  at(name: string): ServedRRset[] {
    return [...(this.#names.get(name)?.values() ?? [])]
  }

  get(name: string, type: string): ServedRRset | undefined {
    return this.#names.get(name)?.get(type)
  }

  all(): ServedRRset[] {
    return sorted([...this.#names.values()].flatMap((types) => [...types.values()]))
  }

  /** The delegation at or above a name. */
  cutAbove(name: string): string | undefined {
    return ancestors(name, this.#apex)
      .reverse()
      .find((ancestor) => this.#delegates(ancestor))
  }

  /** The DNAME above a name; the one at the name itself does not answer for it. */
  redirection(name: string): ServedRRset | undefined {
    const [, ...above] = ancestors(name, this.#apex)
    return above.map((ancestor) => this.get(ancestor, 'DNAME')).find((found) => found !== undefined)
  }

  /** Whether a name above this one has a DS and no delegation; BIND's validator then expects a delegation. */
  isBelowStrayDs(name: string): boolean {
    return ancestors(name, this.#apex)
      .slice(1)
      .some((ancestor) => this.#names.get(ancestor)?.has('DS') === true && !this.#delegates(ancestor))
  }

  reply(name: string, type: string, length = 0): Reply {
    const cut = this.cutAbove(name)
    if (cut !== undefined && !(cut === name && type === 'DS')) {
      const referral = this.get(cut, 'NS')!
      const proof = this.get(cut, 'DS') === undefined ? this.proof : 'DS'
      return { rcode: 'NOERROR', answers: [], referral, authority: ['NS', proof].sort() }
    }
    const redirection = this.redirection(name)
    if (redirection !== undefined) {
      const target = name.slice(0, -redirection.name.length) + redirection.records[0]!
      const alias = { name, type: 'CNAME', ttl: redirection.ttl, records: [target] }
      return { rcode: 'NOERROR', answers: [redirection, alias], referral: undefined, authority: [] }
    }
    const source = this.#source(name)
    if (source === undefined) return this.#denial('NXDOMAIN')
    // A record of this type proves that no name matches better than the wildcard.
    const expansion = source === name ? [] : [this.proof]
    const alias = type === 'CNAME' ? undefined : this.get(source, 'CNAME')
    const found = alias ?? this.get(source, type)
    if (found === undefined) return this.#denial('NOERROR')
    const answer = { ...found, name }
    const target = alias?.records[0]
    if (target === undefined || !this.#holds(target) || length === CHAIN) {
      return { rcode: 'NOERROR', answers: [answer], referral: undefined, authority: expansion }
    }
    const rest = this.reply(target, type, length + 1)
    return {
      ...rest,
      answers: sorted([answer, ...rest.answers]),
      authority: [...new Set([...expansion, ...rest.authority])].sort(),
    }
  }

  #denial(rcode: string): Reply {
    return { rcode, answers: [], referral: undefined, authority: [this.proof, 'SOA'] }
  }

  /** The name whose RRsets answer for this one: itself, or a wildcard; undefined if there is neither. */
  #source(name: string): string | undefined {
    if (this.#exists(name)) return name
    const encloser = ancestors(name, this.#apex).find((ancestor) => this.#exists(ancestor)) ?? this.#apex
    return this.#names.has(`*.${encloser}`) ? `*.${encloser}` : undefined
  }

  /** Whether a name has RRsets or is an empty non-terminal. */
  #exists(name: string): boolean {
    if (name === this.#apex || this.#names.has(name)) return true
    for (const other of this.#names.keys()) if (other.endsWith(`.${name}`)) return true
    return false
  }

  #delegates(name: string): boolean {
    return name !== this.#apex && this.#names.get(name)?.has('NS') === true
  }

  #holds(name: string): boolean {
    return name === this.#apex || name.endsWith(`.${this.#apex}`)
  }
}

/** A name and those above it, below the apex, the longest first. */
export function ancestors(name: string, apex: string): string[] {
  const names: string[] = []
  for (let rest = name; rest !== apex && rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) names.push(rest)
  return names
}

/** A message in the form of the model's replies. */
export function replyOf(message: Message): Reply {
  const authority = rrsetsOf(message.authorities)
  const types = [...new Set(authority.map(({ type }) => type))].sort()
  const referral = types.includes('SOA') ? undefined : authority.find(({ type }) => type === 'NS')
  return { rcode: message.rcode, answers: rrsetsOf(message.answers), referral, authority: types }
}

/**
 * RRsets without signature, and signatures of delegations and glue, which must have none (RFC 4035 §2.2). The CNAME that
 * a DNAME makes has none either (RFC 6672 §5.3.1).
 */
export function badlySigned(message: Message, model: ZoneModel): string[] {
  const { referral } = replyOf(message)
  const bare = referral === undefined ? [] : [`${referral.name} NS`]
  const made = message.answers.filter(({ name }) => model.redirection(name) !== undefined)
  bare.push(...made.map(({ name, type }) => `${name} ${type}`))
  const missing = unsigned([...message.answers, ...message.authorities]).filter((key) => !bare.includes(key))
  const signatures = [...message.authorities, ...message.additionals].filter(({ type }) => type === 'RRSIG')
  // At a delegation, DS and NSEC belong to the zone.
  const surplus = signatures.filter(
    ({ name, rdata }) => model.cutAbove(name) !== undefined && !/^\0[\x2b\x2f]/.test(rdata),
  )
  return [...missing, ...surplus.map(({ name }) => `${name} is signed`)]
}

/**
 * What `validate` must say of the reply to a question of this type; undefined if a validating resolver would have to
 * ask another server.
 */
export function verdictOf({ answers, referral, authority }: Reply, type: string): string | undefined {
  if (referral !== undefined) return undefined
  if (answers.length === 0) return 'negative response, fully validated'
  const leaves = answers.every((rrset) => rrset.type !== type && isAlias(rrset)) && !authority.includes('SOA')
  return leaves ? undefined : 'fully validated'
}

function isAlias({ type }: ServedRRset): boolean {
  return type === 'CNAME' || type === 'DNAME'
}
