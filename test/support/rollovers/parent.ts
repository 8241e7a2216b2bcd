import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pLimit from 'p-limit'
import { ask, type Server } from '../dns/dns.ts'
import { eventually } from '../eventually.ts'
import { newFolder } from '../servers/folders.ts'
import { ownNetwork } from '../servers/ports.ts'
import { type RestartableServer, startKnot } from '../servers/secondaries.ts'

const run = promisify(execFile)

/** The TTL of DS records, in seconds: longer than those of the domains, so that a forgotten wait shows. */
export const DS_TTL = 5

/** How signatures are broken: they have expired, or have other octets. */
export type Breakage = 'expired' | 'altered'

/** The zone `example` above our domains: signed, and on two nameservers. */
export interface SignedParent {
  servers: [RestartableServer, RestartableServer]
  /** The content of its DS record, which resolvers trust. */
  ds: string
  /** Sets the DS of a domain, and its nameservers, without which it is ours; resolves when the servers have them. */
  delegate(name: string, ds: string[], hosts?: string[]): Promise<void>
  /** The DS of a domain. */
  dsOf(name: string): string[]
  close(): Promise<void>
}

/**
 * @param port of the servers, each of which has an address of its own
 * @param options.hosts to which it delegates, unless a call says otherwise
 * @param options.lines what it has besides, such as their addresses
 * @param options.broken how its signatures are broken, if they are
 */
export async function startParent(
  port: number,
  {
    hosts: usual = ['ns1.zoneplane.test'],
    lines: others = [],
    broken,
  }: { hosts?: string[]; lines?: string[]; broken?: Breakage | undefined } = {},
): Promise<SignedParent> {
  const network = ownNetwork()
  const addresses = [`${network}1`, `${network}2`] as const
  const folders = [newFolder(), newFolder()] as const
  const keys = newFolder()
  const { stdout } = await run('ldns-keygen', ['-k', '-a', 'ECDSAP256SHA256', 'example'], { cwd: keys })
  const key = join(keys, stdout.trim())
  const delegations = new Map<string, { ds: string[]; hosts: string[] }>()
  let serial = 0

  async function write(folder: string): Promise<void> {
    const lines = [
      `example. SOA a.nic.example. hostmaster.nic.example. ${serial} 3600 600 1209600 2`,
      ...addresses.flatMap((address, i) => {
        const host = `${'ab'[i]}.nic.example.`
        return [`example. NS ${host}`, `${host} A ${address}`]
      }),
      ...others,
      ...[...delegations].flatMap(([name, { ds, hosts }]) => [
        ...hosts.map((host) => `${name}. NS ${host}.`),
        ...ds.map((content) => `${name}. ${DS_TTL} DS ${content}`),
      ]),
    ]
    writeFileSync(join(folder, 'unsigned'), ['$TTL 60', ...lines, ''].join('\n'))
    const zone = join(folder, 'zone')
    const dates = broken === 'expired' ? ['-i', '20200101', '-e', '20200201'] : []
    await run('ldns-signzone', ['-o', 'example', ...dates, '-f', zone, join(folder, 'unsigned'), key])
    if (broken === 'altered') writeFileSync(zone, altered(readFileSync(zone, 'utf8')))
  }

  async function start(i: 0 | 1): Promise<RestartableServer> {
    await write(folders[i])
    return startKnot({ dnsHost: addresses[i], dnsPort: port }, 'example', folders[i])
  }

  serial++
  const servers: SignedParent['servers'] = [await start(0), await start(1)]
  const oneAtATime = pLimit(1)
  return {
    servers,
    ds: readFileSync(`${key}.ds`, 'utf8').trim().split('\tDS\t')[1]!,
    delegate: (name, ds, hosts = usual) =>
      oneAtATime(async () => {
        delegations.set(name, { ds, hosts })
        serial++
        for (const [i, server] of servers.entries()) {
          await write(folders[i]!)
          server.reload()
          await eventually(async () => (await serialOf(server)) === serial)
        }
      }),
    dsOf: (name) => delegations.get(name)?.ds ?? [],
    async close() {
      await Promise.all(servers.map((server) => server.kill()))
    },
  }
}

/** A zone file whose signatures begin with another octet. */
function altered(zone: string): string {
  return zone.replace(/(\tRRSIG\t.* )(.)(?=\S+$)/gm, (_, before: string, first: string) => {
    return `${before}${first === 'A' ? 'B' : 'A'}`
  })
}

async function serialOf(server: Server): Promise<number | undefined> {
  const [soa] = (await ask(server, 'example', 'SOA')).answers
  return soa?.type === 'SOA' ? soa.data.serial : undefined
}
