import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../../../src/installation/project.ts'
import type { Server } from '../dns/dns.ts'
import { newFolder } from '../servers/folders.ts'
import { installed } from '../servers/programs.ts'
import { type RestartableServer, startRestartable } from '../servers/secondaries.ts'

const run = promisify(execFile)

/** A change at the apex of a zone: the type, and the content. */
export type ApexRecord = [type: 'DNSKEY' | 'CDS' | 'CDNSKEY', content: string]

/** A provider of its own: a Knot that signs a zone with its own key, beside the keys of others (RFC 8901, model 2). */
export interface Signer extends RestartableServer {
  /** Adds and removes records of other signers, all at once. */
  change(change: { add?: ApexRecord[]; remove?: ApexRecord[] }): Promise<void>
}

/**
 * Starts docs/examples/signer-knot.conf, with another address, zone and TTL.
 * @param contents of the zone, with a SOA
 * @param ttl of DNSKEY, CDS and CDNSKEY, in seconds
 */
export async function startSigner(
  { dnsHost, dnsPort }: Server,
  zone: string,
  contents: string,
  ttl: number,
): Promise<Signer> {
  const folder = newFolder()
  const [file, socket] = [join(folder, 'knot.conf'), join(folder, 'control')]
  const example = readFileSync(join(projectFolder(), 'docs', 'examples', 'signer-knot.conf'), 'utf8')
  const configuration = example
    .replace('192.0.2.53@53', `${dnsHost}@${dnsPort}`)
    .replace('user: knot:knot', `rundir: ${folder}`)
    .replaceAll('/var/lib/knot', folder)
    .replaceAll('shop.example', zone)
    .replace('dnskey-ttl: 1h', `dnskey-ttl: ${ttl}`)
  writeFileSync(file, `${configuration}control:\n  listen: ${socket}\n`)
  writeFileSync(join(folder, `${zone}.zone`), contents)
  const server = { dnsHost, dnsPort }
  const running = await startRestartable(server, installed('knotd'), ['-c', file], folder)
  const knotc = (...args: string[]) => run('knotc', ['--socket', socket, ...args])
  return {
    ...running,
    async change({ add = [], remove = [] }) {
      await knotc('zone-begin', zone)
      for (const [type, content] of add) await knotc('zone-set', zone, '@', String(ttl), type, content)
      for (const [type, content] of remove) await knotc('zone-unset', zone, '@', type, content)
      await knotc('zone-commit', zone)
    },
  }
}
