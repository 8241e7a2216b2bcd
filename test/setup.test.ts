import test from 'ava'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../src/installation/project.ts'
import { outcome } from '../src/private-servers/daemon.ts'
import { newFolder } from './support/servers/folders.ts'

const BUILDING = { code: 0, output: 'setup: building' }
const NOTHING = { code: 0, output: '' }

/** A project with our packages, two source files, and a console that shows nothing. */
function newProject(): string {
  const folder = newFolder()
  const files = ['.npmrc', 'package.json', 'package-lock.json', 'setup.mjs', 'tsconfig.json', 'tsconfig.product.json']
  for (const file of files) cpSync(join(projectFolder(), file), join(folder, file))
  // The sources need no types of packages, whose reading would take most of the time.
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, readFileSync(config, 'utf8').replace('"types": ["node"]', '"types": []'))
  symlinkSync(join(projectFolder(), 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = 1\n')
  writeFileSync(join(folder, 'src', 'two.ts'), 'export const two = 2\n')
  mkdirSync(join(folder, 'console'))
  for (const file of ['build.mjs', 'index.html', 'jsx.ts', 'styles.d.ts', 'tsconfig.json'])
    cpSync(join(projectFolder(), 'console', file), join(folder, 'console', file))
  writeFileSync(join(folder, 'console', 'types.mjs'), '')
  writeFileSync(join(folder, 'console', 'main.tsx'), "import './style.css'\n")
  writeFileSync(join(folder, 'console', 'style.css'), 'p { margin: 0 }\n')
  return folder
}

/** Starts setup in a process group of its own. */
function spawnSetup(folder: string, args: string[], environment = process.env): ChildProcess {
  return spawn(process.execPath, [join(folder, 'setup.mjs'), ...args], { detached: true, env: environment })
}

async function runSetup(folder: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  return outcome(spawnSetup(folder, args))
}

test.serial('setup builds once, and again after a file was changed or deleted', async (t) => {
  const folder = newProject()
  t.deepEqual(await runSetup(folder), BUILDING)
  const copied = join(folder, 'build', 'swagger-ui', 'NOTICE')
  const notice = readFileSync(copied, 'utf8')
  writeFileSync(copied, 'not copied again')
  t.deepEqual(await runSetup(folder), NOTHING)
  t.is(readFileSync(copied, 'utf8'), 'not copied again')
  writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = "changed"\n')
  t.deepEqual(await runSetup(folder), BUILDING)
  t.is(readFileSync(copied, 'utf8'), notice)
  t.regex(readFileSync(join(folder, 'build', 'src', 'one.js'), 'utf8'), /changed/)
  const two = readFileSync(join(folder, 'src', 'two.ts'))
  rmSync(join(folder, 'src', 'two.ts'))
  t.deepEqual(await runSetup(folder), BUILDING)
  t.deepEqual(readdirSync(join(folder, 'build', 'src')).sort(), ['one.js', 'one.js.map'])
  writeFileSync(join(folder, 'src', 'two.ts'), two)
  t.deepEqual(await runSetup(folder), BUILDING)
  t.true(existsSync(join(folder, 'build', 'src', 'two.js')))
})

test.serial('for the product, setup builds no tests; when everything is built, it has nothing to do', async (t) => {
  const folder = newProject()
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test', 'one.test.ts'), "import '../src/one.ts'\n")
  t.deepEqual(await runSetup(folder, 'product'), BUILDING)
  t.deepEqual(await runSetup(folder, 'product'), NOTHING)
  t.false(existsSync(join(folder, 'build', 'test')))
  t.deepEqual(await runSetup(folder), BUILDING)
  t.true(existsSync(join(folder, 'build', 'test', 'one.test.js')))
  t.deepEqual(await runSetup(folder, 'product'), NOTHING)
})

test.serial('setup installs what package-lock.json says; for the product, no packages for development', async (t) => {
  const folder = newProject()
  rmSync(join(folder, 'node_modules'))
  const installed = { code: 0, output: 'setup: installing the npm packages from the network\nsetup: building' }
  t.deepEqual(await runSetup(folder, 'product'), installed)
  for (const name of ['ava', 'swagger-ui-dist', '@scarf']) t.false(existsSync(join(folder, 'node_modules', name)), name)
  t.true(existsSync(join(folder, 'build', 'swagger-ui', 'swagger-ui.css.gz')))
  t.deepEqual(await runSetup(folder, 'product'), NOTHING)
})

test.serial('setup installs what has changed in package-lock.json; without the network, it soon says so', async (t) => {
  const folder = newProject()
  const present = join(folder, 'node_modules', '.package-lock.json')
  const earlier = readFileSync(present, 'utf8').replace(/"integrity": ".*"/, '"integrity": "sha512-other"')
  rmSync(join(folder, 'node_modules'))
  mkdirSync(join(folder, 'node_modules'))
  writeFileSync(present, earlier)
  // Nothing listens there.
  const environment = { ...process.env, npm_config_registry: 'http://127.0.0.1:1/', npm_config_cache: newFolder() }
  const { code, output } = await outcome(spawnSetup(folder, ['product'], environment))
  t.is(code, 1)
  t.regex(output, /^setup: installing the npm packages from the network\n/)
  t.regex(output, /ECONNREFUSED/)
  t.regex(output, /\nsetup: npm has failed; its output is above\.$/)
})

test.serial('a compiler error is shown at every setup until it is corrected', async (t) => {
  const folder = newProject()
  writeFileSync(join(folder, 'src', 'two.ts'), 'export const two: string = 2\n')
  for (const attempt of ['first', 'second']) {
    const { code, output } = await runSetup(folder)
    t.is(code, 1, attempt)
    t.regex(output, /src\/two\.ts\(1,14\): error TS2322/)
    t.regex(output, /\nsetup: .* has failed; its output is above\.$/)
  }
})

test.serial('of two simultaneous setups, one builds and the other waits', async (t) => {
  const folder = newProject()
  const both = await Promise.all([runSetup(folder), runSetup(folder)])
  const sorted = both.sort((one, other) => one.output.length - other.output.length)
  t.deepEqual(sorted, [NOTHING, BUILDING])
})

test.serial('after a setup that was killed while it built, the next one builds', async (t) => {
  const folder = newProject()
  const killed = spawnSetup(folder, [])
  await once(killed.stdout!, 'data')
  process.kill(-killed.pid!, 'SIGKILL')
  await once(killed, 'close')
  t.deepEqual(await runSetup(folder), BUILDING)
  t.true(existsSync(join(folder, 'build', 'src', 'two.js')))
})

/**
 * Packages for development that work without their scripts: those of Testcontainers build what is optional, or check a
 * version; that of Swagger UI reports to a third party; that of esbuild saves its command the start of Node; that of swc
 * looks for another binary where none fits.
 */
const WORK_WITHOUT = ['@scarf/scarf', '@swc/core', 'cpu-features', 'esbuild', 'protobufjs', 'ssh2'].map(
  (name) => `node_modules/${name}`,
)

test('npm runs no install script, no package of the product has one, and none needs one or is a prerelease', (t) => {
  const project = projectFolder()
  t.regex(readFileSync(join(project, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; hasInstallScript?: boolean; dev?: boolean }>
  }
  const doubtful = Object.entries(packages).filter(
    ([path, { version = '', hasInstallScript = false, dev = false }]) =>
      (hasInstallScript && !(dev && WORK_WITHOUT.includes(path))) || version.includes('-'),
  )
  t.true(Object.keys(packages).length > 100)
  t.deepEqual(doubtful, [])
})
