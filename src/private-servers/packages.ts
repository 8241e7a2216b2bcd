import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { StartError } from '../errors.ts'
import { findPostgres } from '../installation/postgres-programs.ts'
import { findPowerDns, findProgram } from '../installation/programs.ts'
import { aptInstall } from './apt.ts'
import { waitForLock } from './lock.ts'

/** A program or library that must be installed. */
export interface Requirement {
  what: string
  isThere: () => boolean
  /** The Debian packages that contain it. */
  packages: string[]
}

export const postgres: Requirement = {
  what: 'PostgreSQL 15 or newer (initdb and postgres)',
  isThere: () => findPostgres() !== undefined,
  packages: ['postgresql'],
}

export const powerDns: Requirement = {
  what: 'PowerDNS Authoritative Server with the LMDB backend (pdns_server)',
  isThere: () => findPowerDns() !== undefined,
  packages: ['pdns-server', 'pdns-backend-lmdb'],
}

/** Programs in the commands that `npm start` prints. */
export const demoTools: Requirement[] = [
  { what: 'curl', isThere: () => hasAll('curl'), packages: ['curl'] },
  { what: 'dig', isThere: () => hasAll('dig'), packages: ['bind9-dnsutils'] },
]

/** The permission to install packages. `ask`: the user at the terminal decides; without one, as in CI, it is given. */
export type Install = 'ask' | 'yes' | 'no'

export interface InstallOptions {
  /** Desirable, but not necessary requirements. */
  wanted?: Requirement[]
  install: Install
  progress: (text: string) => void
}

/**
 * Installs missing packages, if this is root on Debian or Ubuntu and the user permits it.
 * @throws StartError that lists the packages to install, if something is still missing
 */
export async function ensureInstalled(needed: Requirement[], options: InstallOptions): Promise<void> {
  const { wanted = [], install, progress } = options
  const packages = packagesOf(missing([...needed, ...wanted]))
  if (packages.length === 0) return
  if (canInstall() && (await isAllowed(install, packages))) {
    await installMissing(needed, progress)
    try {
      await installMissing(wanted, progress)
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      progress(error.message)
    }
  }
  if (missing(needed).length > 0) throw new StartError(whatToInstall(missing(needed)))
}

async function installMissing(requirements: Requirement[], progress: (text: string) => void): Promise<void> {
  if (missing(requirements).length === 0) return
  const lock = await waitForLock('/run/zoneplane-install.lock', ({ pid }) => {
    progress(`waiting for process ${pid}, which is installing packages`)
  })
  try {
    const packages = packagesOf(missing(requirements))
    if (packages.length === 0) return
    progress(`installing with apt: ${packages.join(' ')}`)
    await aptInstall(packages)
  } finally {
    lock.release()
  }
}

/** Reports whether it may install these packages. Asks at the terminal if necessary; Ctrl-C and Ctrl-D mean no. */
export async function isAllowed(install: Install, packages: string[]): Promise<boolean> {
  const { stdin: input, stdout: output } = process
  if (install !== 'ask' || !input.isTTY || !output.isTTY) return install !== 'no'
  const terminal = createInterface({ input, output })
  const closed = new AbortController()
  terminal.once('close', () => {
    closed.abort()
  })
  const question = `Install with apt-get, without starting services: ${packages.join(' ')}? [Y/n] `
  const answer = await terminal.question(question, { signal: closed.signal }).catch(() => 'no')
  terminal.close()
  return /^(y|yes|)$/i.test(answer.trim())
}

function packagesOf(requirements: Requirement[]): string[] {
  return requirements.flatMap((requirement) => requirement.packages)
}

function missing(requirements: Requirement[]): Requirement[] {
  return requirements.filter((requirement) => !requirement.isThere())
}

function whatToInstall(requirements: Requirement[]): string {
  const names = requirements.map(({ what }) => `  - ${what}`).join('\n')
  const packages = packagesOf(requirements).join(' ')
  return (
    `Zoneplane does not find:\n${names}\nOn Debian or Ubuntu: sudo apt-get install ${packages}\n` +
    'Zoneplane starts its own servers; you may stop and disable those that the packages start.'
  )
}

export function hasAll(...names: string[]): boolean {
  return names.every((name) => findProgram(name) !== undefined)
}

/** Reports whether this is root on Debian or Ubuntu. */
function canInstall(): boolean {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const isDebian = /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release) && findProgram('apt-get') !== undefined
  return isDebian && process.getuid?.() === 0
}
