import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The project's folder: the one with package.json, whether we run from sources or from a build. */
export function projectFolder(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('package.json is in no folder above this file')
    folder = dirname(folder)
  }
  return folder
}
