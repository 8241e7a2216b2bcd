import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Account, unprivilegedAccount } from '../../../src/private-servers/account.ts'
import { send } from '../../../src/private-servers/running.ts'
import { eventually } from '../eventually.ts'
import { newFolder } from '../servers/folders.ts'
import { childrenOf } from '../servers/process-tree.ts'
import { type Program, startProgram } from '../servers/programs.ts'

/** What becomes of a machine, or of a program: a machine that is killed, as by a power failure, is cut off, too. */
export type Loss = 'killed' | 'hanging' | 'cut off'

/** How to start a program in the foreground. */
export interface Command {
  program: string
  args: string[]
  env?: Record<string, string>
  /** The user that it runs as; root if there is none. */
  user?: string
}

interface Service extends Command {
  running?: Program
  isLost: boolean
}

const run = promisify(execFile)
const PATH = process.env['PATH']!

/** A network of machines, each in namespaces of this one, where the machines see only each other and this machine. */
export class Network {
  /** The beginning of all addresses. */
  readonly prefix: string
  readonly #bridge: Space

  private constructor(prefix: string, bridge: Space) {
    this.prefix = prefix
    this.#bridge = bridge
  }

  /** @param prefix the beginning of all addresses; this machine has number 254 */
  static async start(prefix: string): Promise<Network> {
    const bridge = await openSpace('ip link add bridge type bridge; ip link set bridge up')
    const uplink = `zp${bridge.pid}`
    await run('ip', `link add ${uplink} type veth peer name uplink netns ${bridge.pid}`.split(' '))
    await enter(bridge, 'ip link set uplink master bridge up')
    await run('ip', `addr add ${prefix}254/24 dev ${uplink}`.split(' '))
    await run('ip', `link set ${uplink} up`.split(' '))
    return new Network(prefix, bridge)
  }

