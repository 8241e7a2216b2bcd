import { chmodSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'

/** A new folder that servers of another user may pass through; test/run.ts removes it, and ends what still runs in it. */
export function newFolder(): string {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'folder-'))
  chmodSync(folder, 0o711)
  return folder
}
