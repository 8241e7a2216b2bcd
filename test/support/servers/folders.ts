import { chmodSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MARKER, removeInstanceFolder } from '../../../src/private-servers/instance-folder.ts'

/** A new folder that servers of another user may traverse. test/run.ts ends what still runs in it, and deletes it. */
export function newFolder(): string {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'folder-'))
  chmodSync(folder, 0o711)
  return folder
}

/** Ends and deletes every instance in a folder and the folders below it. */
export async function removeInstanceFolders(folder: string): Promise<void> {
  if (existsSync(join(folder, MARKER))) {
    await removeInstanceFolder(folder)
    return
  }
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeInstanceFolders(join(folder, entry.name))
  }
}
