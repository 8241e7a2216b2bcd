// `npm run release` makes all files of a release in the folder `dist`, or in the one that the argument names; with `--images`
// the archives of the images, too, which needs docker or podman, and base images. The same commit makes the same bytes, but
// for the images, which contain what Debian has at the time. All packages are installed for that, those for development, too:
// names of the console's files depend on where the packages are.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { changesOf } from './changelog.mjs'

const CHART = 'deploy/helm/zoneplane'

const [withImages, [folder = 'dist']] = [
  process.argv.includes('--images'),
  process.argv.slice(2).filter((argument) => !argument.startsWith('--')),
]
const target = resolve(folder)
process.chdir(fileURLToPath(new URL('..', import.meta.url)))

try {
  const version = checkedVersion()
  // What is made now looks as if it was made at the commit.
  const time = output('git', ['log', '-1', '--format=%ct'])
  const environment = { ...process.env, SOURCE_DATE_EPOCH: time, DPKG_DEB_THREADS_MAX: '1' }

  mkdirSync(target, { recursive: true })
  if (readdirSync(target).length > 0) throw new Error(`${target} is not empty`)
  const put = (name, contents) => writeFileSync(join(target, name), contents)
  put('CHANGES.md', `${changesOf(readFileSync('CHANGELOG.md', 'utf8'), version)}\n`)
  put(`zoneplane-${version}.tgz`, npmPackage(time))
  output(process.execPath, ['deb/build.mjs', target], environment)
  put(`zoneplane-chart-${version}.tgz`, archive(`${CHART}/..`, 'zoneplane', time))
  put(`zoneplane-${version}.cdx.json`, bill(time))
  if (withImages) makeImages(version)
  const sums = readdirSync(target)
    .sort()
    .map((name) => `${sum(join(target, name))}  ${name}\n`)
  put('SHA256SUMS', sums.join(''))
  for (const name of readdirSync(target)) console.log(join(folder, name))
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}

/** The version of this commit. @throws Error unless all agree on it, and the files are those of its tag */
function checkedVersion() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const locked = JSON.parse(readFileSync('package-lock.json', 'utf8')).version
  if (locked !== version) throw new Error(`package-lock.json has the version ${locked}, not ${version}`)
  for (const [line] of readFileSync(`${CHART}/Chart.yaml`, 'utf8').matchAll(/^(?:version|appVersion): .*$/gm))
    if (line.split(': ')[1] !== version) throw new Error(`${CHART}/Chart.yaml has "${line}", not ${version}`)
  changesOf(readFileSync('CHANGELOG.md', 'utf8'), version)
  const changed = output('git', ['status', '--porcelain'])
  if (changed !== '') throw new Error(`there are files that are not committed:\n${changed}`)
  if (!output('git', ['tag', '--points-at', 'HEAD']).split('\n').includes(`v${version}`))
    throw new Error(`the commit has no tag v${version}: see CONTRIBUTING.md`)
  return version
}

/** The npm package, as `npm pack` makes it, but for the rights that files have here. */
function npmPackage(time) {
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-release-'))
  try {
    output('npm', ['pack', '--pack-destination', folder])
    const [file] = readdirSync(folder)
    output('tar', ['--extract', '--file', join(folder, file), '--directory', folder])
    return archive(folder, 'package', time)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A compressed archive of a folder in another one, which does not depend on the time, the user or the file system. */
function archive(parent, folder, time) {
  const order = ['--format=ustar', '--sort=name', `--mtime=@${time}`]
  const rights = ['--mode=u=rwX,go=rX', '--owner=0', '--group=0', '--numeric-owner']
  const args = ['--create', ...order, ...rights, '--directory', parent, folder]
  return gzipSync(execFileSync('tar', args, { maxBuffer: 2 ** 28 }), { level: 9 })
}

/** The bill of materials (CycloneDX) of what runs, without the number, the time and the folder of this run. */
function bill(time) {
  const made = JSON.parse(
    output('npm', ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application']),
  )
  delete made.serialNumber
  made.metadata.component.name = 'zoneplane'
  made.metadata.timestamp = new Date(1000 * Number(time)).toISOString()
  return `${JSON.stringify(made, null, 2)}\n`
}

/** Makes the archives of both images. */
function makeImages(version) {
  const program = ['podman', 'docker'].find((name) => spawnSync(name, ['--version']).status === 0)
  if (program === undefined) throw new Error('--images needs podman or docker')
  for (const [name, context] of [
    ['zoneplane', '.'],
    ['zoneplane-powerdns', 'pdns'],
  ]) {
    const tag = `${name}:${version}`
    execFileSync(program, ['build', '--tag', tag, context], { stdio: 'inherit' })
    execFileSync(program, ['save', '--output', join(target, `${name}-image-${version}.tar`), tag], { stdio: 'inherit' })
  }
}

function sum(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function output(file, args, env = process.env) {
  return execFileSync(file, args, {
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}
