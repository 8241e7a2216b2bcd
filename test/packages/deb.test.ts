import test, { type ExecutionContext } from 'ava'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { projectFolder } from '../../src/installation/project.ts'
import { hasAll } from '../../src/private-servers/packages.ts'
import { shared } from '../support/clients/api.ts'
import { needs } from '../support/needs.ts'
import { newFolder } from '../support/servers/folders.ts'

const project = projectFolder()

const withDpkg = needs(hasAll('dpkg-deb') ? undefined : 'dpkg-deb is not installed', test.serial)
const withSystemd = needs(hasAll('systemd-analyze') ? undefined : 'systemd-analyze is not installed')

/** Makes the Debian package of the project as it is built, and returns its file. */
const make = shared(async () => {
  const folder = newFolder()
  // What is in it does not depend on how small it is.
  const env = { ...process.env, DPKG_DEB_COMPRESSOR_TYPE: 'gzip', DPKG_DEB_COMPRESSOR_LEVEL: '1' }
  await promisify(execFile)(process.execPath, [join(project, 'deb', 'build.mjs'), folder], { env })
  return join(folder, readdirSync(folder)[0]!)
})

/** Checks the unit, with these lines appended, with a command of systemd-analyze. */
function analyze(t: ExecutionContext, args: string[], appended = ''): void {
  const unit = join(newFolder(), 'zoneplane.service')
  // The Node of the Debian package may not be there.
  const text = readFileSync(join(project, 'deb', 'zoneplane.service'), 'utf8')
  writeFileSync(unit, text.replaceAll('/usr/bin/node', process.execPath) + appended)
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' })
  t.deepEqual({ status, stderr }, { status: 0, stderr: '' }, stdout)
}

withSystemd('systemd accepts every line of the unit', (t) => {
  analyze(t, ['verify', '--man=no', '--generators=no'])
})

withSystemd('systemd accepts the lines of the documents that make a secret a credential', (t) => {
  const text = readFileSync(join(project, 'docs', 'configuration.md'), 'utf8')
  const [lines] = /^ {4}\[Service\]\n( {4}.+\n)+/m.exec(text)!
  analyze(t, ['verify', '--man=no', '--generators=no'], `\n${lines.replaceAll(/^ +/gm, '')}`)
})

withSystemd('the unit gives the service few rights: the exposure that systemd counts is below 2.5', (t) => {
  analyze(t, ['security', '--offline=true', '--no-pager', '--threshold=25'])
})

withDpkg('the Debian package has the program, what it needs to run, and no tests', async (t) => {
  const file = await make()
  const files = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const path of [
    'usr/bin/zoneplane',
    'usr/lib/systemd/system/zoneplane.service',
    'usr/lib/zoneplane/build/src/cli.js',
    'usr/lib/zoneplane/build/migrations/01_accounts.js',
    'usr/lib/zoneplane/pdns/pdns.conf',
    'usr/lib/zoneplane/node_modules/koa/package.json',
    'usr/lib/zoneplane/build/swagger-ui/swagger-ui-bundle.js.gz',
    'usr/lib/zoneplane/build/swagger-ui/swagger-ui.css.gz',
    'usr/lib/zoneplane/build/swagger-ui/LICENSE',
    ...['index.html', ...readdirSync(join(project, 'build', 'web', 'assets')).map((name) => `assets/${name}`)].map(
      (name) => `usr/lib/zoneplane/build/web/${name}`,
    ),
    ...readdirSync(join(project, 'docs', 'console')).map((name) => `usr/share/doc/zoneplane/docs/console/${name}`),
  ]) {
    t.true(files.includes(` ./${path}\n`), path)
  }
  t.regex(files, /^-rw-r----- root\/root .* \.\/etc\/zoneplane\/zoneplane\.env$/m)
  t.notRegex(files, /\/usr\/lib\/zoneplane\/build\/(test|bench)\//)
  const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  for (const name of Object.keys(devDependencies)) {
    // Some are dependencies of what runs, too.
    if (packages[`node_modules/${name}`]?.dev !== true) continue
    t.false(files.includes(`/usr/lib/zoneplane/node_modules/${name}/`), name)
  }
})

withDpkg('the manual page of the Debian package has the help of commands and of the commands in them', async (t) => {
  const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', await make()], { maxBuffer: 2 ** 28 })
  const file = './usr/share/man/man1/zoneplane.1.gz'
  const page = gunzipSync(execFileSync('tar', ['--extract', '--to-stdout', file], { input: tar })).toString()
  const commands = ['start', 'account', 'account create', 'token bind', 'domain list', 'migrate', 'encrypt-again']
  for (const name of commands) t.true(page.includes(`.SS zoneplane ${name.replaceAll('-', '\\-')}\n`), name)
})
