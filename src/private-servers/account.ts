import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { StartError } from '../errors.ts'

/** A user account of this machine. */
export interface Account {
  name: string
  uid: number
  gid: number
}

/** A program, its arguments, and the user it runs as. */
export interface Command {
  file: string
  args: string[]
  as: { uid?: number; gid?: number }
}

export interface RunAs {
  /** Undefined: the user of this process. */
  account: Account | undefined
  /** Linux capabilities that the program gets although it is not root. */
  capabilities?: string[]
  /** The signal that the program gets when this process dies. */
  deathSignal: NodeJS.Signals
}

/** Returns the first of these accounts that exists, for programs that reject root. Undefined if this is not root. */
export function unprivilegedAccount(...names: string[]): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of [...names, 'nobody']) {
    const row = rows.find((fields) => fields[0] === name)
    if (row && Number(row[2]) > 0) return { name, uid: Number(row[2]), gid: Number(row[3]) }
  }
  throw new StartError('Postgres and PowerDNS do not run as root, and there is no user "nobody" to run them as.')
}

/** Returns the command for a program that gets `deathSignal` when this process dies, if the system has setpriv(1). */
export function commandFor(program: string, args: string[], run: RunAs): Command {
  const { account, capabilities = [], deathSignal } = run
  if (!hasSetpriv()) {
    return { file: program, args, as: account ? { uid: account.uid, gid: account.gid } : {} }
  }
  const options = [`--pdeathsig=${deathSignal.slice(3)}`]
  if (account) options.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups')
  if (capabilities.length > 0) {
    const caps = capabilities.map((name) => `+${name}`).join(',')
    options.push(`--inh-caps=${caps}`, `--ambient-caps=${caps}`)
  }
  return { file: 'setpriv', args: [...options, '--', program, ...args], as: {} }
}

/** Rejects files and folders below a folder that the account may not enter, such as /root. */
export function requireReach(account: Account | undefined, paths: string[]): void {
  if (paths.every((path) => reaches(account, path))) return
  throw new StartError(
    `Postgres and PowerDNS do not run as root, and user "${account!.name}" cannot reach ${paths.join(' and ')}. ` +
      'Set ZONEPLANE_DATA to a folder that every user may enter, or move the project to such a folder.',
  )
}

/** Reports whether the account (undefined: the user of this process) may enter the folder, or execute the program. */
export function reaches(account: Account | undefined, path: string): boolean {
  if (account === undefined) return true
  const command = commandFor('test', ['-x', path], { account, deathSignal: 'SIGKILL' })
  return spawnSync(command.file, command.args, { ...command.as, stdio: 'ignore' }).status === 0
}

let setpriv: boolean | undefined

/** Reports whether setpriv of util-linux is installed (that of BusyBox lacks options). */
function hasSetpriv(): boolean {
  setpriv ??= spawnSync('setpriv', ['--pdeathsig=KILL', 'true'], { stdio: 'ignore' }).status === 0
  return setpriv
}
