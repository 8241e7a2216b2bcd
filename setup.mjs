// `npm start` and `npm test` run this first: it installs the npm packages and builds, unless that is done already. With the
// argument `product` it installs and builds only what runs the service, without checking types, which takes a fraction of
// the time. It is plain JavaScript without packages, because they may not be installed yet.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'

const product = { config: 'tsconfig.product.json', folders: ['src', 'migrations', 'seeds', 'console'] }
const everything = { config: 'tsconfig.json', folders: [...product.folders, 'test', 'bench', 'clients'] }
const wanted = process.argv[2] === 'product' ? product : everything
const stampOf = ({ config }) => `build/.${config}.built`

/** What builds the product: among the packages, or apart if those for development are not installed. */
const tools = ['typescript', 'swagger-ui-dist', 'esbuild', '@swc/core', '@gfx/zopfli', 'preact', 'uqr'].map(
  (name) => `node_modules/${name}`,
)
const apart = 'node_modules/.tools'

try {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Node 20.19 or newer is needed, not ${major}.${minor}.`)
  process.chdir(import.meta.dirname)
  if (!isInstalled() || !isBuilt()) {
    await lock()
    // Another process may have done it meanwhile.
    if (!isInstalled()) await install()
    if (!isBuilt()) await build()
  }
} catch (error) {
  console.error(`setup: ${error.message}`)
  process.exitCode = 1
}

/** Takes a lock that this process holds until it ends, because `npm start` and `npm test` may be called at once. */
async function lock() {
  fs.mkdirSync('build', { recursive: true })
  // On macOS, O_EXLOCK takes the lock that flock(1) takes on Linux for the open file that it inherits.
  const exclusive = process.platform === 'linux' ? 0 : 0x20
  const file = fs.openSync('build/.setup.lock', fs.constants.O_RDWR | fs.constants.O_CREAT | exclusive)
  if (process.platform === 'linux') await run('flock', ['3'], file)
}

/** Whether the packages are those of package-lock.json, except for optional ones (binaries of other systems). */
function isInstalled() {
  const locked = packagesIn('package-lock.json')
  const present = packagesIn('node_modules/.package-lock.json')
  const others = packagesIn(`${apart}/node_modules/.package-lock.json`)
  for (const tool of tools) present[tool] ??= others[tool]
  return Object.entries(locked).every(([path, { integrity, optional, dev }]) => {
    if (present[path] !== undefined) return present[path].integrity === integrity
    return path === '' || optional || (dev && wanted === product && !tools.includes(path))
  })
}

function packagesIn(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).packages : {}
}

async function install() {
  console.log('setup: installing the npm packages from the network')
  await run('npm', ['ci', wanted === product ? '--omit=dev' : '--include=dev'])
  if (wanted === everything) return
  const locked = packagesIn('package-lock.json')
  const names = tools.map((tool) => `${tool.replace('node_modules/', '')}@${locked[tool].version}`)
  await run('npm', ['install', `--prefix=${apart}`, '--no-save', '--ignore-scripts', '--no-audit', ...names])
}

async function build() {
  console.log('setup: building')
  // Everything includes the product.
  const built = [product, wanted].map((part) => [stampOf(part), stateOf(part)])
  for (const file of fs.readdirSync('build', { recursive: true })) {
    if (!file.endsWith('.js') || fs.existsSync(file.replace(/js$/, 'ts'))) continue
    // The compiler leaves what it made of deleted sources; from its build info, it would not make it again.
    for (const path of [`build/${file}`, `build/${file}.map`, 'build/.tsbuildinfo']) fs.rmSync(path, { force: true })
  }
  const packages = tools.every((tool) => fs.existsSync(tool)) ? 'node_modules' : `${apart}/node_modules`
  const compiler = [`${packages}/typescript/bin/tsc`, '--pretty', 'false']
  await Promise.all([
    run(process.execPath, [...compiler, '--project', wanted.config]),
    run(process.execPath, ['console/build.mjs', packages]),
  ])
  copyPage(`${packages}/swagger-ui-dist`, 'build/swagger-ui')
  if (wanted === everything) {
    await run(process.execPath, ['console/types.mjs'])
    await run(process.execPath, [...compiler, '--project', 'console'])
  }
  for (const [stamp, state] of built) fs.writeFileSync(stamp, state)
}

/** Copies what the page of the API's description shows it with, compressed as it is sent, and the licences of that. */
function copyPage(from, to) {
  fs.mkdirSync(to, { recursive: true })
  for (const file of ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'])
    fs.copyFileSync(`${from}/${file}`, `${to}/${file}`)
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    fs.writeFileSync(`${to}/${file}.gz`, gzipSync(fs.readFileSync(`${from}/${file}`), { level: 9 }))
}

/** Whether exactly these sources were built completely. */
function isBuilt() {
  return fs.existsSync(stampOf(wanted)) && fs.readFileSync(stampOf(wanted), 'utf8') === stateOf(wanted)
}

/** The state of all that is built, and of what determines how. */
function stateOf({ folders }) {
  const sources = folders
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`))
    .filter((name) => /\.(tsx?|mjs|css|html)$/.test(name))
  return ['package-lock.json', everything.config, product.config, ...sources]
    .map((file) => `${file} ${fs.statSync(file).mtimeMs}\n`)
    .join('')
}

/** Runs a program, and prints what it says only if it fails. @param file an open file, which it gets as its file 3 */
async function run(program, args, file = 'ignore') {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', file] })
  const [[status], ...said] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  if (status === 0) return
  console.error(said.join('').trim())
  throw new Error(`${program} has failed; its output is above.`)
}
