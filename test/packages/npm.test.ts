import test from 'ava'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../dev/project.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startProgram } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

const project = projectFolder()
const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  version: string
}

const tarball = pack(newFolder())

/** Packs the project as it is built, and returns the path of the tarball. */
function pack(folder: string): string {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: project, stdio: 'pipe' })
  return join(folder, `zoneplane-${manifest.version}.tgz`)
}

/** Copies the packages that are no development dependencies to the folder, so that npm needs no network. */
function copyDependencies(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const source = join(project, path)
    if (path !== '' && !dev && existsSync(source)) cpSync(source, join(folder, path), { recursive: true })
  }
}

test('the packed package prints its version, serves with private servers, and with --ci as tests want it', async (t) => {
  const folder = newFolder()
  copyDependencies(folder)
  // As npm would, which needs a network, or a cache that has everything.
  execFileSync('tar', ['--extract', '--file', tarball, '--directory', folder])
  renameSync(join(folder, 'package'), join(folder, 'node_modules', 'zoneplane'))
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules', 'zoneplane', 'package.json'), 'utf8')) as {
    bin: { zoneplane: string }
  }
  const program = join(folder, 'node_modules', 'zoneplane', installed.bin.zoneplane)
  chmodSync(program, 0o755)
  const env = { PATH: process.env['PATH'], PORT: '0', DNS_PORT: '0' }
  t.is(execFileSync(program, ['--version'], { env, encoding: 'utf8' }), `${manifest.version}\n`)

  const { child, ended, output } = startProgram(program, ['start'], env, folder)
  await eventually(() => apiUrl(output()))
  for (const path of ['/readyz', '/api/v1/docs/', '/api/v1/docs/swagger-ui-bundle.js', '/api/v1/docs/swagger-ui.css']) {
    t.is((await fetch(new URL(path, apiUrl(output())))).status, 200, path)
  }
  t.true(existsSync(join(folder, '.zoneplane', 'token')))
  child.kill('SIGTERM')
  t.is(await ended, 0)

  const ci = startProgram(program, ['--ci'], { ...env, TMPDIR: newFolder() }, folder)
  await eventually(() => apiUrl(ci.output()))
  const account = await fetch(new URL('/ci/accounts/', apiUrl(ci.output())), { method: 'POST' })
  t.is(account.status, 201)
  ci.child.kill('SIGTERM')
  t.is(await ci.ended, 0)
})

test('the packed package has what runs, and nothing else', (t) => {
  const listed = execFileSync('tar', ['--list', '--file', tarball], { encoding: 'utf8' })
  const files = listed.trim().split('\n')
  const wanted =
    /^package\/(package\.json|README\.md|LICENSE|pdns\/pdns\.conf|build\/(src|dev|migrations|seeds)\/.*\.js(\.map)?)$/
  t.deepEqual(
    files.filter((file) => !wanted.test(file)),
    [],
  )
  t.true(files.includes('package/build/src/cli.js'))
})
