import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SignedParent } from '../rollovers/parent.ts'
import { newFolder } from '../servers/folders.ts'
import { freePort, ownNetwork } from '../servers/ports.ts'
import { startKnot, startResolver } from '../servers/secondaries.ts'
import type { Server } from './dns.ts'

const run = promisify(execFile)

/** A signed root (Knot) above `example`, and a resolver (BIND) that trusts only the root. */
export interface SignedRoot {
  resolver: Server
  close(): Promise<void>
}

/**
 * @param port on which the resolver asks all nameservers
 * @param others what the root has besides, such as addresses of nameservers
 */
export async function startSignedRoot(parent: SignedParent, port: number, others: string[] = []): Promise<SignedRoot> {
  const root = { dnsHost: `${ownNetwork()}1`, dnsPort: port }
  const folder = newFolder()
  const { stdout } = await run('ldns-keygen', ['-k', '-a', 'ECDSAP256SHA256', '.'], { cwd: folder })
  const key = join(folder, stdout.trim())
  const lines = [
    '. SOA r. hostmaster. 1 3600 600 1209600 2',
    ...['. NS r.', `r. A ${root.dnsHost}`, `example. DS ${parent.ds}`, ...others],
    ...parent.servers.flatMap(({ dnsHost }, i) => {
      const host = `${'ab'[i]}.nic.example.`
      return [`example. NS ${host}`, `${host} A ${dnsHost}`]
    }),
  ]
  writeFileSync(join(folder, 'unsigned'), ['$TTL 60', ...lines, ''].join('\n'))
  await run('ldns-signzone', ['-o', '.', '-f', join(folder, 'zone'), join(folder, 'unsigned'), key])
  const [, ds] = readFileSync(`${key}.ds`, 'utf8').trim().split('\tDS\t') as [string, string]
  const [tag, algorithm, digest, hex] = ds.split(' ')
  const knot = await startKnot(root, '.', folder)
  const resolver = { dnsHost: '127.0.0.1', dnsPort: await freePort() }
  const trust = `trust-anchors { "." static-ds ${tag} ${algorithm} ${digest} "${hex}"; };`
  const bind = await startResolver(resolver, root, 'dnssec-validation yes;', trust)
  return {
    resolver,
    async close() {
      await Promise.all([knot.kill(), bind.kill()])
    },
  }
}
