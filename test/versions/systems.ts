import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findProgram } from '../../src/installation/programs.ts'
import { commandFor } from '../../src/private-servers/account.ts'

// Debian systems in folders of their own, made by debootstrap and entered by chroot, with their own processes.

/** What is made once; delete it for newer packages. */
const CACHE = process.env['VERSIONS_CACHE'] ?? '/var/cache/zoneplane-versions'
/** Where npm finds the certificates of the network's own authority, if it has one. */
const AUTHORITY = process.env['NODE_EXTRA_CA_CERTS']

/** Why no system can be made here; undefined if it can. */
export function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make and enter Debian systems'
  if (findProgram('debootstrap') === undefined) return 'debootstrap is missing'
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0) return 'namespaces are forbidden here'
  return undefined
}

/** The folder with Node of this major version, and with npm, in the layout of /usr/local. */
export function node(major: number): string {
  return cached(`node-${major}`, (folder) => {
    run('npm', [
      'install',
      '--global',
      '--prefix',
      folder,
      `node-${process.platform}-${process.arch}@${major}`,
      'npm@10',
    ])
  })
}

/** The folder of a Debian with nothing but what is essential, and some packages under a name for them all. */
export function debian(suite: string, name?: string, packages: string[] = []): string {
  const essential = cached(suite, (folder) => {
    run('unshare', ['--mount', 'debootstrap', '--variant=minbase', suite, folder])
  })
  if (name === undefined) return essential
  return cached(`${suite}-${name}`, (folder) => {
    run('cp', ['--archive', essential, folder])
    prepare(folder)
    // A mirror that lags behind is as good.
    const update = 'apt-get -o Acquire::Check-Valid-Until=false update'
    const install = 'DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends'
    const [file, args] = commandIn(folder, undefined, `${update} && ${install} ${packages.join(' ')} && apt-get clean`)
    run(file, args)
  })
}

/** Calls `work` with a copy of the system, which is deleted in the end. */
export async function withCopy<T>(system: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(CACHE, `running-${process.pid}-${basename(system)}`)
  try {
    run('cp', ['--archive', system, folder])
    prepare(folder)
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Runs a shell command as root in a system; no process of it is left in the end.
 * @param local what the system has as /usr/local
 * @returns whether it succeeded, which it does not if it was aborted
 */
export async function runIn(
  system: string,
  command: string,
  { local, print, signal }: { local: string | undefined; print: (text: string) => void; signal: AbortSignal },
): Promise<boolean> {
  if (signal.aborted) return false
  const [program, programArgs] = commandIn(system, local, command)
  const { file, args } = commandFor(program, programArgs, { account: undefined, deathSignal: 'SIGKILL' })
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  signal.addEventListener('abort', () => child.kill('SIGKILL'))
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', print)
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve(code === 0)
    })
  })
}

/** A command that runs the shell command in the system, with its own /proc, processes, and nothing of our environment. */
function commandIn(system: string, local: string | undefined, command: string): [file: string, args: string[]] {
  const environment = [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/root',
    'LANG=C.UTF-8',
  ]
  if (AUTHORITY !== undefined) environment.push(`NODE_EXTRA_CA_CERTS=${COPY_OF_AUTHORITY}`)
  const enter = `
    set -e; mount --bind "$1" "$1"; cd "$1"
    mount --rbind /dev dev; mount -t tmpfs tmpfs dev/shm; mount -t proc proc proc
    [ -z "$2" ] || mount --bind "$2" usr/local
    chroot . env -i ${environment.join(' ')} sh -c "$3"; exit`
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child=SIGKILL']
  return ['unshare', [...namespaces, 'sh', '-c', enter, 'sh', system, local ?? '', command]]
}

const COPY_OF_AUTHORITY = '/etc/network-authority.crt'

/** What the installer of a Debian would set up: names, and no services that start by themselves. */
function prepare(system: string): void {
  writeFileSync(join(system, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n')
  copyFileSync('/etc/resolv.conf', join(system, 'etc/resolv.conf'))
  if (AUTHORITY !== undefined) copyFileSync(AUTHORITY, join(system, COPY_OF_AUTHORITY))
}

/** A folder in the cache, which `make` makes the first time. */
function cached(name: string, make: (folder: string) => void): string {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  console.log(`versions: making ${folder}`)
  mkdirSync(CACHE, { recursive: true })
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  make(unfinished)
  renameSync(unfinished, folder)
  return folder
}

function run(file: string, args: string[]): void {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], encoding: 'utf8' })
}
