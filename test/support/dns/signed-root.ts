import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SignedParent } from '../rollovers/parent.ts'
import { newFolder } from '../servers/folders.ts'
import { freePort, ownNetwork } from '../servers/ports.ts'
import { installed } from '../servers/programs.ts'
import { startRestartable } from '../servers/secondaries.ts'
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
  writeFileSync(
    join(folder, 'knot.conf'),
    `
server:
  rundir: ${folder}
  listen: ${root.dnsHost}@${port}
database:
  storage: ${folder}
zone:
  - domain: .
    storage: ${folder}
    file: zone
    zonefile-load: whole
    journal-content: none
`,
  )
  const [, ds] = readFileSync(`${key}.ds`, 'utf8').trim().split('\tDS\t') as [string, string]
  const knot = await startRestartable(root, installed('knotd'), ['-c', join(folder, 'knot.conf')], folder)
  const resolver = { dnsHost: '127.0.0.1', dnsPort: await freePort() }
  const bind = await startValidator(resolver, root, ds)
  return {
    resolver,
    async close() {
      await Promise.all([knot.kill(), bind.kill()])
    },
  }
}

async function startValidator(server: Server, root: Server, ds: string) {
  const folder = newFolder()
  const file = join(folder, 'named.conf')
  const [tag, algorithm, digest, hex] = ds.split(' ')
  writeFileSync(join(folder, 'root'), `. 3600 NS r.\nr. 3600 A ${root.dnsHost}\n`)
  writeFileSync(
    file,
    `
options {
  directory "${folder}"; pid-file none; session-keyfile "${folder}/session.key"; port ${root.dnsPort};
  listen-on port ${server.dnsPort} { ${server.dnsHost}; }; listen-on-v6 { none; }; recursion yes; allow-recursion { any; };
  dnssec-validation yes; empty-zones-enable no; max-cache-ttl 1; max-ncache-ttl 1;
};
controls { };
trust-anchors { "." static-ds ${tag} ${algorithm} ${digest} "${hex}"; };
zone "." { type hint; file "root"; };
`,
  )
  return startRestartable(server, installed('named'), ['-g', '-4', '-n', '1', '-c', file], folder)
}
