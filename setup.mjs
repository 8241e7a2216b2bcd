// What `npm start` and `npm test` do first: install the npm packages and build, if that is not done already.
// Plain JavaScript without packages, for there may be none yet; quick when there is nothing to do.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const oldestNode = [20, 19]
const sourceFolders = ['src', 'dev', 'migrations', 'seeds', 'test', 'bench']
const stamp = 'build/.setup.json'
const buildInfo = 'build/.tsbuildinfo'
const lock = 'build/.setup.lock'

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
try {
  checkNode()
  if (!isInstalled() || !isBuilt()) await underLock(installAndBuild)
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

async function installAndBuild() {
  // Looked at again: somebody else may have done it while we waited for the lock.
  if (!isInstalled()) await install()
  if (!isBuilt()) await build()
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return
  throw new Error(`Zoneplane needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.`)
}

/** Whether node_modules has what package-lock.json asks for, save what is optional (binaries of other systems). */
function isInstalled() {
  if (!existsSync('node_modules/.package-lock.json')) return false
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages
  const present = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, { version, integrity, optional }]) =>
      path === '' ||
      (present[path] ? present[path].version === version && present[path].integrity === integrity : optional),
  )
}

async function install() {
  console.log('setup: installing the npm packages')
  // npm tells its scripts where it is; a user's setting for production would leave out the compiler.
  const npm = process.env.npm_execpath ?? ''
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund']
  if (npm.endsWith('npm-cli.js')) await run('npm ci', process.execPath, [npm, ...args])
  else await run('npm ci', 'npm', args)
  if (!isInstalled()) throw new Error('npm ci has ended well, but node_modules does not match package-lock.json.')
}

/** Whether the build was made of exactly these sources, and all of it is there. */
function isBuilt() {
  if (!existsSync(stamp)) return false
  const sources = listSources()
  return readFileSync(stamp, 'utf8') === fingerprint(sources) && sources.every((file) => existsSync(outputOf(file)))
}

async function build() {
  console.log('setup: building')
  const sources = listSources()
  const made = fingerprint(sources)
  const outputs = new Set(sources.map(outputOf))
  for (const file of listFiles('build', (name) => name.endsWith('.js'))) {
    if (!outputs.has(file)) for (const path of [file, `${file}.map`]) rmSync(path, { force: true })
  }
  // The compiler trusts its notes and would not write again what was deleted.
  if (![...outputs].every(existsSync)) rmSync(buildInfo, { force: true })
  await run('tsc', process.execPath, ['node_modules/typescript/bin/tsc', '--pretty', 'false'])
  writeFileSync(stamp, made)
}

function listSources() {
  return sourceFolders.flatMap((folder) => listFiles(folder, (name) => /(?<!\.d)\.ts$/.test(name)))
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

/** Tells whether any source was changed, added or removed, or what it is compiled with. */
function fingerprint(sources) {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', ...sources]) {
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
  throw new Error(`${what} has failed; what it said is above.`)
}

/** One at a time: `npm start` and `npm test` may be called side by side. */
async function underLock(work) {
  mkdirSync('build', { recursive: true })
  const mine = `${lock}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    for (let told = false; !tryLink(mine);) {
      const holder = Number(read(lock))
      if (holder && !isRunning(holder)) clearDead(holder)
      else {
        if (!told) console.log(`setup: waiting for process ${holder}, which is at it`)
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

/** Clears the lock of a process that is gone. Of several that wait, the one that gets this second lock does so. */
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

/** Whether a process of this number is at it; after a reboot it may be anything else. */
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
    return `setup: ${error.message}. This folder must be writable to install and build here.`
  }
  return error.code === 'ENOENT' && error.path === 'npm' ? 'setup: npm is not in PATH.' : `setup: ${error.message}`
}
