import { existsSync, readFileSync } from 'node:fs'
import { aptInstall } from './apt.ts'
import { waitForLock } from './lock.ts'
import { findPostgres } from './postgres-programs.ts'
import { findPowerDns, findProgram } from './powerdns-program.ts'
import { SetupError } from './setup-error.ts'

/** Something that must be installed. */
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

/** Installs what is missing if that is possible. For programs that nothing depends on. */
export async function installIfPossible(requirements: Requirement[], progress: (text: string) => void): Promise<void> {
  if (!canInstall()) return
  try {
    await ensureInstalled(requirements, progress)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    progress(error.message)
  }
}

/**
 * Installs what is missing, if this is root on Debian or Ubuntu.
 * @throws SetupError that says what to install, if something is missing still
 */
export async function ensureInstalled(requirements: Requirement[], progress: (text: string) => void): Promise<void> {
  if (missing(requirements).length === 0) return
  if (!canInstall()) throw new SetupError(whatToInstall(missing(requirements)))
  const lock = await waitForLock('/run/zoneplane-install.lock', ({ pid }) => {
    progress(`waiting for process ${pid}, which is installing packages`)
  })
  try {
    const packages = missing(requirements).flatMap((requirement) => requirement.packages)
    if (packages.length === 0) return
    progress(`installing with apt: ${packages.join(' ')}`)
    await aptInstall(packages)
  } finally {
    lock.release()
  }
  if (missing(requirements).length > 0) throw new SetupError(whatToInstall(missing(requirements)))
}

function missing(requirements: Requirement[]): Requirement[] {
  return requirements.filter((requirement) => !requirement.isThere())
}

function whatToInstall(requirements: Requirement[]): string {
  const names = requirements.map(({ what }) => `  - ${what}`).join('\n')
  const packages = requirements.flatMap((requirement) => requirement.packages).join(' ')
  return (
    `Zoneplane does not find:\n${names}\nOn Debian or Ubuntu: sudo apt-get install ${packages}\n` +
    'Zoneplane starts its own servers; you may stop and disable those that the packages start.'
  )
}

export function hasAll(...names: string[]): boolean {
  return names.every((name) => findProgram(name) !== undefined)
}

/** Whether this is root on Debian or Ubuntu. */
function canInstall(): boolean {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const isDebian = /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release) && findProgram('apt-get') !== undefined
  return isDebian && process.getuid?.() === 0
}
