import test from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../dev/project.ts'
import { newFolder } from './support/servers/folders.ts'

/** A project with our packages and two source files. */
function newProject(): string {
  const folder = newFolder()
  for (const file of ['setup.mjs', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.product.json']) {
    cpSync(join(projectFolder(), file), join(folder, file))
  }
  // The sources need no types of packages, whose reading would take most of the time.
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, readFileSync(config, 'utf8').replace('"types": ["node"]', '"types": []'))
  symlinkSync(join(projectFolder(), 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = 1\n')
  writeFileSync(join(folder, 'src', 'two.ts'), 'export const two = 2\n')
  return folder
}

async function runSetup(folder: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [join(folder, 'setup.mjs'), ...args])
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, output }
}

test.serial('setup builds once, and again after a file was changed, lost or deleted', async (t) => {
  const folder = newProject()
  const built = { code: 0, output: 'setup: building\n' }
  t.deepEqual(await runSetup(folder), built)
  t.deepEqual(await runSetup(folder), { code: 0, output: '' })
  writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = "changed"\n')
  t.deepEqual(await runSetup(folder), built)
  rmSync(join(folder, 'build', 'src', 'one.js'))
  t.deepEqual(await runSetup(folder), built)
  t.true(existsSync(join(folder, 'build', 'src', 'one.js')))
  rmSync(join(folder, 'src', 'two.ts'))
  t.deepEqual(await runSetup(folder), built)
  t.deepEqual(readdirSync(join(folder, 'build', 'src')).sort(), ['one.js', 'one.js.map'])
})

test.serial('for the product, setup builds no tests; when everything is built, it has nothing to do', async (t) => {
  const folder = newProject()
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test', 'one.test.ts'), "import '../src/one.ts'\n")
  const built = { code: 0, output: 'setup: building\n' }
  t.deepEqual(await runSetup(folder, 'product'), built)
  t.deepEqual(readdirSync(join(folder, 'build')).sort(), ['.setup.product.json', 'src'])
  t.deepEqual(await runSetup(folder, 'product'), { code: 0, output: '' })
  t.deepEqual(await runSetup(folder), built)
  t.true(existsSync(join(folder, 'build', 'test', 'one.test.js')))
  t.deepEqual(await runSetup(folder, 'product'), { code: 0, output: '' })
  writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = "changed"\n')
  t.deepEqual(await runSetup(folder, 'product'), built)
  t.true(existsSync(join(folder, 'build', 'test', 'one.test.js')))
  t.deepEqual(await runSetup(folder), built)
})

test.serial(
  'for the product, packages for development are not needed, and the compiler is installed alone',
  async (t) => {
    const folder = newProject()
    rmSync(join(folder, 'node_modules'))
    const installed = { code: 0, output: 'setup: installing the npm packages\nsetup: building\n' }
    t.deepEqual(await runSetup(folder, 'product'), installed)
    t.false(existsSync(join(folder, 'node_modules', 'ava')))
    t.true(existsSync(join(folder, 'build', 'src', 'one.js')))
    t.deepEqual(await runSetup(folder, 'product'), { code: 0, output: '' })
    writeFileSync(join(folder, 'src', 'one.ts'), 'export const one = 3\n')
    t.deepEqual(await runSetup(folder, 'product'), { code: 0, output: 'setup: building\n' })
  },
)

test.serial('a compiler error is shown at every setup until it is corrected', async (t) => {
  const folder = newProject()
  writeFileSync(join(folder, 'src', 'two.ts'), 'export const two: string = 2\n')
  for (const attempt of ['first', 'second']) {
    const { code, output } = await runSetup(folder)
    t.is(code, 1, attempt)
    t.regex(output, /src\/two\.ts\(1,14\): error TS2322/)
    t.regex(output, /\nsetup: tsc has failed; its output is above\.\n$/)
  }
})

test.serial('of two simultaneous setups, one builds and the other waits', async (t) => {
  const folder = newProject()
  const both = await Promise.all([runSetup(folder), runSetup(folder)])
  t.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  )
  t.is(both.filter(({ output }) => output.includes('building')).length, 1)
  t.deepEqual(readdirSync(join(folder, 'build')).sort(), ['.setup.json', '.setup.product.json', '.tsbuildinfo', 'src'])
})

test.serial('setup ignores the lock of a process that was killed', async (t) => {
  const folder = newProject()
  mkdirSync(join(folder, 'build'))
  const gone = spawn('true')
  await once(gone, 'exit')
  writeFileSync(join(folder, 'build', '.setup.lock'), String(gone.pid))
  t.like(await runSetup(folder), { code: 0 })
})

/** Packages of Testcontainers that work without their scripts: these build what is optional, or check a version. */
const WORK_WITHOUT = ['cpu-features', 'protobufjs', 'ssh2'].map((name) => `node_modules/${name}`)

test('npm runs no install script, and no package needs one or is a prerelease', (t) => {
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
