import type { ExecutionContext } from 'ava'
import { query as sql } from '../../../src/store/database.ts'
import { dsIn } from '../clients/api.ts'
import type { Answer, Client } from '../clients/client.ts'
import type { TestService } from '../harness.ts'
import { pdnsOf } from '../servers/powerdns/driver.ts'
import { unrepaired } from '../state/marks.ts'
import type { Server } from './dns.ts'
import { validate } from './validators.ts'
import { folded, isMixed, query, type ServedRRset, servedSerial, sorted, transferred } from './wire.ts'
import { badlySigned, replyOf, verdictOf, ZoneModel } from './zone-model.ts'

/** A question to DNS: an absolute name and a type. */
export type Question = [name: string, type: string]

/** The number of questions that wait for their answers at once. */
const AT_ONCE = 16

/** What serves the zones of a test, and the settings that they are made with. */
export type Host = Pick<TestService, 'system' | 'powerDns'>

/** A domain that a test writes through the API, and a model of what DNS must then serve. */
export class Zone {
  /** Without final dot. */
  readonly name: string
  /** As the API returned it. */
  readonly ds: string[]
  readonly model: ZoneModel
  readonly #service: Host
  readonly #api: Client

  private constructor(service: Host, api: Client, name: string, ds: string[]) {
    this.name = name
    this.ds = ds
    this.model = new ZoneModel(name, service.system.config.denial === 'nsec' ? 'NSEC' : 'NSEC3')
    this.#service = service
    this.#api = api
    const records = [...service.system.config.nameServers]
    this.model.put({ name: `${name}.`, type: 'NS', ttl: 3600, records })
  }

  static async create(service: Host, api: Client, name: string): Promise<Zone> {
    return new Zone(service, api, name, dsIn(await api.post('/domains/', { name })))
  }

  /** The absolute name of a subname. */
  at(subname: string): string {
    return subname === '' ? `${this.name}.` : `${subname}.${this.name}.`
  }

  /** Creates or replaces an RRset; its records must be canonical. */
  async put(subname: string, type: string, records: string[], ttl = 60): Promise<Answer> {
    const name = this.at(subname)
    const answer =
      this.model.get(name, type) === undefined
        ? await this.#api.post(`/domains/${this.name}/rrsets/`, { subname, type, ttl, records })
        : await this.#api.patch(this.#path(subname, type), { ttl, records })
    if (answer.status !== 201 && answer.status !== 200) throw new Error(`${name} ${type}: ${answer.text}`)
    this.model.put({ name, type, ttl, records })
    return answer
  }

  /** Creates RRsets with one request; their records must be canonical. */
  async fill(rrsets: { subname: string; type: string; records: string[] }[], ttl = 60): Promise<void> {
    if (rrsets.length === 0) return
    const body = rrsets.map((rrset) => ({ ...rrset, ttl }))
    const { status, text } = await this.#api.post(`/domains/${this.name}/rrsets/`, body)
    if (status !== 201) throw new Error(`${this.name}: ${text}`)
    for (const { subname, type, records } of rrsets) this.model.put({ name: this.at(subname), type, ttl, records })
  }

  async remove(subname: string, type: string): Promise<Answer> {
    const answer = await this.#api.delete(this.#path(subname, type))
    if (answer.status !== 204) throw new Error(`${this.at(subname)} ${type}: ${answer.text}`)
    this.model.remove(this.at(subname), type)
    return answer
  }

  async delete(): Promise<Answer> {
    return this.#api.delete(`/domains/${this.name}/`)
  }

