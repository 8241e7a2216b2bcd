import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { eventually } from '../../support/eventually.ts'
import { newFolder } from '../../support/servers/folders.ts'
import type { Program } from '../../support/servers/programs.ts'
import { type Outcome, run, start } from './programs.ts'

/** Two hosts, in networks of their own, with a cable between them: `wire` of each. The server has 192.0.2.1. */
export interface Network {
  /** Starts a program on the server, where 127.0.0.1 port 53 is the door, by UDP. */
  serve: (program: string, ...args: string[]) => Program
  /** Runs a program on the client. */
  onClient: (program: string, ...args: string[]) => Promise<Outcome>
  close: () => Promise<void>
}

/** Why there can be no such network; undefined if there can. */
export function lackOfNetworks(): string | undefined {
  return spawnSync('unshare', ['-n', 'true']).status === 0 ? undefined : 'networks need root'
}

/** @param port the door's */
export async function makeNetwork(port: number): Promise<Network> {
  const programs: Program[] = []
  const hostOf = async () => {
    const host = start('unshare', ['-n', 'sleep', 'infinity'])
    programs.push(host)
    const pid = host.child.pid!
    await eventually(() => readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net'))
    return ['-t', `${pid}`, '-n']
  }
  const [server, client] = [await hostOf(), await hostOf()]
  const path = join(newFolder(), 'door')
  const door = createServer((socket) => {
    const onward = connect(port, '127.0.0.1')
    for (const each of [socket, onward]) each.on('error', () => each.destroy())
    socket.pipe(onward).pipe(socket)
  })
  await once(door.listen(path), 'listening')
  const serve = (program: string, ...args: string[]) => {
    const started = start('nsenter', [...server, program, ...args], { env: { KEA_LOCKFILE_DIR: 'none', KEA_PIDFILE_DIR: newFolder() } }) // prettier-ignore
    programs.push(started)
    return started
  }
  const close = async () => {
    for (const { child, ended } of programs.toReversed()) {
      child.kill('SIGKILL')
      await ended
    }
    door.close()
  }
  const set = async (host: string[], ...commands: string[]) => {
    for (const command of commands) {
      const { code, output } = await run('nsenter', [...host, ...command.split(' ')])
      if (code !== 0) throw new Error(`${command}: ${output}`)
    }
  }
  const pair = `ip link add wire type veth peer name wire netns ${client[1]!}`
  await set(server, 'ip link set lo up', pair, 'ip address add 192.0.2.1/24 dev wire', 'ip link set wire up')
  await set(client, 'ip link set lo up', 'ip link set wire up')
  const relay = serve(process.execPath, join(projectFolder(), 'build', 'test', 'clients', 'support', 'relay.js'), path)
  await eventually(() => relay.output().includes('ready'))
  return { serve, onClient: (program, ...args) => run('nsenter', [...client, program, ...args]), close }
}
