import { operatorFor } from '../../../src/service/actor.ts'
import { create } from '../../../src/service/domains/creation.ts'
import { query } from '../../../src/store/database.ts'
import { eventually } from '../eventually.ts'
import type { TestService } from '../harness.ts'
import type { Call } from '../servers/proxy.ts'
import type { Account } from './accounts.ts'
import type { Answer, Client } from './client.ts'

let names = 0

/** A registrable name that no other test of the file has, under the reserved top-level domain `test`. */
export function freshName(): string {
  return `d${++names}.test`
}

/** A new domain of the client's account; returns its name. */
export async function newDomain(api: Client, name = freshName()): Promise<string> {
  succeeded(await api.post('/domains/', { name }), 201)
  return name
}

/** An account and its domain, and the paths of all RRsets and of www A. */
export interface Zone {
  account: Account
  api: Client
  domain: string
  rrsets: string
  one: string
}

/** A new account and its domain, with these RRsets besides its NS. */
export async function newZone(service: Pick<TestService, 'account'>, ...members: RRsetBody[]): Promise<Zone> {
  const account = await service.account()
  const domain = await newDomain(account.api)
  for (const each of members) await newRRset(account.api, domain, each)
  const rrsets = `/domains/${domain}/rrsets/`
  return { account, api: account.api, domain, rrsets, one: `${rrsets}www/A/` }
}

/** A new domain whose zone file has 25 MB, and of whose records one page has several: more than sockets buffer. */
export async function newLargeDomain({ sql }: Pick<TestService, 'sql'>, api: Client): Promise<string> {
  const name = await newDomain(api)
  await sql(
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select domains.id, 'text' || n, 'TXT', 60,
       array(select '"' || i || repeat('x', 240) || '"' from generate_series(1, 240) as i), now(), now()
     from domains, generate_series(1, 400) as n where name = :name`,
    { name },
  )
  return name
}

/** Creates a domain that is reserved for the operator (contract §7.3) for an account. */
export async function newReservedDomain({ system }: Pick<TestService, 'system'>, accountId: string, name: string) {
  await create(system, operatorFor(accountId), { name, problems: {} })
}

/** Runs `make` at the first call and returns the same result from then on; for tests that do not change it. */
export function shared<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** Whether a write waited too long for those before it, as on a slow machine. Nothing was changed. */
export function isBusy({ status, text }: Answer): boolean {
  return status === 503 && text.includes('The request waited too long for its turn.')
}

/** Sends a request again for as long as the service is too busy for it, which is what the answer says to do. */
export async function patiently(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await request()
    if (!isBusy(answer)) return answer
  }
}

export interface RRsetBody {
  subname?: unknown
  type?: unknown
  ttl?: unknown
  records?: unknown
}

/** An RRset as the API shows it. */
export interface ShownRRset {
  created: string
  domain: string
  subname: string
  name: string
  records: string[]
  ttl: number
  type: string
  touched: string
}

/** A domain as the API shows it. */
export interface ShownDomain {
  created: string
  published: string
  name: string
  keys: { dnskey: string; ds: string[]; flags: number; keytype: string | null; managed: boolean }[]
  minimum_ttl: number
  touched: string
  note?: string
}

/** The body of an A RRset; `members` replace the defaults. */
export function rrset(members: RRsetBody = {}): RRsetBody {
  return { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'], ...members }
}

/** A new RRset of the domain, as the API shows it. */
export async function newRRset(api: Client, domain: string, members: RRsetBody = {}): Promise<ShownRRset> {
  return succeeded(await api.post(`/domains/${domain}/rrsets/`, rrset(members)), 201).json as ShownRRset
}

/** A new domain with www A. */
export async function newDomainWithWww(api: Client, name?: string): Promise<string> {
  const made = await newDomain(api, name)
  await newRRset(api, made)
  return made
}

export async function domainOf(api: Client, name: string): Promise<ShownDomain> {
  return succeeded(await api.get(`/domains/${name}/`), 200).json as ShownDomain
}

/** The DS of a domain in the answer to its creation. */
export function dsIn(answer: Answer): string[] {
  return (succeeded(answer, 201).json as ShownDomain).keys.flatMap(({ ds }) => ds)
}

/** Returns the answer if it has the expected status; throws if it has another. */
export function succeeded(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

/** The answer of the readiness endpoint to a check that begins after this call, which PowerDNS shows, not to an earlier one. */
export async function readiness({ proxy }: Pick<TestService, 'proxy'>, api: Client): Promise<Answer> {
  const answer = await eventually(async () => {
    const before = proxy.calls.length
    const answer = await api.get('//root/readyz')
    return proxy.calls.slice(before).some(({ path }) => path === '') ? answer : undefined
  })
  return answer!
}

/** Sets the minimum TTL of a domain, as only the operator can. */
export async function setMinimumTtl({ system }: TestService, domain: string, minimumTtl: number): Promise<void> {
  await query(system.db, 'update domains set minimum_ttl = :minimumTtl where name = :domain', { domain, minimumTtl })
}

/**
 * Sends a request, and holds back a call to PowerDNS until `release`. Resolves when the call has come.
 * @param which the call: its method, or whether it is the one
 */
export async function sendHeld<T>(
  { proxy }: Pick<TestService, 'proxy'>,
  which: string | ((call: Call) => boolean),
  send: () => Promise<T>,
) {
  const { arrived, release } = proxy.stop(typeof which === 'string' ? ({ method }) => method === which : which)
  const answering = send()
  return { answering, call: await arrived, release }
}

/** The number of requests to PowerDNS so far that named this zone. */
export function callsFor({ proxy }: TestService, domain: string): number {
  return proxy.calls.filter(({ path }) => path.includes(`${domain}.`)).length
}