  /** Asserts that DNS answers these questions as the model does, with a signature wherever there must be one. */
  async answers(t: ExecutionContext, questions: Question[]): Promise<void> {
    for (let at = 0; at < questions.length; at += AT_ONCE) {
      await Promise.all(questions.slice(at, at + AT_ONCE).map((question) => this.#answers(t, ...question)))
    }
  }

  async #answers(t: ExecutionContext, name: string, type: string): Promise<void> {
    const expected = comparable(this.model.reply(name, type))
    const message = await query(this.#service.powerDns, name, type)
    t.deepEqual(comparable(replyOf(message)), expected, `${name} ${type}`)
    t.deepEqual(badlySigned(message, this.model), [], `${name} ${type}`)
    const plain = await query(this.#service.powerDns, name, type, { dnssec: false })
    t.deepEqual(plain.rcode, expected.rcode, `${name} ${type} without signatures`)
    t.deepEqual(comparable(replyOf(plain)).answers, expected.answers, `${name} ${type} without signatures`)
  }

  /**
   * Asserts that a validating resolver accepts the answers. For a referral it must accept the proof that a DS exists, or
   * that none does.
   * @param server which serves the zone; without it, the primary
   */
  async validates(t: ExecutionContext, questions: Question[], server?: Server): Promise<void> {
    for (const [name, type] of questions) {
      const cut = this.model.cutAbove(name)
      const question: Question = cut === undefined ? [name, type] : [cut, 'DS']
      const reply = this.model.reply(...question)
      const expected = verdictOf(reply, question[1])
      const targets = reply.answers.flatMap(({ type, records }) => (type === 'CNAME' ? records : []))
      if (expected === undefined || [question[0], ...targets].some((name) => this.model.isBelowStrayDs(name))) continue
      const verdict = await validate(server ?? this.#service.powerDns, this.name, this.ds, ...question)
      t.is(verdict, expected, question.join(' '))
    }
  }

  #path(subname: string, type: string): string {
    return `/domains/${this.name}/rrsets/${subname === '' ? '@' : subname}/${type}/`
  }
}

function comparable<R extends { answers: ServedRRset[]; referral: ServedRRset | undefined }>(reply: R): R {
  return {
    ...reply,
    answers: sorted(reply.answers),
    referral: reply.referral && sorted([reply.referral])[0],
  }
}

/**
 * Asserts that nothing is left to repair: no zone has a mark; PowerDNS has exactly the database's zones, with the
 * domain's version as SOA serial; each serves that serial plus the weeks since the epoch (its setting INCREMENT-WEEKS);
 * and a transfer returns the database's RRsets.
 */
export async function isConsistent(t: ExecutionContext, { system, powerDns }: Host): Promise<void> {
  t.deepEqual(await unrepaired({ system }), [])
  const domains = await sql<{ name: string; version: number }>(system.db, 'select name, version from domains')
  const versions = Object.fromEntries(domains.map(({ name, version }) => [name, version]))
  const { json } = await pdnsOf(powerDns)('GET', '/zones?dnssec=false')
  const zones = json as { name: string; serial: number }[]
  t.deepEqual(Object.fromEntries(zones.map(({ name, serial }) => [name.slice(0, -1), serial])), versions)
  for (const { name, version } of domains) {
    // A week may end between the answer and a look at the clock.
    const before = weeksSinceEpoch()
    const serial = await servedSerial(powerDns, name)
    t.true([before, weeksSinceEpoch()].includes(serial - version), `${name}: ${serial} of version ${version}`)
    const own = (await stored(system.db, name)).filter((rrset) => !isMixed(name, rrset.name, rrset.type))
    t.deepEqual(transferable(await transferred(powerDns, name)), transferable(own))
  }
}

function weeksSinceEpoch(): number {
  return Math.floor(Date.now() / (7 * 86_400_000))
}

/** RRsets for comparison; PowerDNS transfers CDS and CDNSKEY with its own TTL, at every name. */
function transferable(rrsets: ServedRRset[]): ServedRRset[] {
  return folded(rrsets.map((rrset) => (['CDS', 'CDNSKEY'].includes(rrset.type) ? { ...rrset, ttl: 0 } : rrset)))
}

/** A domain's RRsets in the database. */
async function stored(db: TestService['system']['db'], domain: string): Promise<ServedRRset[]> {
  return sql<ServedRRset>(
    db,
    `select case when subname = '' then name || '.' else subname || '.' || name || '.' end as name, type, ttl, records
     from rrsets join domains on domains.id = domain_id where domains.name = :domain`,
    { domain },
  )
}
