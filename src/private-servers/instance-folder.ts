import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../errors.ts'
import { type Account, reaches, unprivilegedAccount } from './account.ts'
import { endOrphan } from './daemon.ts'

/** The name of a file in each instance's folder. */
export const MARKER = 'made-by-zoneplane'

/**
 * Returns the data folder of private servers in a project's folder. Root cannot have it below a folder that only root
 * may enter, such as /root, because the servers do not run as root.
 */
export function defaultDataFolder(project: string): string {
  const accounts = ['postgres', 'pdns'].map((name) => unprivilegedAccount(name))
  return accounts.every((account) => reaches(account, project)) ? '.zoneplane' : '/var/lib/zoneplane'
}

/**
 * Creates the folder of one server, or checks that Zoneplane created it. It belongs to the user of this process, and
 * some folders in it to the user of the server.
 */
export function openInstanceFolder(folder: string): void {
  refuseForeign(folder)
  try {
    mkdirSync(folder, { recursive: true })
    // A server may pass through to its own folders, but not list this one.
    chmodSync(folder, 0o711)
    writeFileSync(join(folder, MARKER), 'Zoneplane keeps a server here. `npm start -- --fresh` deletes it.\n')
  } catch (error) {
    throw new StartError(`${(error as Error).message}. Set ZONEPLANE_DATA to a folder that you can write to.`)
  }
}

/** Ends the server of an instance's folder and deletes the folder. Rejects a folder that Zoneplane did not create. */
export async function removeInstanceFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  refuseForeign(folder)
  await endOrphan(folder, [
    ['SIGINT', 5000],
    ['SIGKILL', 5000],
  ])
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  rmSync(shortFolder(folder), { recursive: true, force: true })
}

/** Creates a private folder for the account that runs the server, or gives it that folder with all its contents. */
export function giveTo(account: Account | undefined, folder: string): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o700)
  if (account && lstatSync(folder).uid !== account.uid) {
    execFileSync('chown', ['-Rh', `${account.uid}:${account.gid}`, folder])
  }
}

/**
 * Creates a folder for a server's unix sockets, which only the server's account and root may enter. It is inside the
 * instance's folder, or in /tmp if that path is too long for a socket or has characters that are special in a setting.
 */
export function openSocketFolder(instance: string, account: Account | undefined): string {
  const inside = join(instance, 'socket')
  const folder = inside.length <= 84 && /^[\w./@+=~-]+$/.test(inside) ? inside : shortFolder(instance)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  if (account) chownSync(folder, account.uid, account.gid)
  return folder
}

function shortFolder(instance: string): string {
  return join('/tmp', `zoneplane-${createHash('sha256').update(instance).digest('hex').slice(0, 16)}`)
}

function refuseForeign(folder: string): void {
  if (!existsSync(folder) || existsSync(join(folder, MARKER))) return
  if (lstatSync(folder).isDirectory() && readdirSync(folder).length === 0) return
  throw new StartError(
    `${folder} was not made by Zoneplane, so Zoneplane neither uses nor deletes it. Set ZONEPLANE_DATA to another folder.`,
  )
}
