import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { projectFolder } from '../../../src/installation/project.ts'
import type { Server } from '../dns/dns.ts'
import { eventually, eventuallyIs } from '../eventually.ts'
import { areHealthy, statusOf } from '../servers/postgres/patroni.ts'
import { installed } from '../servers/programs.ts'
import { answers } from '../servers/secondaries.ts'
import { assignments, Examples, exchanged } from './examples.ts'
import { type Machine, Network } from './machine.ts'

// The setup without a single point of failure of docs/deployment.md: the files of docs/examples, with a network, passwords
// and keys of their own.

/** Which numbers in the network the files give the machines; the first is that of the machine, the other is PowerDNS'. */
const NUMBERS = {
  ...{ lb1: [13], lb2: [14], api1: [11, 31], api2: [12, 32] },
  ...{ pg1: [21], pg2: [22], pg3: [23], bind: [35], knot: [36] },
} as const
type Name = keyof typeof NUMBERS

const OURS = [process.execPath, '--enable-source-maps', join(projectFolder(), 'build', 'src', 'cli.js')]
/** What differs: the clients of a test write faster than throttles let them, and nobody is to be asked. */
const OF_TEST = { THROTTLE: 'off', DELEGATION_CHECKS: 'off', RESOLVERS: '127.0.0.1:9', LOG_LEVEL: 'warn' }

/** The machines, and where their clients find them. */
export class Reference {
  readonly machines: Record<Name, Machine>
  readonly #network: Network
  readonly #examples: Examples
  /** Where the API is, without path, and the certificate that its clients have to trust. */
  readonly api: { url: string; certificate: string }
  /** A token that may create domains. */
  token = ''

  private constructor(network: Network, machines: Record<Name, Machine>, certificate: string) {
    this.#network = network
    this.#examples = new Examples(network.prefix)
    this.machines = machines
    this.api = { url: `https://${network.prefix}10`, certificate }
  }

