import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SetupError } from './setup-error.ts'

/** Installs Debian packages such that no service of theirs is started now or at boot. */
export async function aptInstall(packages: string[]): Promise<void> {
  const had = new Set(services())
  const allowServices = forbidServices()
  const install = ['install', '--yes', '--no-install-recommends', ...packages]
  try {
    if (!hasPackageLists()) await aptGet(['update'])
    let failure = await aptGet(install)
    if (failure !== undefined) {
      // Lists that are out of date name packages that are no longer there.
      await aptGet(['update'])
      failure = await aptGet(install)
    }
    if (failure !== undefined) throw new SetupError(`apt-get cannot install ${packages.join(' ')}:\n${failure}`)
  } finally {
    for (const service of services()) if (!had.has(service)) disable(service)
    allowServices()
  }
}

/** Runs apt-get; returns what it said if it failed. A Ctrl-C ends it first, in good order, and then us. */
async function aptGet(args: string[]): Promise<string | undefined> {
  const options = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const child = spawn('apt-get', [...options, ...args], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  let interrupted: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    interrupted = signal
    child.kill('SIGINT')
  }
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupt)
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  for (const signal of signals) process.off(signal, interrupt)
  if (interrupted) throw new SetupError('Interrupted while installing packages.')
  return code === 0 ? undefined : output.trim()
}

function hasPackageLists(): boolean {
  return readdirSync('/var/lib/apt/lists').some((name) => name.includes('_Packages'))
}

// Debian's way to say whether packages may start services: 101 is no.
const policy = '/usr/sbin/policy-rc.d'
const forbidding =
  '#!/bin/sh\n# Zoneplane (npm start) installs packages just now, and wants none of their services.\nexit 101\n'

/** Keeps packages from starting services until the returned function is called. */
function forbidServices(): () => void {
  const aside = `${policy}.before-zoneplane`
  // Ours from an installation that was killed is not to be kept; what that one had put aside is.
  const isOurs = existsSync(policy) && readFileSync(policy, 'utf8') === forbidding
  if (existsSync(policy) && !isOurs) renameSync(policy, aside)
  writeFileSync(policy, forbidding, { mode: 0o755 })
  return () => {
    if (existsSync(aside)) renameSync(aside, policy)
    else rmSync(policy)
  }
}

/** The services that packages brought. */
function services(): string[] {
  const folders = ['/lib/systemd/system', '/usr/lib/systemd/system', '/etc/init.d']
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => folder === '/etc/init.d' || name.endsWith('.service'))
        .map((name) => `${folder}/${name}`),
    )
}

/** As an administrator would, whether or not systemd runs here; a later upgrade of the package leaves it so. */
function disable(path: string): void {
  const name = path.split('/').at(-1)!
  const env = { ...process.env, DPKG_MAINTSCRIPT_PACKAGE: 'zoneplane' }
  if (name.endsWith('.service')) spawnSync('deb-systemd-helper', ['disable', name], { env, stdio: 'ignore' })
  else spawnSync('update-rc.d', [name, 'disable'], { env, stdio: 'ignore' })
}
