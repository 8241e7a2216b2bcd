import test from 'ava'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { newFolder } from '../../support/servers/folders.ts'

/** The version of the release, which has no tag yet. */
const VERSION = '99.8.7'

/** Where the programs keep their caches. */
const HOME = newFolder()

/** Runs a program in a folder, with nothing else of this environment. */
function run(folder: string, file: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], HOME, LANG: 'C.UTF-8' }
  return execFileSync(file, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Clones a repository into a new folder, with its newest commit alone. */
function cloneOf(origin: string): string {
  const folder = join(newFolder(), 'clone')
  mkdirSync(folder)
  run(folder, 'git', 'clone', '--quiet', '--depth', '1', '--branch', `v${VERSION}`, `file://${origin}`, '.')
  return folder
}

test('two clones of a version make the same files, whatever the folder, the time and the rights of new files', (t) => {
  const origin = newFolder()
  run(origin, 'git', 'clone', '--quiet', projectFolder(), '.')
  for (const [name, value] of Object.entries({ 'user.name': 'Somebody', 'user.email': 'somebody@example.net' }))
    run(origin, 'git', 'config', name, value)
  run(origin, process.execPath, 'release/version.mjs', VERSION)
  run(origin, 'git', 'commit', '--quiet', '--all', '--message', VERSION)
  run(origin, 'git', 'tag', `v${VERSION}`)

  const [one, other] = [0o022, 0o077].map((rights) => {
    const umask = process.umask(rights)
    try {
      const folder = cloneOf(origin)
      run(folder, 'npm', 'run', 'release')
      return join(folder, 'dist')
    } finally {
      process.umask(umask)
    }
  }) as [string, string]

  const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')
  t.deepEqual(sums(one), sums(other))
  t.deepEqual(
    sums(one).map((line) => line.split('  ')[1]),
    readdirSync(one).filter((name) => name !== 'SHA256SUMS'),
  )
  // What the sums say holds, so a release of other bytes would be found.
  t.notRegex(run(one, 'sha256sum', '--check', 'SHA256SUMS'), /FAILED/)
  renameSync(join(one, 'CHANGES.md'), join(one, `zoneplane-${VERSION}.tgz`))
  t.throws(() => run(one, 'sha256sum', '--check', 'SHA256SUMS'))
})
