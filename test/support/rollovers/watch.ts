import packet from 'dns-packet'
import { setTimeout as sleep } from 'node:timers/promises'
import { keyTag } from '../../../src/dns/dnssec.ts'
import { parseRdata } from '../../../src/dns/rdata.ts'
import { delegationsOf } from '../../../src/service/secrets/signing-keys.ts'
import { ask, type DnsAnswer, exchange, type Server } from '../dns/dns.ts'
import { Cached, type KeyName } from './cached.ts'
import type { Resolver } from './resolvers.ts'

/** Milliseconds between two questions to each resolver. */
const PAUSE = 100

/** The most questions to a resolver that may be open: on a busy machine, fewer are asked. */
const OPEN = 20

interface Watched {
  name: string
  /** True if answers must be secure, false if they cannot. */
  isSecure: boolean
  resolvers: readonly Resolver[]
  /** The nameservers of the domain, and those of its parent. */
  nameservers: readonly Server[]
  parents: readonly Server[]
}

/**
 * Asks resolvers about a domain all the time, and its nameservers for what caches may have. The domain must have `www`,
 * `long` and `*.wild`, and must not have `*.absent`.
 */
export class Watch {
  readonly #domain: Watched
  readonly #cached = new Cached()
  readonly #failures: string[] = []
  readonly #running: Promise<void>[]
  /** What happens to the domain now, for the failures. */
  phase = 'before'
  questions = 0
  #isOver = false

  constructor(domain: Watched) {
    this.#domain = domain
    this.#running = [...domain.resolvers.map((resolver) => this.#askAll(resolver)), this.#observe()]
  }

  /** Goes on for so many seconds. */
  async last(seconds: number): Promise<void> {
    await sleep(seconds * 1_000)
  }

  /** Ends the questions, and returns what was wrong. */
  async stop(): Promise<string[]> {
    this.#isOver = true
    await Promise.all(this.#running)
    return [...this.#failures.slice(0, 20), ...this.#cached.problems()]
  }

  async #askAll(resolver: Resolver): Promise<void> {
    const open = new Set<Promise<void>>()
    for (let n = 0; !this.#isOver; n++) {
      const asked: Promise<void> = this.#ask(resolver, n).finally(() => open.delete(asked))
      open.add(asked)
      await sleep(PAUSE)
      while (open.size >= OPEN) await Promise.race(open)
    }
    await Promise.all(open)
  }

  async #ask(resolver: Resolver, n: number): Promise<void> {
    const { name, isSecure } = this.#domain
    const [prefix, type, rcode] = QUESTIONS[n % QUESTIONS.length]!
    const { phase } = this
    const question = `${prefix.replace('#', String(n))}${name}`
    const begun = performance.now()
    let seen: string
    try {
      const answer = packet.decode(await exchange(resolver, question, type, { recursive: true }))
      const isAuthentic = ((answer.flags ?? 0) & packet.AUTHENTIC_DATA) > 0
      seen = `${(answer as unknown as { rcode: string }).rcode}${isAuthentic ? ' AD' : ''}`
    } catch (error) {
      seen = String(error)
    }
    this.questions++
    if (seen === `${rcode}${isSecure ? ' AD' : ''}`) return
    const took = `${Math.round(performance.now() - begun)} ms`
    const reasons = resolver.output().split('\n').filter((line) => line.includes(question)).slice(-3)
    this.#failures.push(`${phase}: ${resolver.kind}: ${question} ${type}: ${seen} (${took}) ${reasons.join(' | ')}`)
  } // prettier-ignore

  async #observe(): Promise<void> {
    const { name, parents, nameservers } = this.#domain
    while (!this.#isOver) {
      await Promise.all([
        ...parents.map((server) => this.#look(server, name, 'DS')),
        ...nameservers.flatMap((server) => [
          this.#look(server, name, 'DNSKEY'),
          ...['www.', 'long.'].map((prefix) => this.#look(server, `${prefix}${name}`, 'A')),
        ]),
      ])
      await sleep(PAUSE)
    }
  }

  /** Asks a nameserver for what a cache would get from it; one that does not answer gives caches nothing. */
  async #look(server: Server, name: string, type: string): Promise<void> {
    const sent = performance.now()
    const answer = await ask(server, name, type).catch(() => undefined)
    if (answer === undefined || answer.rcode !== 'NOERROR') return
    const received = performance.now()
    const { ttl = 0 } = [...answer.answers, ...answer.authorities].find((rr) => rr.type !== 'OPT') as { ttl?: number }
    const [id, when] = [`${server.dnsHost} ${server.dnsPort}`, { sent, received, ttl }]
    if (type === 'DS') this.#cached.ds.note(id, dsIn(answer), when)
    else if (type === 'DNSKEY') this.#cached.keys.note(id, keysIn(this.#domain.name, answer), when)
    else this.#cached.data.note(`${id} ${name}`, { what: name, signers: signersIn(answer) }, when)
  }
}

/** What is asked in turn: the name before that of the domain, with a number for `#`, the type, and the right answer. */
const QUESTIONS: [prefix: string, type: string, rcode: string][] = [
  ['www.', 'A', 'NOERROR'],
  ['#.absent.', 'A', 'NXDOMAIN'],
  ['', 'DNSKEY', 'NOERROR'],
  ['#.wild.', 'A', 'NOERROR'],
  ['long.', 'A', 'NOERROR'],
  ['www.', 'MX', 'NOERROR'],
  ['', 'NS', 'NOERROR'],
]

function dsIn({ answers }: DnsAnswer): string[] {
  const contents = answers.flatMap((rr) => {
    if (rr.type !== 'DS') return []
    const { keyTag: tag, algorithm, digestType, digest } = rr.data
    return [[tag, algorithm, digestType, digest.toString('hex')].join(' ')]
  })
  return contents.sort()
}

function keysIn(name: string, answer: DnsAnswer) {
  const keys = answer.answers.flatMap((rr) => {
    if (rr.type !== 'DNSKEY') return []
    const { flags, algorithm, key } = rr.data
    const dnskey = `${flags} 3 ${algorithm} ${key.toString('base64')}`
    const tag = keyTag(parseRdata('DNSKEY', dnskey).wire)
    return [{ algorithm: algorithm, tag, ds: delegationsOf(name, dnskey) }]
  })
  return { keys: keys.sort((one, other) => one.tag - other.tag), signers: signersIn(answer) }
}

function signersIn({ answers }: DnsAnswer): KeyName[] {
  const signers = answers.flatMap((rr) => {
    if (rr.type !== 'RRSIG') return []
    return [{ algorithm: rr.data.algorithm, tag: rr.data.keyTag }]
  })
  return signers.sort((one, other) => one.tag - other.tag)
}
