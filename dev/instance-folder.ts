import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { endOrphan } from './daemon.ts'
import { SetupError } from './setup-error.ts'

/** The name of a file that each instance's folder has. */
export const MARKER = 'made-by-zoneplane'

/** Makes the folder of one instance, or makes sure that it is one we made. It stays ours; the server gets parts. */
export function openInstanceFolder(folder: string): void {
  refuseForeign(folder)
  try {
    mkdirSync(folder, { recursive: true })
    // Servers may pass through to their own folders, and see nothing else.
    chmodSync(folder, 0o711)
    writeFileSync(join(folder, MARKER), 'Zoneplane keeps a server here. `npm start -- --fresh` deletes it.\n')
  } catch (error) {
    throw new SetupError(`${(error as Error).message}. Set ZONEPLANE_DATA to a folder that you may write to.`)
  }
}

/** Ends what runs in an instance's folder and deletes it; refuses to touch a folder that we did not make. */
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

/** A private folder of the account that runs the server, with all that is in it. */
export function giveTo(account: Account | undefined, folder: string): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o700)
  if (account && lstatSync(folder).uid !== account.uid) chownTree(folder, account)
}

/**
 * A folder for a server's unix sockets, which only the server's account and root may enter: inside the instance's
 * folder, or below /tmp where that has too long a path for a socket, or characters with a meaning in a list of paths.
 */
export function openSocketFolder(instance: string, account: Account | undefined): string {
  const inside = join(instance, 'socket')
  const folder = inside.length <= 84 && /^[\w./@+=~-]+$/.test(inside) ? inside : shortFolder(instance)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  if (account) chownSync(folder, account.uid, account.gid)
  return folder
}

/** Removes a socket folder, which the instance may have outside of its own folder. */
export function closeSocketFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

function shortFolder(instance: string): string {
  return join('/tmp', `zoneplane-${createHash('sha256').update(instance).digest('hex').slice(0, 16)}`)
}

function refuseForeign(folder: string): void {
  if (!existsSync(folder) || existsSync(join(folder, MARKER))) return
  if (lstatSync(folder).isDirectory() && readdirSync(folder).length === 0) return
  throw new SetupError(`${folder} was not made by Zoneplane, so it is neither used nor deleted. Set ZONEPLANE_DATA.`)
}

function chownTree(path: string, account: Account): void {
  lchownSync(path, account.uid, account.gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) chownTree(join(path, name), account)
}
