// What caches may have at the same time. Each answer may be used for its TTL, and caches fetch at any moment. So a change
// is safe only if all combinations are valid that some cache can have, not only those that a resolver of the tests meets.

/** A key as DNSSEC names it: its algorithm and its key tag. */
export interface KeyName {
  algorithm: number
  tag: number
}

/** The DS set at the parent: the contents. */
export type DsSet = string[]

/** The DNSKEY set: the keys with the contents of their DS, and those that sign the set. */
export interface KeySet {
  keys: (KeyName & { ds: string[] })[]
  signers: KeyName[]
}

/** Something in the zone, by its signatures. */
export interface SignedData {
  what: string
  signers: KeyName[]
}

/** A state that a server has shown for a while, and the time in which a cache may have it. */
interface Stay<T> {
  text: string
  state: T
  from: number
  until: number
  /** How often it was seen. */
  looks: number
}

/** When a question was sent and answered, by performance.now(), and the TTL of the answer. */
interface Answered {
  sent: number
  received: number
  ttl: number
}

/** How often a state is seen at most that is between two requests to PowerDNS, on a busy machine. */
const PASSING = 20

/** The states that servers have shown, one after the other. */
class Shown<T> {
  readonly stays: Stay<T>[] = []
  readonly #last = new Map<string, Stay<T>>()

  /** @param server and what it was asked for */
  note(server: string, state: T, { sent, received, ttl }: Answered): void {
    const text = JSON.stringify(state)
    const until = sent + ttl * 1_000
    const last = this.#last.get(server)
    if (last?.text === text) {
      last.until = until
      last.looks++
    } else {
      const stay = { text, state, from: received, until, looks: 1 }
      this.stays.push(stay)
      this.#last.set(server, stay)
    }
  }
}

/** All that caches may have of a domain. */
export class Cached {
  readonly ds = new Shown<DsSet>()
  readonly keys = new Shown<KeySet>()
  readonly data = new Shown<SignedData>()

  /** Returns what validators would reject. */
  problems(): string[] {
    const found = new Set<string>()
    for (const ds of this.ds.stays) {
      for (const keys of this.keys.stays.filter((stay) => overlap(ds, stay))) {
        for (const data of this.data.stays.filter((stay) => overlap(ds, stay) && overlap(keys, stay))) {
          const problem = problemOf(ds.state, keys.state, data.state, keys.looks > PASSING)
          if (problem !== undefined) found.add(problem)
        }
      }
    }
    return [...found]
  }
}

function overlap(one: Stay<unknown>, other: Stay<unknown>): boolean {
  return one.from <= other.until && other.from <= one.until
}

/** Returns why a validator rejects these answers together, or why the signer is wrong if they last; undefined: all accept them, or the domain is not secure. */
function problemOf(ds: DsSet, { keys, signers }: KeySet, data: SignedData, isLasting: boolean): string | undefined {
  const digests = ds.map((content) => Number(content.split(' ')[2]))
  // Some validators ignore the DS whose digest is not of the best type in the set.
  const best = ds.filter((_, i) => digests[i] === Math.max(...digests))
  const trusted = keys.filter((key) => key.ds.some((content) => best.includes(content)) && has(signers, key))
  const believed = data.signers.filter((signer) => has(keys, signer))
  const algorithms = new Set(ds.map((content) => Number(content.split(' ')[1])))
  const signs = (some: KeyName[], algorithm: number) => some.some((key) => key.algorithm === algorithm)
  const say = (why: string) => {
    const tags = (some: KeyName[]) => some.map(({ algorithm, tag }) => `${algorithm}/${tag}`).join(' ')
    const heads = [...new Set(ds.map((content) => content.split(' ', 2).reverse().join('/')))].join(' ')
    return `${data.what}: ${why}: DS ${heads}, DNSKEY ${tags(keys)} signed by ${tags(signers)}, data by ${tags(data.signers)}`
  }
  if (ds.length === 0) return undefined
  if (trusted.length === 0) return say('no DS is that of a key')
  if (believed.length === 0) return say('no key signs')
  for (const algorithm of algorithms) {
    // RFC 6840 §5.11 lets validators insist no longer, but some do.
    if (!signs(trusted, algorithm) || !signs(believed, algorithm)) return say('an algorithm of the DS does not sign')
  }
  // RFC 4035 §2.2: what the signer of the zone must see to. Two keys leave by two requests; validators do not mind.
  for (const { algorithm } of isLasting ? keys : []) {
    if (!signs(believed, algorithm)) return say('an algorithm of the DNSKEY set does not sign')
  }
  return undefined
}

function has(keys: KeyName[], { algorithm, tag }: KeyName): boolean {
  return keys.some((key) => key.algorithm === algorithm && key.tag === tag)
}
