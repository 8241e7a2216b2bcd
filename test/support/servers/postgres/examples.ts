import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../../../../src/installation/project.ts'
import { newFolder } from '../folders.ts'
import { installed } from '../programs.ts'
import { type RestartableServer, startRestartable } from '../secondaries.ts'

/** Where the nameservers of the files are in a test: at 127.0.0.1, with these ports, by the last number of their address. */
export interface Places {
  ports: ReadonlyMap<number, number>
  /** Of the key `transfer`. */
  secret: string
}

const HOST = '127.0.0.1'

function editBind(text: string, folder: string): string {
  const places = `"${folder}"; pid-file none; session-keyfile "${folder}/session.key";`
  return `${text.replace('"/var/cache/bind";', places)}controls { };\n`
}

function editKnot(text: string, folder: string): string {
  return text.replaceAll('/var/lib/knot', folder).replace('  user: knot:knot', `  rundir: ${folder}`)
}

function editNsd(text: string, folder: string): string {
  const files = ['xfrd.state', 'zone.list'].map((name) => `"${join(folder, name)}"`)
  const own = ['username: ""', 'database: ""', 'pidfile: ""', `zonesdir: "${folder}"`, `xfrdir: "${folder}"`]
  const all = [...own, `xfrdfile: ${files[0]}`, `zonelistfile: ${files[1]}`].map((line) => `  ${line}\n`)
  return `${text.replace('server:\n', `server:\n${all.join('')}`)}\nremote-control:\n  control-enable: no\n`
}

/** How they are started in the foreground, and which lines are added to their files. */
const BIND = { program: 'named', args: (file: string) => ['-g', '-n', '1', '-c', file], edit: editBind }
const KNOT = { program: 'knotd', args: (file: string) => ['-c', file], edit: editKnot }
const NSD = { program: 'nsd', args: (file: string) => ['-d', '-c', file], edit: editNsd }

/** For each file, the end of the server's address. */
const EXAMPLES = {
  'bind-hub.conf': { ...BIND, number: 32 },
  'knot.conf': { ...KNOT, number: 33 },
  'nsd.conf': { ...NSD, number: 34 },
  'catalog-bind.conf': { ...BIND, number: 35 },
  'catalog-knot.conf': { ...KNOT, number: 36 },
  'catalog-powerdns.conf': {
    program: 'pdns_server',
    number: 37,
    args: (file: string) => [`--config-dir=${dirname(file)}`, '--config-name=catalog', '--daemon=no', '--guardian=no'],
    edit: (text: string, folder: string) =>
      `${text.replace('/var/lib/powerdns', folder)}socket-dir=${folder}\nwrite-pid=no\nsecurity-poll-suffix=\n`,
  },
  'catalog-nsd.conf': { ...NSD, number: 38 },
  'dnsdist.conf': {
    program: 'dnsdist',
    number: 30,
    args: (file: string) => ['--supervised', '--disable-syslog', '-C', file],
    edit: (text: string) => text,
  },
} as const

/** Starts a nameserver with a file of docs/examples. */
export async function startExample(name: keyof typeof EXAMPLES, places: Places): Promise<RestartableServer> {
  const { program, number, args, edit } = EXAMPLES[name]
  const folder = newFolder()
  const own = places.ports.get(number)!
  const portOf = (address: string) => places.ports.get(Number(address.split('.').at(-1)))!
  const text = readFileSync(join(projectFolder(), 'docs', 'examples', name), 'utf8')
    .replace(/(10\.0\.0\.\d+)@53\b/g, (_, address: string) => `${HOST}@${portOf(address)}`)
    .replace(/(10\.0\.0\.\d+):53(?:53)?\b/g, (_, address: string) => `${HOST}:${portOf(address)}`)
    .replace(/(10\.0\.0\.\d+) key/g, (_, address: string) => `${HOST} port ${portOf(address)} key`)
    .replace('listen-on {', `listen-on port ${own} {`)
    .replace(/port([:=] ?)53\n/, `port$1${own}\n`)
    .replace(/10\.0\.0\.\d+/g, HOST)
    .replaceAll('SECRET', places.secret)
  // PowerDNS looks for the name pdns-catalog.conf.
  const file = join(folder, name === 'catalog-powerdns.conf' ? 'pdns-catalog.conf' : name)
  writeFileSync(file, edit(text, folder))
  chmodSync(file, 0o600)
  if (name === 'catalog-powerdns.conf') await consume(folder, portOf('10.0.0.31'))
  return startRestartable({ dnsHost: HOST, dnsPort: own }, installed(program), args(file), folder)
}

/** Runs the commands that the file names. */
async function consume(folder: string, port: number): Promise<void> {
  const run = promisify(execFile)
  const options = [`--config-dir=${folder}`, '--config-name=catalog']
  await run('pdnsutil', [...options, 'create-secondary-zone', 'catalog.example.net', `${HOST}:${port}`])
  await run('pdnsutil', [...options, 'set-kind', 'catalog.example.net', 'consumer'])
}
