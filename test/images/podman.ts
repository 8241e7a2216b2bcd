import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../support/eventually.ts'

/** Where images, and the containers of a run, are kept: apart from those of the user, who may use podman, too. */
export const STORE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'zoneplane', 'images')
const RUN = join(STORE, 'run')
const SETTINGS = join(STORE, 'containers.conf')

export const isRoot = process.getuid?.() === 0

/**
 * The command that runs another one with mounts, processes and, if so wanted, a network of its own, so that podman works
 * without systemd and leaves nothing behind. Only root needs it; other users' podman makes namespaces by itself.
 */
export function isolated(command: string[], options: { network: boolean }): string[] {
  if (!isRoot) return command
  // crun refuses systems that have both versions of control groups. A process that has only version 1 suits it.
  const setup = `mount -t tmpfs tmpfs ${quoted(RUN)}
    if [ -e /sys/fs/cgroup/unified ]; then umount /sys/fs/cgroup/unified; fi
    mount -t tmpfs tmpfs /dev/shm`
  // A network of its own has no need of what other programs keep in /run.
  const network = 'ip link set lo up && mount -t tmpfs tmpfs /run'
  const namespaces = [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    ...(options.network ? ['--net'] : []),
  ]
  const script = `set -e; ${setup}; ${options.network ? network : ':'}; exec "$@"`
  return ['unshare', ...namespaces, 'sh', '-c', script, 'sh', ...command]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Makes the folder of images, and podman's settings. */
export function prepareStore(): void {
  mkdirSync(RUN, { recursive: true })
  writeFileSync(
    SETTINGS,
    `[containers]
# What every process may have; podman's own defaults need a privilege.
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
${isRoot ? 'cgroup_manager = "cgroupfs"\nevents_logger = "file"' : ''}
[network]
network_config_dir = "${join(RUN, 'networks')}"
`,
  )
}

function commandLine(args: string[]): string[] {
  return ['podman', `--root=${join(STORE, 'storage')}`, `--runroot=${RUN}`, `--tmpdir=${join(RUN, 'tmp')}`, ...args]
}

const environment = { ...process.env, CONTAINERS_CONF: SETTINGS }

/**
 * Runs podman and returns what it prints.
 * @throws Error with what it prints to stderr
 */
export async function podman(...args: string[]): Promise<string> {
  const [file, ...rest] = commandLine(args)
  const options = { env: environment, maxBuffer: 2 ** 26 }
  const { stdout } = await promisify(execFile)(file!, rest, options).catch((error: unknown) => {
    throw new Error(`podman ${args.join(' ')}: ${(error as { stderr: string }).stderr}`)
  })
  return stdout.trim()
}

/** Runs podman where it may reach the network, outside the tests; what it prints is shown. Resolves with the exit code. */
export async function podmanOutside(...args: string[]): Promise<number> {
  const [file, ...rest] = isolated(commandLine(args), { network: false })
  const child = spawn(file!, rest, { env: environment, stdio: ['ignore', 'inherit', 'inherit'] })
  return await new Promise((resolve, reject) =>
    child
      .once('exit', (code) => {
        resolve(code ?? 1)
      })
      .once('error', reject),
  )
}

/** Starts the service of podman that speaks Docker's protocol, and waits for its socket. Returns what ends it. */
export async function startService(socket: string): Promise<() => void> {
  const [file, ...rest] = commandLine(['system', 'service', '--time=0', `unix://${socket}`])
  const child = spawn(file!, rest, { env: environment, stdio: 'ignore' })
  await eventually(async () => existsSync(socket))
  return () => child.kill()
}

/** The command that runs another one where the containers' addresses can be reached. */
export function inNetwork(...command: string[]): string[] {
  return isRoot ? command : commandLine(['unshare', '--rootless-netns', ...command])
}
