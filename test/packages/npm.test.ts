import test from 'ava'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { minVersion, satisfies } from 'semver'
import { projectFolder } from '../../src/installation/project.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startProgram } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

const project = projectFolder()
const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}
const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean; engines?: { node?: string } }>
}

/** The assets of the console. */
const CONSOLE = readdirSync(join(project, 'build', 'web', 'assets')).map(
  (name) => `assets/${name.replace(/\.gz$/, '')}`,
)

const tarball = pack(newFolder())

/** Packs the project as it is built, and returns the path of the tarball. */
function pack(folder: string): string {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: project, stdio: 'pipe' })
  return join(folder, `zoneplane-${manifest.version}.tgz`)
}

/** Installs the packages that are no development dependencies in the folder, without npm, which would need a network. */
function installDependencies(folder: string): void {
  for (const [path, { dev = false }] of Object.entries(packages)) {
    // Packages that are in others come with these.
    if (dev || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || !existsSync(join(project, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(project, path), join(folder, path))
  }
}

test('the packed package prints its version, and serves with private servers', async (t) => {
  const folder = newFolder()
  installDependencies(folder)
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
  const docs = ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `/api/v1/docs/${name}`)
  for (const path of ['/readyz', '/api/v1/docs/', ...docs, '/console/', ...CONSOLE.map((name) => `/console/${name}`)]) {
    const { status, headers } = await fetch(new URL(path, apiUrl(output())))
    t.is(status, 200, path)
    // Every other path below the console is its page.
    if (path.startsWith('/console/assets/')) t.regex(headers.get('content-type')!, /^text\/(javascript|css)/, path)
  }
  t.true(existsSync(join(folder, '.zoneplane', 'token')))
  child.kill('SIGTERM')
  t.is(await ended, 0)
})

test('every package of the product runs on the oldest Node that package.json allows', (t) => {
  const oldest = minVersion(manifest.engines.node)!
  const needy = Object.entries(packages)
    .filter(([, { dev, engines }]) => dev !== true && !satisfies(oldest, engines?.node ?? '*'))
    .map(([path, { engines }]) => `${path} needs Node ${engines!.node!}`)
  t.deepEqual(needy, [])
})

test('the packed package has all that the build makes of what runs, and nothing else', (t) => {
  const listed = execFileSync('tar', ['--list', '--file', tarball], { encoding: 'utf8' })
  const built = ['src', 'migrations', 'seeds'].flatMap((folder) => {
    const files = readdirSync(join(project, 'build', folder), { recursive: true, encoding: 'utf8' })
    return files.filter((file) => /\.js(\.map)?$/.test(file)).map((file) => `build/${folder}/${file}`)
  })
  // What the page of the API's description needs, and the licences of that.
  const names = ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `${name}.gz`)
  const page = [...names, 'package.json', 'LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']
  const files = ['package.json', 'README.md', 'LICENSE', 'pdns/pdns.conf']
  const web = ['index.html', ...CONSOLE.map((file) => `${file}.gz`)].map((file) => `build/web/${file}`)
  const wanted = [...files, ...built, ...page.map((file) => `build/swagger-ui/${file}`), ...web]
  t.deepEqual(listed.trim().split('\n').sort(), wanted.map((file) => `package/${file}`).sort())
  t.true(built.includes('build/src/cli.js'))
  t.is(CONSOLE.length, 5)
})
