import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPorts } from '../../src/private-servers/ports.ts'
import type { Key } from '../support/clients/dns-update.ts'
import { newFolder } from '../support/servers/folders.ts'
import { installed } from '../support/servers/programs.ts'
import { type RestartableServer, startRestartable } from '../support/servers/secondaries.ts'

// Nameservers of other projects that take DNS UPDATE.

interface Setting {
  folder: string
  zone: string
  key: Key
  port: number
}

const PROGRAMS = {
  bind: {
    program: 'named',
    // Names of hosts may have underscores, as with us.
    configure: ({ folder, zone, key, port }: Setting) => `
      options {
        directory "${folder}"; pid-file none; session-keyfile "${folder}/session.key"; recursion no; notify no;
        listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; dnssec-validation no; allow-transfer { any; };
        update-quota 1000;
      };
      controls { };
      key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
      zone "${zone}" { type primary; file "zone"; allow-update { key "${key.name}"; }; check-names ignore; };`,
    args: (file: string) => ['-g', '-n', '1', '-c', file],
  },
  knot: {
    program: 'knotd',
    configure: ({ folder, zone, key, port }: Setting) => `
server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
database:
  storage: ${folder}
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
acl:
  - id: update
    key: ${key.name}
    action: update
  - id: transfer
    address: 127.0.0.1
    action: transfer
zone:
  - domain: ${zone}
    storage: ${folder}
    file: zone
    zonefile-sync: -1
    acl: [update, transfer]
`,
    args: (file: string) => ['-c', file],
  },
}

export type Updated = keyof typeof PROGRAMS

/** Starts a nameserver with a zone that has a SOA and these NS, and that this key may update and anybody may transfer. */
export async function startUpdated(
  kind: Updated,
  { zone, key, nameservers }: { zone: string; key: Key; nameservers: string[] },
): Promise<RestartableServer> {
  const folder = newFolder()
  const { program, configure, args } = PROGRAMS[kind]
  const { dns: port } = await findPorts({ dns: 0, api: 0 }, ['127.0.0.1'])
  const soa = `${zone}. 3600 SOA ns1.zoneplane.test. hostmaster.zoneplane.test. 1 3600 600 1209600 3600`
  const lines = [soa, ...nameservers.map((each) => `${zone}. 3600 NS ${each}`), '']
  writeFileSync(join(folder, 'zone'), lines.join('\n'))
  const file = join(folder, 'server.conf')
  writeFileSync(file, configure({ folder, zone, key, port }))
  return startRestartable({ dnsHost: '127.0.0.1', dnsPort: port }, installed(program), args(file), folder)
}
