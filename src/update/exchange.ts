import { typeOf } from '../dns/registry.ts'
import { CLASSES, HEADER, type Layout, layoutOf, readName, readSection } from '../dns/wire/messages.ts'
import { Throttled, unlessNotFound } from '../errors.ts'
import type { Budget } from '../flow/budget.ts'
import { inSlices } from '../flow/slices.ts'
import type { Scope } from '../limits.ts'
import type { Actor } from '../service/actor.ts'
import * as domains from '../service/domains/domains.ts'
import * as tsigKeys from '../service/doors/tsig-keys.ts'
import { update } from '../service/doors/updates.ts'
import { isUuid } from '../service/ids.ts'
import { groupOf } from '../service/throttling/callers.ts'
import { admit } from '../service/throttling/throttling.ts'
import { noteUse, type Presented, presentedBy, signerOf } from '../service/tokens/authentication.ts'
import { authorise } from '../service/tokens/rights.ts'
import type { System } from '../system.ts'
import { unixTime } from '../time.ts'
import { answerTo, type Contents, contentsOf, type Outcome, type Question, transferOf } from './answers.ts'
import { logTrouble, malformed, outcomeOf, reading } from './outcomes.ts'
import { isOfQuestions, readUpdate, Refused, subnameIn, textOf } from './requests.ts'
import type { Results } from './results.ts'
import { hasLength, isInTime, isKnown, readTsig, Signer, type Tsig, TSIG_ERRORS, unsigned, verified } from './tsig.ts'

/** Opcodes (RFC 1035 §4.1.1, RFC 2136 §1.3), and types that are asked for. */
const [QUERY, UPDATE] = [0, 5]
const [SOA, OPT, AXFR] = [6, 41, 252]

/** Octets of an answer by UDP to whom takes no larger one, and the largest (RFC 6891 §6.2.5). */
const [SMALL, LARGE] = [512, 1232]

/** Who has sent a message, and gets the answers. */
export interface Peer {
  address: string
  isTcp: boolean
  send: (message: Buffer) => Promise<void>
  /** Aborts when nobody waits any more. */
  gone: AbortSignal
  /** Ends the connection. */
  end: () => void
}

/** A valid signature. */
interface Signature {
  keyId: string
  token: Presented
  /** The whole MAC. */
  mac: string
}

/** What the messages in work share. */
export interface Shared {
  updates: Budget
  results: Results
}

/** One message, and its answer. */
export class Exchange {
  readonly #system: System
  readonly #shared: Shared
  readonly #octets: Buffer
  readonly #peer: Peer
  #layout!: Layout
  #question: Question | undefined
  #signer: Signer | undefined
  /** The domain of the name in the question, whoever owns it. */
  #named: domains.Domain | undefined
  #hasOptions = false
  #largest: number
  /** For the log. */
  found: { zone?: string; account?: string; token?: string } = {}

  constructor(system: System, shared: Shared, octets: Buffer, peer: Peer) {
    this.#system = system
    this.#shared = shared
    this.#octets = octets
    this.#peer = peer
    this.#largest = peer.isTcp ? 65_535 : SMALL
  }

