import { getServers } from 'node:dns'
import { Busy } from '../../errors.ts'
import { DnsClient, type Endpoint, parseEndpoint } from '../wire/client.ts'
import type { Question, Reply } from '../wire/messages.ts'
import { type DsyncTarget, lookupNames, type Notification, readDsync } from './dsync.ts'
import { Inquiry } from './inquiry.ts'
import { type Clock, Pace, REAL_CLOCK } from './pace.ts'
import { isWithin, readReferral, type Referral, refused } from './referral.ts'

/** Milliseconds in which a server has to answer, and how often it is asked at most. */
const ANSWER_TIME = 2_000
const ATTEMPTS = 2

/** Milliseconds after which an inquiry asks nothing more. */
export const INQUIRY_TIME = 120_000

/** Milliseconds for which a zone's servers are remembered, and the zones that are. */
const ZONE_TIME = 3_600_000
const ZONES_MAX = 1_000

/**
 * The nameservers of a parent zone that are asked, the addresses of a nameserver, and those of all nameservers of a parent
 * zone: strangers choose them.
 */
const NAMESERVERS_MAX = 16
const ADDRESSES_MAX = 8
const SERVERS_MAX = 32

/** An address of a nameserver. */
export interface ParentServer {
  /** Without final dot. */
  name: string
  /** Empty: it has none that may be asked. */
  address: string
}

/** A zone that delegates domains; a name without final dot. */
export interface ParentZone {
  name: string
  servers: ParentServer[]
}

/** The answer of a server of the parent zone about a domain. */
export type ParentAnswer = ParentServer & Referral

interface Options {
  /** The resolvers; none: those of the system. */
  resolvers: readonly Endpoint[]
  /** Reports whether an address may be asked that strangers have published. */
  isAllowed: (address: string) => boolean
  /** The port of nameservers. */
  port?: number
  clock?: Clock
  /** Milliseconds of the clock. */
  inquiryTime?: number
}

/**
 * The nameservers that delegate domains to ours. The resolvers are asked only for their names and addresses: what a
 * parent zone says about a domain comes from its own servers. Names are without final dot. Functions throw Busy once it is
 * closed.
 */
export class Parents {
  readonly #options: Required<Options>
  readonly #pace: Pace
  /** The zones found a while ago, the oldest first, by the name from which the search begins. */
  readonly #zones = new Map<string, { zone: Promise<ParentZone | undefined>; until: number }>()

  constructor(options: Options) {
    this.#options = { port: 53, clock: REAL_CLOCK, inquiryTime: INQUIRY_TIME, ...options }
    this.#pace = new Pace(this.#options.clock)
  }

  /** Ends all questions, because the process stops. */
  close(): void {
    this.#pace.close()
  }

  /**
   * Begins an inquiry, which asks nothing more after INQUIRY_TIME.
   * @param gone aborts when nobody waits for it any more
   */
  begin(gone?: AbortSignal): Inquiry {
    const { clock, inquiryTime } = this.#options
    const end = clock.now() + inquiryTime
    return new Inquiry(() => gone?.aborted === true || clock.now() >= end)
  }

  /** Finds the zone that delegates a domain, or would; undefined if the resolvers do not tell. */
  async find(domain: string): Promise<ParentZone | undefined> {
    const { clock } = this.#options
    const start = above(domain)
    const known = this.#zones.get(start)
    if (known !== undefined && known.until > clock.now()) return known.zone
    const zone = this.#look(start)
    this.#zones.delete(start)
    this.#zones.set(start, { zone, until: clock.now() + ZONE_TIME })
    const [oldest] = this.#zones.keys()
    if (this.#zones.size > ZONES_MAX) this.#zones.delete(oldest!)
    const found = await zone
    if (found === undefined && this.#zones.get(start)?.zone === zone) this.#zones.delete(start)
    return found
  }

  /** The inquiry is one of its own: several checks can wait for the result. */
  async #look(start: string): Promise<ParentZone | undefined> {
    const inquiry = this.begin()
    const name = await this.#zoneOf(start, inquiry)
    if (name === undefined) return undefined
    const reply = await this.#resolve({ name, type: 'NS' }, inquiry)
    if (reply === undefined) return undefined
    const hosts = reply.answers.filter(({ type }) => type === 'NS').map(({ content }) => content)
    const servers = await inquiry.limit.map(hosts.sort().slice(0, NAMESERVERS_MAX), async (name) => {
      const addresses = await this.addresses(name, inquiry)
      return (addresses.length > 0 ? addresses : ['']).map((address) => ({ name, address }))
    })
    return inquiry.isOver() ? undefined : { name, servers: servers.flat().slice(0, SERVERS_MAX) }
  }

  /** Returns the zone that has this name. */
  async #zoneOf(start: string, inquiry: Inquiry): Promise<string | undefined> {
    for (let name = start; ; name = above(name)) {
      const reply = await this.#resolve({ name, type: 'SOA' }, inquiry)
      if (reply === undefined) return undefined
      // An alias can lead to the SOA of another zone.
      const soa = [...reply.answers, ...reply.authorities].find((record) => {
        return record.type === 'SOA' && isWithin(name, record.name)
      })
      if (soa !== undefined) return soa.name
      if (name === '.') return undefined
    }
  }

