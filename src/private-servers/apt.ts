import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { StartError } from '../errors.ts'
import { outcome } from './daemon.ts'

/** Installs Debian packages; their services are started neither now nor at boot. */
export async function aptInstall(packages: string[]): Promise<void> {
  const had = new Set(services())
  const allowServices = forbidServices()
  const install = ['install', '--yes', '--no-install-recommends', ...packages]
  try {
    if (!hasPackageLists()) await aptGet(['update'])
    let failure = await aptGet(install)
    if (failure !== undefined) {
      // Outdated package lists name versions that the mirror no longer has.
      await aptGet(['update'])
      failure = await aptGet(install)
    }
    if (failure !== undefined) throw new StartError(`apt-get cannot install ${packages.join(' ')}:\n${failure}`)
  } finally {
    for (const service of services()) if (!had.has(service)) disable(service)
    allowServices()
  }
}

/** Runs apt-get and returns its output if it failed. Ctrl-C interrupts apt-get, and then this process. */
async function aptGet(args: string[]): Promise<string | undefined> {
  const options = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const child = spawn('apt-get', [...options, ...args], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let interrupted: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    interrupted = signal
    child.kill('SIGINT')
  }
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupt)
  const { code, output } = await outcome(child)
  for (const signal of signals) process.off(signal, interrupt)
  if (interrupted) throw new StartError('Interrupted while installing packages.')
  return code === 0 ? undefined : output
}

function hasPackageLists(): boolean {
  return readdirSync('/var/lib/apt/lists').some((name) => name.includes('_Packages'))
}

// Debian asks this program whether a package may start a service: exit code 101 forbids it.
const policy = '/usr/sbin/policy-rc.d'
const forbidding =
  '#!/bin/sh\n# Zoneplane (npm start) is installing packages without starting their services.\nexit 101\n'

/** Keeps packages from starting services until the returned function is called. */
function forbidServices(): () => void {
  const aside = `${policy}.before-zoneplane`
  // A killed installation may have left this file, and the original one still set aside.
  const isOurs = existsSync(policy) && readFileSync(policy, 'utf8') === forbidding
  if (existsSync(policy) && !isOurs) renameSync(policy, aside)
  writeFileSync(policy, forbidding, { mode: 0o755 })
  return () => {
    if (existsSync(aside)) renameSync(aside, policy)
    else rmSync(policy)
  }
}

/** Returns the unit files and init scripts of all installed services. */
function services(): string[] {
  return ['/lib/systemd/system', '/usr/lib/systemd/system', '/etc/init.d']
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.service') || path.startsWith('/etc/init.d/'))
}

/** Disables a service, whether or not systemd runs here; upgrades of its package keep it disabled. */
function disable(path: string): void {
  const name = path.split('/').at(-1)!
  const env = { ...process.env, DPKG_MAINTSCRIPT_PACKAGE: 'zoneplane' }
  if (name.endsWith('.service')) spawnSync('deb-systemd-helper', ['disable', name], { env, stdio: 'ignore' })
  else spawnSync('update-rc.d', [name, 'disable'], { env, stdio: 'ignore' })
}