  /** For the metrics. */
  get kind(): 'update' | 'query' | 'other' {
    const { opcode } = (this.#layout as Layout | undefined) ?? {}
    return opcode === UPDATE ? 'update' : opcode === QUERY ? 'query' : 'other'
  }

  get #now(): number {
    return unixTime(this.#system.now())
  }

  /** Sends the answer, and returns it for the log. */
  async run(): Promise<Outcome> {
    try {
      const tsig = reading(() => this.#read())
      const signed = await this.#authenticate(tsig)
      return signed === undefined
        ? { rcode: 'NOTAUTH', text: 'The signature is not valid.' }
        : await this.#perform(signed)
    } catch (error) {
      return this.#reply(this.#failed(error))
    }
  }

  /** Reads the form of the message, and its signature. @throws Refused, RangeError */
  #read(): Tsig {
    const layout = (this.#layout = layoutOf(this.#octets))
    const { opcode, counts } = layout
    if (opcode !== QUERY && opcode !== UPDATE) throw new Refused('NOTIMP', 'The opcode is not known.')
    if (counts[0] !== 1) throw new Refused('FORMERR', 'There is not exactly one question or zone.')
    const { wire: name, end } = readName(this.#octets, HEADER)
    // Else the answer could be larger.
    if (end !== HEADER + name.length) throw new Refused('FORMERR', 'The name is compressed.')
    this.#question = { name, type: this.#octets.readUInt16BE(end), class: this.#octets.readUInt16BE(end + 2) }
    const tsig = readTsig(this.#octets, layout)
    if (tsig === undefined) throw new Refused('REFUSED', 'The message is not signed.')
    return tsig
  }

  /** Verifies the signature (RFC 8945 §5.2). If it is not valid, answers so, and returns undefined. */
  async #authenticate(tsig: Tsig): Promise<Signature | undefined> {
    const tokenId = textOf(tsig.key)
    if (!isKnown(tsig)) return this.#replyUnsigned(tsig, TSIG_ERRORS.BADKEY)
    if (!hasLength(tsig)) throw new Refused('FORMERR', 'The MAC has a wrong length.')
    const { key, token, named } = await this.#lookUp(tokenId)
    const mac = verified(this.#octets, tsig, key?.secret)
    if (key === undefined) return this.#replyUnsigned(tsig, TSIG_ERRORS.BADKEY)
    if (mac === undefined) return this.#replyUnsigned(tsig, TSIG_ERRORS.BADSIG)
    this.#signer = new Signer(tsig, key.secret)
    this.#named = named
    if (isInTime(tsig, this.#now)) return { keyId: key.id, token, mac: mac.toString('latin1') }
    const answer = answerTo(this.#octets, { rcode: 'NOTAUTH', question: this.#question }, Infinity)
    await this.#peer.send(this.#signer.sign(answer, this.#now, { isLate: true }))
    return undefined
  }

  /** Looks up the key and its token, and the domain of the name in the question, all at the same time. */
  async #lookUp(tokenId: string) {
    if (!isUuid(tokenId)) return {}
    const [key, token, named] = await Promise.all([
      tsigKeys.find(this.#system, tokenId),
      presentedBy(this.#system, tokenId, this.#peer.address),
      domains.find(this.#system, textOf(this.#question!.name)),
    ])
    return { key, token, named }
  }

  async #replyUnsigned(tsig: Tsig, error: number): Promise<undefined> {
    const answer = answerTo(this.#octets, { rcode: 'NOTAUTH', question: this.#question }, Infinity)
    await this.#peer.send(unsigned(answer, tsig, error, this.#now))
  }

  /** Does what a message with a valid signature says. */
  async #perform({ keyId, token, mac }: Signature): Promise<Outcome> {
    reading(() => {
      this.#readOptions()
    })
    const actor = signerOf(token, keyId, this.#peer.address)
    this.found = { account: actor.accountId, token: actor.tokenId }
    const noted = noteUse(this.#system, actor)
    authorise(actor, 'rrsets')
    const release = this.#shared.updates.tryTake(groupOf(actor))
    if (release === undefined) throw new Refused('REFUSED', 'Too many updates of this account at once.')
    try {
      if (this.#layout.opcode === QUERY) return await this.#answerQuery(actor)
      const carryOut = async () => this.#update(actor).catch((error: unknown) => this.#failed(error))
      const [outcome] = await Promise.all([this.#shared.results.of(mac, carryOut), noted])
      return await this.#reply(outcome)
    } finally {
      release()
    }
  }

  /** Reads the additional records. @throws RangeError */
  #readOptions(): void {
    const { counts, sections } = this.#layout
    for (const { type, class: size } of readSection(this.#octets, sections[3], counts[3])) {
      if (type !== OPT) continue
      this.#hasOptions = true
      if (!this.#peer.isTcp) this.#largest = Math.min(Math.max(size, SMALL), LARGE)
    }
  }

  /** Finds the domain of the question or zone; counts the message. @throws Refused, Throttled */
  async #inDomain<T>(actor: Actor, scope: Scope, work: (domain: domains.Domain) => Promise<T>): Promise<T> {
    const zone = (this.found.zone = textOf(this.#question!.name))
    const visit = { system: this.#system, actor }
    const domain =
      (await domains.visible(visit, this.#named).catch(unlessNotFound)) ?? (await domains.enclosing(visit, [zone]))[0]
    if (domain === undefined) throw new Refused('NOTAUTH', `${zone} is in no domain of this account.`)
    const isPerDomain = scope === 'dns_api_per_domain_expensive'
    const verdict = await admit(this.#system, scope, actor, isPerDomain ? domain : undefined)
    if (verdict?.retryAfter !== undefined) {
      this.#system.metrics?.count('zoneplane_throttled_requests_total', { scope: verdict.exceeded ?? scope })
      throw new Throttled(verdict.retryAfter, verdict.exceeded)
    }
    try {
      return await work(domain)
    } catch (error) {
      if (outcomeOf(error).rcode !== 'SERVFAIL') await verdict?.takeBack()
      throw error
    }
  }

  async #update(actor: Actor): Promise<Outcome> {
    const question = this.#question!
    if (question.type !== SOA) throw new Refused('FORMERR', 'The zone is not given by a SOA.')
    if (question.class !== CLASSES.IN) throw new Refused('NOTAUTH', 'Zones have the class IN.')
    return this.#inDomain(actor, 'dns_api_per_domain_expensive', async (domain) => {
      const wanted = await inSlices(readUpdate(this.#octets, this.#layout, domain.name)).catch(malformed)
      await update({ system: this.#system, actor, domain }, wanted)
      return { rcode: 'NOERROR' }
    })
  }

  async #answerQuery(actor: Actor): Promise<Outcome> {
    const { name, type, class: kind } = this.#question!
    const isAxfr = type === AXFR
    if (kind !== CLASSES.IN || (!isAxfr && isOfQuestions(type)))
      throw new Refused('REFUSED', 'Only AXFR, and questions for one type, are answered here.')
    if (isAxfr) return this.#inDomain(actor, 'dns_api_expensive', async (domain) => this.#transfer(actor, domain))
    return this.#inDomain(actor, 'dns_api_cheap', async (domain) => {
      const subname = subnameIn(domain.name, textOf(name))
      return this.#reply(await contentsOf({ system: this.#system, actor, domain }, { subname, type: typeOf(type) }))
    })
  }

  async #transfer(actor: Actor, domain: domains.Domain): Promise<Outcome> {
    if (domain.name !== textOf(this.#question!.name))
      throw new Refused('NOTAUTH', 'Only whole domains are transferred.')
    if (!this.#peer.isTcp) throw new Refused('REFUSED', 'Transfers need TCP.')
    for await (const answers of transferOf({ system: this.#system, actor, domain }, this.#peer.end))
      await this.#reply({ rcode: 'NOERROR', answers })
    return { rcode: 'NOERROR' }
  }

  /** Returns the answer for an error, and logs those of ours. */
  #failed(error: unknown): Outcome {
    logTrouble(this.#system, error)
    return outcomeOf(error)
  }

  /** Sends an answer, signed if the message is. */
  async #reply(contents: Contents): Promise<Outcome> {
    const { rcode, text } = contents
    // Only whoever has a key gets more than what was sent.
    const own = this.#signer === undefined ? { rcode } : { ...contents, hasOptions: this.#hasOptions }
    const room = this.#signer === undefined || this.#peer.isTcp ? this.#largest : this.#largest - this.#signer.size
    const answer = answerTo(this.#octets, { ...own, question: this.#question }, this.#peer.isTcp ? 65_535 : room)
    await this.#peer.send(this.#signer === undefined ? answer : this.#signer.sign(answer, this.#now))
    return { rcode, ...(text !== undefined && { text }) }
  }
}