  /** Returns the addresses of a nameserver that may be asked, sorted. */
  async addresses(host: string, inquiry: Inquiry): Promise<string[]> {
    const found: string[] = []
    for (const type of ['A', 'AAAA'] as const) {
      const reply = await this.#resolve({ name: host, type }, inquiry)
      const records = (reply?.answers ?? []).filter((record) => record.type === type)
      found.push(...records.map(({ content }) => content))
    }
    return [...new Set(found)].filter(this.#options.isAllowed).sort().slice(0, ADDRESSES_MAX)
  }

  /** Asks a server of the parent zone about a domain; undefined: this machine cannot send to its address. */
  async ask(
    { name, address }: ParentServer,
    parent: string,
    domain: string,
    inquiry: Inquiry,
  ): Promise<ParentAnswer | undefined> {
    if (address === '') return { name, address, ...refused('has no address that this service may ask') }
    try {
      const ns = await this.#question({ address }, { name: domain, type: 'NS' }, inquiry)
      const ds = ns && (await this.#question({ address }, { name: domain, type: 'DS' }, inquiry))
      if (ds === undefined && inquiry.isOver()) return { name, address, ...refused('was not asked in time') }
      return { name, address, ...readReferral(domain, parent, ns, ds) }
    } catch (error) {
      if (error instanceof Busy) throw error
      return undefined
    }
  }

  /** Reports whether resolvers that validate reject a zone which they know. Without such a resolver, none is found. */
  async isBogus(zone: string, inquiry: Inquiry): Promise<boolean> {
    const knows = async (validated: boolean) => {
      return (await this.#resolve({ name: zone, type: 'SOA', validated }, inquiry)) !== undefined
    }
    return !(await knows(true)) && (await knows(false)) && !inquiry.isOver()
  }

  /** Tells the parent zone of a domain that its CDS have changed, if it wants to know (RFC 9859 §4). */
  async notify(domain: string): Promise<Notification> {
    const zone = await this.find(domain)
    if (zone === undefined) return 'unknown'
    const inquiry = this.begin()
    for (const name of lookupNames(domain, zone.name)) {
      // Messages go where it says, so it must be valid (RFC 9859 §4.1).
      const reply = await this.#resolve({ name, type: 'DSYNC', validated: true }, inquiry)
      if (reply === undefined) return 'unknown'
      const endpoint = readDsync(reply)
      if (endpoint !== undefined) return this.#notify(domain, endpoint, inquiry)
    }
    return 'unwanted'
  }

  async #notify(domain: string, { target, port }: DsyncTarget, inquiry: Inquiry): Promise<Notification> {
    let outcome: Notification = 'unreachable'
    for (const address of await this.addresses(target, inquiry)) {
      try {
        const reply = await this.#question({ address, port }, { name: domain, type: 'CDS', notify: true }, inquiry)
        if (reply !== undefined) return reply.rcode === 'NOERROR' ? 'acknowledged' : 'refused'
        outcome = 'silent'
      } catch (error) {
        if (error instanceof Busy) throw error
      }
    }
    return outcome
  }

  /** Returns the reason why a nameserver does not serve a domain; undefined: it does, or cannot be asked from here. */
  async authorityProblem(address: string, domain: string, inquiry: Inquiry): Promise<string | undefined> {
    try {
      const reply = await this.#question({ address }, { name: domain, type: 'SOA' }, inquiry)
      if (reply === undefined) return 'does not answer'
      if (reply.rcode !== 'NOERROR') return `answers ${reply.rcode}`
      const hasSoa = reply.answers.some(({ type, name }) => type === 'SOA' && name === domain)
      return hasSoa && reply.isAuthoritative ? undefined : 'does not serve the domain'
    } catch (error) {
      if (error instanceof Busy) throw error
      return undefined
    }
  }

  /**
   * Asks a server of strangers; undefined: it does not answer, or the inquiry is over.
   * @throws the error of the system if it cannot send
   */
  async #question(
    { address, port = this.#options.port }: { address: string; port?: number },
    question: Question,
    inquiry: Inquiry,
  ): Promise<Reply | undefined> {
    for (let left = ATTEMPTS; left > 0; left--) {
      const reply = await this.#send({ address, port }, question, inquiry, address)
      if (reply !== undefined) return reply
    }
    return undefined
  }

  /** Asks the resolvers in turn; undefined: none has an answer, or the inquiry is over. */
  async #resolve(question: Question, inquiry: Inquiry): Promise<Reply | undefined> {
    const { resolvers: named } = this.#options
    const resolvers = named.length > 0 ? named : systemResolvers()
    for (let round = 0; round < ATTEMPTS; round++) {
      for (const resolver of resolvers) {
        const reply = await this.#send(resolver, { ...question, recursive: true }, inquiry).catch((error: unknown) => {
          if (error instanceof Busy) throw error
          return undefined
        })
        if (reply?.rcode === 'NOERROR' || reply?.rcode === 'NXDOMAIN') return reply
      }
    }
    return undefined
  }

  /** Asks once, when it is the question's turn. @param server as in `Pace.turn` */
  async #send(endpoint: Endpoint, question: Question, inquiry: Inquiry, server?: string): Promise<Reply | undefined> {
    return (await this.#pace.turn(server, inquiry.isOver)) ? this.send(endpoint, question) : undefined
  }

  /**
   * Asks once, with a socket of its own: each question has another port, which makes answers harder to forge.
   * @throws the error of the system if it cannot send
   */
  protected async send(endpoint: Endpoint, question: Question): Promise<Reply | undefined> {
    const client = new DnsClient(endpoint)
    try {
      return await client.query(question, ANSWER_TIME)
    } finally {
      await client.close()
    }
  }
}

/** Returns the name without its first label. */
function above(name: string): string {
  return name.includes('.') ? name.slice(name.indexOf('.') + 1) || '.' : '.'
}

/** Returns the resolvers of the system. */
function systemResolvers(): Endpoint[] {
  return getServers().map((text) => parseEndpoint(text, 53))
}
