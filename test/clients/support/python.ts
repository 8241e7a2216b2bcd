import test, { type ExecutionContext } from 'ava'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { run, succeeded } from './programs.ts'

/** The time limit of each step; PyPI may be slow. */
const INSTALL_SECONDS = 400

/** The versions of all packages, also of those that the named ones need. */
const VERSIONS = join(projectFolder(), 'test', 'clients', 'python.txt')

/**
 * Installs packages of PyPI into a virtual environment of their own, which is deleted with the test run. pip uses the
 * settings of the user who runs the tests.
 * @returns a PATH that begins with the folder of their programs
 */
export async function installPython(t: ExecutionContext, packages: string[]): Promise<string> {
  t.timeout(1000 * (2 * INSTALL_SECONDS + 200))
  const folder = newFolder()
  const bin = join(folder, 'bin')
  succeeded(t, await run('python3', ['-m', 'venv', folder], { seconds: INSTALL_SECONDS }))
  const install = ['install', '--quiet', '--no-cache-dir', '--no-compile', '--constraint', VERSIONS, ...packages]
  const env = process.env as Record<string, string>
  succeeded(t, await run(join(bin, 'pip'), install, { env, seconds: INSTALL_SECONDS }))
  return `${bin}:${process.env['PATH'] ?? ''}`
}

/** Does so for all tests of a file, whose programs share the environment. */
export function usePython(packages: string[]): () => string {
  let path = ''
  test.serial.before(`${packages.join(' and ')} are installed`, async (t) => {
    path = await installPython(t, packages)
  })
  return () => path
}