  /** @param prefix the beginning of all addresses */
  static async start(prefix: string): Promise<Reference> {
    const network = await Network.start(prefix)
    const named = Object.entries(NUMBERS).map(
      async ([name, all]) => [name, await network.machine(name, ...all)] as const,
    )
    const machines = Object.fromEntries(await Promise.all(named)) as Record<Name, Machine>
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'api' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: `${prefix}10` }] }],
    })
    const reference = new Reference(network, machines, cert)
    for (const [i, machine] of reference.#postgres.entries()) reference.#startPostgres(machine, i + 1)
    reference.#startPowerDns('api1', 31)
    reference.#startPowerDns('api2', 32)
    reference.#startSecondaries()
    for (const name of ['lb1', 'lb2'] as const) reference.#startBalancer(name, key + cert)
    await reference.#createDatabase()
    for (const name of ['api1', 'api2'] as const) reference.#startApi(name)
    await reference.healthy()
    await reference.#command(`primary sync ${prefix}32:8081`)
    await reference.#command('account create test@example.net')
    const made = await reference.#command('token create test@example.net --create-domain --delete-domain')
    reference.token = /^secret +(\S+)$/m.exec(made)![1]!
    return reference
  }

  /** The addresses behind the names of the nameservers, which dnsdist has. */
  get nameservers(): string[] {
    return [15, 16].map((number) => `${this.#network.prefix}${number}`)
  }

  /** The nameservers behind them, and both PowerDNS: all that serve the zones. */
  get servers(): Server[] {
    return [35, 36, 31, 32].map((number) => ({ dnsHost: `${this.#network.prefix}${number}`, dnsPort: 53 }))
  }

  /** The machine with the leader of Postgres. */
  async leader(): Promise<Machine> {
    return eventually(async () => {
      const all = await Promise.all(this.#postgres.map(statusOf))
      return this.#postgres.find((_, i) => all[i]?.role === 'master' && all[i].state === 'running')
    }) as Promise<Machine>
  }

  /** The machine with the standby of Postgres that has all acknowledged commits. */
  async replica(): Promise<Machine> {
    return eventually(async () => {
      const all = await Promise.all(this.#postgres.map(statusOf))
      return this.#postgres.find((_, i) => all[i]?.sync_standby === true)
    }) as Promise<Machine>
  }

  /** The machines with the active PowerDNS and with the standby. */
  async primaries(): Promise<{ active: Machine; standby: Machine }> {
    const name = await this.#ask('select name from primaries', 'zoneplane')
    const { api1, api2 } = this.machines
    return name.startsWith(`${this.#network.prefix}31:`)
      ? { active: api1, standby: api2 }
      : { active: api2, standby: api1 }
  }

  /** The balancer that has the address of the API now. */
  async balancer(): Promise<Machine> {
    const { lb1, lb2 } = this.machines
    const addresses = await lb1.run('ip -brief addr show eth0')
    return addresses.includes(`${this.#network.prefix}10/`) ? lb1 : lb2
  }

  /** Waits until nothing is lost any more. */
  async healthy(): Promise<void> {
    await eventuallyIs(() => this.#ailing(), [])
  }

  /** What does not work. */
  async #ailing(): Promise<string[]> {
    const { lb1, lb2, api1, api2 } = this.machines
    const postgres = await Promise.all(this.#postgres.map(statusOf))
    const ready = [api1, api2].map(isReady)
    const dnsdist = [lb1, lb2].map(({ address }) => ({ dnsHost: address, dnsPort: 53 }))
    const answering = [...dnsdist, ...this.servers].map(answers)
    const outcomes = [...(await Promise.all([...ready, ...answering])), areHealthy(postgres)]
    const names = ['api1', 'api2', 'lb1', 'lb2', 'bind', 'knot', 'pdns1', 'pdns2', JSON.stringify(postgres)]
    return names.filter((_, i) => !outcomes[i])
  }

  async stop(): Promise<void> {
    await Promise.all([...Object.values(this.machines).map((machine) => machine.stop()), this.#network.stop()])
  }

  #startPostgres(machine: Machine, number: number): void {
    const own = (text: string) => text.replaceAll(`${this.#network.prefix}21`, machine.address)
    machine.folder('/run/postgresql', 'postgres')
    const [before, cluster, after] = this.#examples.of('etcd.env').split(/^(ETCD_INITIAL_CLUSTER=.*)$/m)
    const settings = own(before! + after!).replace('=pg1', `=pg${number}`) + cluster!
    machine.start('etcd', { program: installed('etcd'), args: [], env: assignments(settings), user: 'etcd' })
    const [hosts] = /^ {2}hosts: .*$/m.exec(this.#examples.of('patroni.yml'))!
    const text = own(this.#examples.of('patroni.yml')).replace('name: pg1', `name: pg${number}`)
    machine.put('/etc/patroni/config.yml', text.replace(/^ {2}hosts: .*$/m, hosts), 'postgres')
    machine.start('patroni', { program: installed('patroni'), args: ['/etc/patroni/config.yml'], user: 'postgres' })
  }

  #startSecondaries(): void {
    const { bind, knot } = this.machines
    bind.folder('/run/named', 'bind')
    bind.put('/etc/bind/named.conf', this.#examples.of('no-single-point/bind.conf'), 'bind')
    bind.start('bind', { program: installed('named'), args: ['-f', '-n', '1', '-u', 'bind'] })
    knot.folder('/run/knot', 'knot')
    knot.put('/etc/knot/knot.conf', this.#examples.of('no-single-point/knot.conf'), 'knot')
    knot.start('knot', { program: installed('knotd'), args: [] })
  }

  #startBalancer(name: 'lb1' | 'lb2', certificate: string): void {
    const machine = this.machines[name]
    machine.put('/etc/haproxy/zoneplane.pem', certificate)
    machine.put(
      '/etc/haproxy/haproxy.cfg',
      this.#examples.of('haproxy.cfg').replace('timeout check 8s', 'timeout check 2s'),
    )
    machine.put('/etc/dnsdist/dnsdist.conf', this.#examples.of('no-single-point/dnsdist.conf'))
    const text = this.#examples.of('no-single-point/keepalived.conf')
    machine.put('/etc/keepalived/keepalived.conf', name === 'lb1' ? text : exchanged(text))
    machine.start('haproxy', { program: installed('haproxy'), args: ['-db', '-f', '/etc/haproxy/haproxy.cfg'] })
    machine.start('dnsdist', { program: installed('dnsdist'), args: ['--supervised', '--disable-syslog'] })
    machine.start('keepalived', { program: installed('keepalived'), args: ['--dont-fork', '--log-console'] })
  }

  #startApi(name: 'api1' | 'api2'): void {
    const machine = this.machines[name]
    machine.put('/etc/haproxy/haproxy.cfg', this.#examples.of('haproxy-postgres.cfg'))
    machine.start('haproxy', { program: installed('haproxy'), args: ['-db', '-f', '/etc/haproxy/haproxy.cfg'] })
    const settings = assignments(this.#examples.of('no-single-point/zoneplane.env'))
    const env = { ...settings, HOST: machine.address, ...OF_TEST }
    machine.start('zoneplane', { program: OURS[0]!, args: [...OURS.slice(1), 'start'], env })
  }

  #startPowerDns(name: 'api1' | 'api2', number: number): void {
    const machine = this.machines[name]
    machine.folder('/run/pdns', 'pdns')
    machine.folder('/var/lib/powerdns/zoneplane', 'pdns')
    const common = readFileSync(join(projectFolder(), 'pdns', 'pdns.conf'), 'utf8')
    const { prefix } = this.#network
    const own = this.#examples.of('no-single-point/powerdns.conf').replaceAll(`${prefix}31`, `${prefix}${number}`)
    machine.put('/etc/powerdns/pdns-zoneplane.conf', common + own)
    const identity = ['--setuid=pdns', '--setgid=pdns', '--socket-dir=/run/pdns']
    machine.start('powerdns', { program: installed('pdns_server'), args: ['--config-name=zoneplane', ...identity] })
  }

  /** As the page says, but with a password of its own. */
  async #createDatabase(): Promise<void> {
    const role = `create role zoneplane login password '${this.#examples.secret('PASSWORD-OF-ZONEPLANE')}'`
    for (const sql of [role, 'create database zoneplane owner zoneplane']) await this.#ask(sql, 'postgres')
  }

  /** Asks the leader as superuser. */
  async #ask(sql: string, database: string): Promise<string> {
    const psql = `psql --no-align --tuples-only --host=/run/postgresql --command="${sql}" ${database}`
    return (await this.leader()).run(`setpriv --reuid=postgres --clear-groups ${psql}`)
  }

  /** Runs a command of the operator on api1. */
  #command(command: string): Promise<string> {
    const env = Object.entries(assignments(this.#examples.of('no-single-point/zoneplane.env')))
    return this.machines.api1.run(
      ['env', ...env.map(([name, value]) => `'${name}=${value}'`), ...OURS, command].join(' '),
    )
  }

  get #postgres(): Machine[] {
    const { pg1, pg2, pg3 } = this.machines
    return [pg1, pg2, pg3]
  }
}

/** Whether the process on a machine can read and write. */
async function isReady({ address }: Machine): Promise<boolean> {
  const answer = await fetch(`http://${address}:8080/readyz`, { signal: AbortSignal.timeout(5000) }).catch(
    () => undefined,
  )
  const text = (await answer?.text().catch(() => undefined)) ?? ''
  return answer?.status === 200 && !text.includes('unavailable')
}
