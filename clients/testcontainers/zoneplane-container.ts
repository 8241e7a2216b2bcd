import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { AbstractStartedContainer, GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const API = 8080
const DNS = 5300
const SEED = '/seed.yaml'

/** Zoneplane with its Postgres and PowerDNS in one container, without limits; docs/ci.md says how to build the image. */
export class ZoneplaneContainer extends GenericContainer {
  constructor(image = 'zoneplane/ci') {
    super(image)
    this.withExposedPorts(API)
    // Also the time between two questions.
    this.withWaitStrategy(Wait.forHttp('/readyz', API, { abortOnContainerExit: true }).withReadTimeout(200))
  }

  /** Has these accounts, tokens, policies and domains exist from the start; docs/ci.md describes the YAML. */
  withSeed(yaml: string): this {
    return this.withCopyContentToContainer([{ content: yaml, target: SEED }]).withEnvironment({ ZONEPLANE_SEED: SEED })
  }

  /**
   * Starts the container, and waits until the API is ready and DNS answers.
   * @throws Error with the end of the container's log if it ends, as it does if the seed has a mistake
   */
  override async start(): Promise<StartedZoneplaneContainer> {
    const { ZONEPLANE_TOKEN = randomUUID() } = this.environment
    this.withEnvironment({ ZONEPLANE_TOKEN })
    const host = await findPort()
    this.withExposedPorts({ container: DNS, host, protocol: 'udp' }, { container: DNS, host, protocol: 'tcp' })
    const started = await super.start()
    const { address } = await lookup(started.getHost(), { order: 'ipv4first' })
    return new StartedZoneplaneContainer(started, ZONEPLANE_TOKEN, { address, port: host })
  }
}

/** A test's account, and a token of it that may do everything. */
export interface TestAccount {
  id: string
  email: string
  token: string
}

/** A Zoneplane that serves. */
export class StartedZoneplaneContainer extends AbstractStartedContainer {
  readonly #token: string
  readonly #dns: { address: string; port: number }

  constructor(started: StartedTestContainer, token: string, dns: { address: string; port: number }) {
    super(started)
    this.#token = token
    this.#dns = dns
  }

  /** The URL below which the paths of the API are: `http://…/api/v1/`. */
  getApiUrl(): string {
    return this.#url('/api/v1/')
  }

  /** A token of demo@example.test, the owner of example.test, that may do everything: ZONEPLANE_TOKEN, or a new one. */
  getToken(): string {
    return this.#token
  }

  /** The address of the nameserver, which is never a name. */
  getDnsHost(): string {
    return this.#dns.address
  }

  /** The port of the nameserver, for both UDP and TCP. */
  getDnsPort(): number {
    return this.#dns.port
  }

  /** Creates an account without a limit of domains, for one test. @throws Error if the service refuses */
  async createAccount(): Promise<TestAccount> {
    const response = await fetch(this.#url('/ci/accounts/'), { method: 'POST' })
    if (!response.ok) throw new Error(`POST /ci/accounts/: ${response.status} ${await response.text()}`)
    return (await response.json()) as TestAccount
  }

  #url(path: string): string {
    return `http://${this.getHost()}:${this.getMappedPort(API)}${path}`
  }
}

/**
 * A port that is free for both UDP and TCP. A client asks again over TCP, at the same port, if an answer over UDP was
 * truncated, but container runtimes choose ports for each protocol separately.
 */
async function findPort(): Promise<number> {
  for (;;) {
    const tcp = createServer().listen(0)
    const udp = createSocket('udp4')
    try {
      await once(tcp, 'listening')
      const { port } = tcp.address() as AddressInfo
      udp.bind(port)
      await once(udp, 'listening')
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    } finally {
      tcp.close()
      udp.close()
    }
  }
}
