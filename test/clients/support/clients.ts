import test, { type ExecutionContext } from 'ava'
import { domainOf, newDomain, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { lookUp, verifyTransfer } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import { type TestProcess, type TestServers, useServers } from '../../support/harness.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { type Authority, makeAuthority } from './authority.ts'
import { type Front, startFront } from './front.ts'

/** The servers for client programs of other projects: a service as a process, DNS, and TLS in front of the service. */
export interface Place {
  servers: TestServers
  service: TestProcess
  authority: Authority
  front: Front
  /** The nameserver's address and port. */
  dns: string
}

/** Of these servers, those of a domain. */
interface Site {
  servers: TestServers
  service: { api: Client }
}

/** The host name that is built into deSEC's clients. */
const BUILT_IN = 'desec.io'

/** Starts these servers for a test file. */
export function usePlace(): () => Place {
  const servers = useServers()
  let place: Place | undefined
  test.serial.before('the service and its front start', async () => {
    const service = await servers().start({ TRUSTED_PROXIES: '127.0.0.1', THROTTLE: 'on' })
    const authority = await makeAuthority(newFolder())
    const front = await startFront(service.url, [BUILT_IN], await authority.issue(['localhost', '127.0.0.1', BUILT_IN]))
    const { dnsHost, dnsPort } = servers().powerDns
    place = { servers: servers(), service, authority, front, dns: `${dnsHost}:${dnsPort}` }
  })
  test.after.always('the front stops', async () => {
    await place?.front.close()
  })
  return () => place!
}

/** Names in a domain. */
export type Names = { subname: string } | { subname_pattern: string }

/** A new token that may write only what these policies allow. */
export async function newToken(api: Client, allowed: object[][]): Promise<{ id: string; token: string }> {
  const made = succeeded(await api.post('/auth/tokens/', { name: 'client' }), 201).json as { id: string; token: string }
  for (const policy of [{ domain: null, subname: null, type: null, perm_write: false }, ...allowed.flat()])
    succeeded(await api.post(`/auth/tokens/${made.id}/policies/rrsets/`, policy), 201)
  return made
}

/** A domain for a client to work on. */
export class Domain {
  readonly name: string
  readonly #place: Site
  readonly #ds: string[]

  private constructor(name: string, place: Site, ds: string[]) {
    this.name = name
    this.#place = place
    this.#ds = ds
  }

  static async create(place: Site, name: string): Promise<Domain> {
    await newDomain(place.service.api, name)
    return Domain.find(place, name)
  }

  /** A domain that the client has created. */
  static async find(place: Site, name: string): Promise<Domain> {
    return new Domain(name, place, (await domainOf(place.service.api, name)).keys[0]!.ds)
  }

  /** The secret of a token that may write only RRsets of these types at these names, which are of `subname` or a pattern. */
  async tokenFor(names: Names, ...types: string[]): Promise<string> {
    return (await newToken(this.#place.service.api, [this.allows(names, ...types)])).token
  }

  /** Policies that allow this. */
  allows(names: Names, ...types: string[]): object[] {
    return types.map((type) => ({ domain: this.name, ...names, type, perm_write: true }))
  }

  /** Asserts that dig finds these contents at a name, and that delv validates them. */
  async serves(t: ExecutionContext, name: string, type: string, contents: string[]): Promise<void> {
    const server = this.#place.servers.powerDns
    const found = await lookUp(server, name, type)
    const validation = await validate(server, this.name, this.#ds, name, type)
    t.log(`dig ${name} ${type}: ${found.join(', ') || 'nothing'}; delv: ${validation}`)
    t.deepEqual(found, [...contents].sort())
    t.is(validation, contents.length > 0 ? 'fully validated' : 'negative response, fully validated')
  }

  /** Asserts that the whole zone is valid. */
  async isValid(t: ExecutionContext): Promise<void> {
    await t.notThrowsAsync(verifyTransfer(this.#place.servers.powerDns, this.name, this.#ds))
    t.log(`ldns-verify-zone ${this.name}: valid`)
  }
}