  /** A machine with these addresses, given by their last numbers, and with copies of the folders /etc and /var. */
  async machine(name: string, ...numbers: number[]): Promise<Machine> {
    const folder = newFolder()
    for (const part of ['etc', 'var'].flatMap((each) => [each, `${each}.work`])) mkdirSync(`${folder}/${part}`)
    const overlays = ['etc', 'var'].map(
      (each) =>
        `mount -t overlay overlay -o lowerdir=/${each},upperdir=${folder}/${each},workdir=${folder}/${each}.work /${each}`,
    )
    const space = await openSpace([...overlays, 'mount -t tmpfs tmpfs /run', 'ip link set lo up'].join('; '))
    const port = `port${space.pid}`
    await run('ip', `link add ${port} netns ${this.#bridge.pid} type veth peer name eth0 netns ${space.pid}`.split(' '))
    await enter(this.#bridge, `ip link set ${port} master bridge up`)
    const addresses = numbers.map((number) => `ip addr add ${this.prefix}${number}/24 dev eth0`)
    await enter(space, [...addresses, 'ip link set eth0 up'].join('; '))
    const link = (state: 'up' | 'down') => enter(this.#bridge, `ip link set ${port} ${state}`)
    return new Machine(name, `${this.prefix}${numbers[0]}`, space, link)
  }

  /** Removes the network. The machines stay until they are stopped. */
  async stop(): Promise<void> {
    await closeSpace(this.#bridge)
  }
}

/** A machine of a network. Its programs are started again when they end, unless they are lost. */
export class Machine {
  readonly name: string
  readonly address: string
  readonly #space: Space
  readonly #link: (state: 'up' | 'down') => Promise<string>
  readonly #services = new Map<string, Service>()
  #isStopped = false

  constructor(name: string, address: string, space: Space, link: (state: 'up' | 'down') => Promise<string>) {
    this.name = name
    this.address = address
    this.#space = space
    this.#link = link
  }

  /** Writes a file, which only its owner can read. @param owner root if there is none */
  put(path: string, text: string, owner?: string): void {
    const file = `/proc/${this.#space.pid}/root${path}`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, 0o600)
    if (owner !== undefined) this.give(path, owner)
  }

  /** Makes a folder, if it is not there, and makes a user its owner. */
  folder(path: string, owner: string): void {
    mkdirSync(`/proc/${this.#space.pid}/root${path}`, { recursive: true })
    this.give(path, owner)
  }

  give(path: string, owner: string): void {
    const { uid, gid } = accountOf(owner)
    chownSync(`/proc/${this.#space.pid}/root${path}`, uid, gid)
  }

  /** Runs a command to its end, and returns what it prints. */
  run(script: string): Promise<string> {
    return enter(this.#space, script)
  }

  /** Starts a program, and starts it again whenever it ends. */
  start(name: string, command: Command): void {
    const service = { ...command, isLost: false }
    this.#services.set(name, service)
    this.#run(service)
  }

  #run(service: Service): void {
    const { program, args, env, user } = service
    const command = [...(user === undefined ? [] : as(user)), program, ...args]
    service.running = startProgram('nsenter', [...inside(this.#space), ...command], { PATH, ...env })
    void service.running.ended.then(async () => {
      await sleep(500)
      if (!service.isLost && !this.#isStopped) this.#run(service)
    })
  }

  /** @param name of a program; without it, the whole machine is lost */
  async lose(how: Loss, name?: string): Promise<void> {
    if (name === undefined && how !== 'hanging') await this.#link('down')
    if (how === 'cut off') return
    const lost = name === undefined ? [...this.#services.values()] : [this.#services.get(name)!]
    if (how === 'killed') for (const service of lost) service.isLost = true
    const all = () => (name === undefined ? processesIn(this.#space) : treeOf(lost[0]!.running!.child.pid!))
    for (const pid of all()) send(pid, how === 'hanging' ? 'SIGSTOP' : 'SIGKILL')
    if (how === 'hanging') return
    await Promise.all(lost.map(({ running }) => exited(running!)))
    // Those that were being started.
    for (const pid of all()) send(pid, 'SIGKILL')
  }

  /** Ends every loss: starts what was killed, lets go on what hangs, and connects the machine. */
  async bring(): Promise<void> {
    await this.#link('up')
    for (const pid of processesIn(this.#space)) send(pid, 'SIGCONT')
    for (const service of this.#services.values()) {
      // nsenter, which is outside, stops with the program that it has started.
      service.running!.child.kill('SIGCONT')
      if (service.isLost) {
        service.isLost = false
        this.#run(service)
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await closeSpace(this.#space)
  }
}

/** Waits until a program has ended; what it has started may live on, and write on. */
async function exited({ child }: Program): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Namespaces, and the process that holds them: all others in them end with it. */
interface Space {
  program: Program
  pid: number
}

async function openSpace(script: string): Promise<Space> {
  const kinds = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']
  const waiting = `set -e; ${script}; echo ready; while :; do sleep 60 || :; done`
  const program = startProgram('unshare', [...kinds, 'sh', '-c', waiting], { PATH })
  await eventually(() => {
    if (program.child.exitCode !== null) throw new Error(program.output())
    return program.output().includes('ready')
  })
  return { program, pid: childrenOf(program.child.pid!)[0]! }
}

async function closeSpace({ program }: Space): Promise<void> {
  program.child.kill('SIGKILL')
  await program.ended
}

async function enter(space: Space, script: string): Promise<string> {
  return (await run('nsenter', [...inside(space), 'sh', '-ec', script])).stdout
}

function inside({ pid }: Space): string[] {
  return ['--target', String(pid), '--net', '--mount', '--pid', '--ipc', '--']
}

function as(user: string): string[] {
  const { uid, gid } = accountOf(user)
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--']
}

function accountOf(name: string): Account {
  const account = unprivilegedAccount(name)
  if (account?.name !== name) throw new Error(`there is no user ${name}`)
  return account
}

/** The processes in namespaces, but the one that holds them. */
function processesIn({ pid }: Space): number[] {
  const own = readlinkSync(`/proc/${pid}/ns/pid`)
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== pid && isIn(entry, own))
    .map(Number)
}

function isIn(pid: string, namespace: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === namespace
  } catch {
    return false
  }
}

/** A process, and all that it has started. */
function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)]
}

/** Why this machine cannot have others in namespaces; undefined if it can. */
export async function lackOfMachines(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can make machines of namespaces'
  try {
    const network = await Network.start('198.19.255.')
    await network.stop()
    return undefined
  } catch (error) {
    return `namespaces cannot be made: ${String(error)}`
  }
}
