import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../../src/errors.ts'
import { projectFolder } from '../../src/installation/project.ts'
import { waitForLock } from '../../src/private-servers/lock.ts'
import { ensureInstalled, hasAll, type Requirement } from '../../src/private-servers/packages.ts'
import { readConfig } from '../../src/settings/config.ts'
import { readCompose } from '../support/compose.ts'
import { BUILD, ensureBases } from './bases.ts'
import { buildOf, CI_IMAGE, hasCiImage, imageOf } from './compose.ts'
import { isolated, isRoot, podmanOutside, prepareStore, STORE } from './podman.ts'

// `npm run test:images`: builds the images, and runs the tests in this folder. Arguments are passed to AVA;
// `--measure` measures instead.

const tools: Requirement[] = [
  {
    what: 'podman, with what it needs for networks of its own and for --init',
    isThere: () => hasAll('podman', 'crun', 'iptables', 'catatonit', 'unshare', 'ip'),
    packages: [
      'podman',
      'crun',
      'netavark',
      'aardvark-dns',
      'iptables',
      'catatonit',
      'uidmap',
      'slirp4netns',
      'iproute2',
    ],
  },
  { what: 'dig', isThere: () => hasAll('dig'), packages: ['bind9-dnsutils'] },
  ...(isRoot ? [{ what: 'debootstrap', isThere: () => hasAll('debootstrap'), packages: ['debootstrap'] }] : []),
]

const measures = process.argv[2] === '--measure'
let skipped: string | undefined
try {
  await prepare()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  skipped = error.message
  progress(`the images cannot be made here, so their tests are skipped: ${skipped}`)
}
process.exitCode = skipped === undefined && !(await buildImages()) ? 1 : await runTests()

function progress(text: string): void {
  console.log(`images: ${text}`)
}

/** Installs what the tests need, and takes or makes the images that ours begin with. */
async function prepare(): Promise<void> {
  const { install } = readConfig(process.env)
  await ensureInstalled(tools, { install, progress })
  prepareStore()
  const lock = await waitForLock(join(STORE, 'lock'), ({ pid }) => {
    progress(`waiting for process ${pid}, which is testing images`)
  })
  process.once('exit', () => {
    lock.release()
  })
  if ((await podmanOutside('info', '--format={{.Host.OCIRuntime.Name}}')) !== 0)
    throw new StartError('podman does not run')
  const files = ['Dockerfile', 'pdns/Dockerfile'].map((file) => readFileSync(join(projectFolder(), file), 'utf8'))
  // A name without a colon is that of an earlier stage.
  const images = files.flatMap((file) => [...file.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image!))
  const named = Object.values(readCompose().services).flatMap(({ image = [] }) => image)
  await ensureBases(new Set([...images, ...named]), progress)
}

/** Builds the images of docker-compose.yml, and that for CI if there is one; returns whether that succeeded. */
async function buildImages(): Promise<boolean> {
  const builds = Object.entries(readCompose().services).map(([name, service]) => {
    return { image: imageOf(name, service), options: buildOf(service) }
  })
  if (hasCiImage()) builds.push({ image: CI_IMAGE, options: ['--target=ci', projectFolder()] })
  for (const { image, options } of builds) {
    if (options.length === 0) continue
    const start = performance.now()
    if ((await podmanOutside(...BUILD, '--quiet', '--tag', image, ...options)) !== 0) return false
    progress(`${image}: built in ${Math.round((performance.now() - start) / 1000)} s`)
    await podmanOutside('images', '--noheading', '--format={{.Repository}}: {{.Size}}', image)
  }
  return true
}

/** Runs the tests, or the measurement, where podman can work and nothing can be left behind; resolves with the exit code. */
async function runTests(): Promise<number> {
  const temporary = mkdtempSync(join(tmpdir(), 'zoneplane-images-'))
  const project = projectFolder()
  const folder = 'build/test/images'
  const args = process.argv.slice(2)
  const files = readdirSync(join(project, folder)).filter((file) => file.endsWith('.test.js'))
  const ava = ['node_modules/ava/entrypoints/cli.mjs', '--serial', '--fail-fast', '--timeout=10m']
  const program = measures ? [`${folder}/measure.js`] : [...ava, ...files.map((file) => `${folder}/${file}`), ...args]
  const command = [process.execPath, '--enable-source-maps', ...program]
  const [file, ...rest] = skipped === undefined ? isolated(command, { network: true }) : command
  const child = spawn(file!, rest, {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      TMPDIR: temporary,
      TEST_FOLDER: temporary,
      TEST_SEED: '0',
      TEST_IMAGES: skipped === undefined ? 'on' : 'off',
    },
  })
  const code = await new Promise<number | null>((resolve, reject) => child.once('exit', resolve).once('error', reject))
  rmSync(temporary, { recursive: true, force: true })
  return code ?? 1
}
