import test, { type ExecutionContext } from 'ava'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { hasAll } from '../../../src/private-servers/packages.ts'
import { needs } from '../../support/needs.ts'
import { newFolder } from '../../support/servers/folders.ts'

// `npm run release`, twice: at other places, at other times, by users with other habits.

const PROJECT = projectFolder()
const VERSION = '9.8.7'
const SUMS = 'SHA256SUMS'

const withTools = needs(hasAll('dpkg-deb', 'git', 'tar') ? undefined : 'dpkg-deb, git or tar is missing', test)

withTools('two releases of a commit have the same bytes', (t) => {
  t.timeout(1800_000)
  const [one, other] = [newFolder(), join(newFolder(), 'a', 'longer path')]
  for (const folder of [one, other]) copyProject(folder)
  const first = release(t, one, { TZ: 'UTC', LC_ALL: 'C' }, 'o+rX')
  const second = release(t, other, { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' }, 'o-rwx')
  const text = readFileSync(join(first, SUMS), 'utf8')
  t.is(readFileSync(join(second, SUMS), 'utf8'), text)
  const names = [...text.matchAll(/^[\da-f]{64} {2}(.*)$/gm)].map(([, name]) => name!)
  t.deepEqual(
    names.toSorted(),
    readdirSync(first)
      .filter((name) => name !== SUMS)
      .toSorted(),
  )
  t.deepEqual(names.map((name) => name.replace(/_[a-z\d]+\.deb$/, '.deb')).toSorted(), [
    'CHANGES.md',
    `zoneplane-${VERSION}.cdx.json`,
    `zoneplane-${VERSION}.tgz`,
    `zoneplane-chart-${VERSION}.tgz`,
    `zoneplane_${VERSION}.deb`,
  ])
  execFileSync('sha256sum', ['--check', '--quiet', SUMS], { cwd: first })

  const bill = JSON.parse(readFileSync(join(first, `zoneplane-${VERSION}.cdx.json`), 'utf8')) as {
    components: { name: string }[]
  }
  const components = bill.components.map(({ name }) => name)
  t.true(components.includes('koa'))
  // It does not run.
  t.false(components.includes('ava'))
  const files = execFileSync('tar', ['--list', '--file', join(first, `zoneplane-chart-${VERSION}.tgz`)], {
    encoding: 'utf8',
  })
  t.regex(files, /^zoneplane\/Chart\.yaml$/m)
})

/** Copies the project as it is, with its packages, into a folder. */
function copyProject(folder: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: PROJECT })
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(PROJECT, file), join(folder, file))
  }
  execFileSync('cp', ['--recursive', '--reflink=auto', join(PROJECT, 'node_modules'), folder])
}

/** Gives the copy in this folder the version VERSION, and releases it. @returns the folder with the files */
function release(t: ExecutionContext, folder: string, env: Record<string, string>, rights: string): string {
  // What is newer than the commit gets its time.
  const date = '2026-11-20T12:00:00Z'
  const identity = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, EMAIL: 'somebody@example.net' }
  const run = (command: string) => {
    const environment = { ...process.env, ...identity, ...env }
    return execFileSync('sh', ['-c', command], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
  run(`chmod -R ${rights} .`)
  run(`sed -i 's/^## .Unreleased.$/&\\n\\n- something/' CHANGELOG.md && npm run release:version -- ${VERSION}`)
  run(`git init --quiet && git add . && git -c user.name=Somebody commit --quiet --message all && git tag v${VERSION}`)
  t.log(run('npm run --silent release').toString())
  return join(folder, 'dist')
}
