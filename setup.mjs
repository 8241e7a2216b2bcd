// `npm start` and `npm test` run this first: it installs the npm packages and builds, unless that is done already. With the
// argument `product` it installs and builds only what runs the service, without checking types, which takes a fraction of
// the time.
// It is plain JavaScript without packages, because they may not be installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const oldestNode = [20, 19]
const product = {
  folders: ['src', 'dev', 'migrations', 'seeds'],
  packages: '--omit=dev',
  config: 'tsconfig.product.json',
  stamp: 'build/.setup.product.json',
}
const everything = {
  folders: [...product.folders, 'test', 'bench', 'clients'],
  packages: '--include=dev',
  config: 'tsconfig.json',
  stamp: 'build/.setup.json',
}
const wanted = process.argv[2] === 'product' ? product : everything
const buildInfo = 'build/.tsbuildinfo'
const lock = 'build/.setup.lock'

/** Where the compiler is: among the packages, or alone, if those for development are not installed. */
const compilers = ['.', 'build/compiler']

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
try {
  checkNode()
  if (!isInstalled() || !isBuilt()) await underLock(installAndBuild)
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

async function installAndBuild() {
  // Checked again: another process may have done it while this one waited for the lock.
  if (!isInstalled()) await install()
  if (!isBuilt()) await build(compilers.find(hasCompiler) ?? (await installCompiler()))
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return
  throw new Error(`Zoneplane needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.`)
}

/** Whether node_modules matches package-lock.json, except for optional packages (binaries of other systems). */
function isInstalled() {
  if (!existsSync('node_modules/.package-lock.json')) return false
  const present = lockedIn('node_modules/.package-lock.json')
  return Object.entries(lockedIn('package-lock.json')).every(
    ([path, { version, integrity, optional, dev }]) =>
      path === '' ||
      (present[path]
        ? present[path].version === version && present[path].integrity === integrity
        : optional || (dev && wanted === product)),
  )
}

function lockedIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

async function install() {
  console.log('setup: installing the npm packages')
  await runNpm('ci', wanted.packages)
  if (!isInstalled()) throw new Error('npm ci has succeeded, but node_modules does not match package-lock.json.')
}

async function installCompiler() {
  const { version } = lockedIn('package-lock.json')['node_modules/typescript']
  const [, folder] = compilers
  await runNpm('install', `--prefix=${folder}`, '--no-save', '--no-package-lock', `typescript@${version}`)
  if (!hasCompiler(folder)) throw new Error('npm has installed another compiler than package-lock.json says.')
  return folder
}

function hasCompiler(folder) {
  const file = `${folder}/node_modules/.package-lock.json`
  if (!existsSync(file)) return false
  const path = 'node_modules/typescript'
  return lockedIn(file)[path]?.integrity === lockedIn('package-lock.json')[path].integrity
}

async function runNpm(command, ...more) {
  // npm_execpath is the npm that runs this script.
  const npm = process.env.npm_execpath ?? ''
  const args = [command, ...more, '--ignore-scripts', '--no-audit', '--no-fund']
  if (npm.endsWith('npm-cli.js')) await run(`npm ${command}`, process.execPath, [npm, ...args])
  else await run(`npm ${command}`, 'npm', args)
}

/** Whether what is wanted was built completely, from exactly these sources. */
function isBuilt() {
  if (!existsSync(wanted.stamp)) return false
  const sources = listSources(wanted)
  return (
    readFileSync(wanted.stamp, 'utf8') === fingerprint(sources) && sources.every((file) => existsSync(outputOf(file)))
  )
}

/** @param compiler the folder whose packages have it */
async function build(compiler) {
  console.log('setup: building')
  const sources = listSources(wanted)
  const outputs = new Set(sources.map(outputOf))
  // Everything includes the product.
  const made = (wanted === product ? [product] : [product, everything]).map(({ stamp, ...parts }) => [
    stamp,
    fingerprint(listSources(parts)),
  ])
  for (const folder of wanted.folders) {
    for (const file of listFiles(`build/${folder}`, (name) => name.endsWith('.js'))) {
      if (!outputs.has(file)) for (const path of [file, `${file}.map`]) rmSync(path, { force: true })
    }
  }
  // According to its build info, the compiler would not write deleted files again.
  if (![...outputs].every(existsSync)) rmSync(buildInfo, { force: true })
  await run('tsc', process.execPath, [
    `${compiler}/node_modules/typescript/bin/tsc`,
    '--pretty',
    'false',
    '--project',
    wanted.config,
  ])
  for (const [stamp, text] of made) writeFileSync(stamp, text)
}

function listSources({ folders }) {
  return folders.flatMap((folder) => listFiles(folder, (name) => /(?<!\.d)\.ts$/.test(name)))
}

function listFiles(folder, wanted) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return listFiles(path, wanted)
    return wanted(entry.name) ? [path] : []
  })
}

function outputOf(source) {
  return `build/${source.slice(0, -3)}.js`
}

/** A hash that changes if a source, or the compiler's version or settings, change. */
function fingerprint(sources) {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', everything.config, product.config, ...sources]) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

async function run(what, file, args) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  if (code === 0) return
  console.error(output.trim())
  throw new Error(`${what} has failed; its output is above.`)
}

/** Runs `work` in one process at a time: `npm start` and `npm test` may be called at the same time. */
async function underLock(work) {
  mkdirSync('build', { recursive: true })
  const mine = `${lock}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    for (let told = false; !tryLink(mine);) {
      const holder = Number(read(lock))
      if (holder && !isRunning(holder)) clearDead(holder)
      else {
        if (!told) console.log(`setup: waiting for process ${holder}, which installs or builds`)
        told = true
        await sleep(200)
      }
    }
    process.once('exit', () => rmSync(lock, { force: true }))
    await work()
  } finally {
    rmSync(mine, { force: true })
  }
}

function tryLink(mine) {
  try {
    linkSync(mine, lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that has ended. Of several waiting processes, only the one that makes the folder does. */
function clearDead(holder) {
  const clearing = `build/.setup.clearing.${holder}`
  try {
    mkdirSync(clearing)
  } catch {
    return
  }
  if (Number(read(lock)) === holder) rmSync(lock, { force: true })
  rmSync(clearing, { recursive: true })
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether this process runs setup.mjs; after a reboot its id may belong to another program. */
function isRunning(pid) {
  if (existsSync('/proc/self/cmdline')) return read(`/proc/${pid}/cmdline`).includes('setup.mjs')
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function explain(error) {
  if (['EACCES', 'EROFS', 'EPERM', 'ENOSPC'].includes(error.code)) {
    return `setup: ${error.message}. To install and build, this folder must be writable.`
  }
  return error.code === 'ENOENT' && error.path === 'npm' ? 'setup: npm is not in PATH.' : `setup: ${error.message}`
}
