// `npm run deb` makes zoneplane_VERSION_ARCHITECTURE.deb in the project's folder, or in the one that the argument names.
// It is plain JavaScript, as setup.mjs is, because it is no part of the product.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { manual, printed } from './manual.mjs'

const target = resolve(process.argv[2] ?? '.')
process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const stage = mkdtempSync(join(tmpdir(), 'zoneplane-deb-'))
try {
  stageProgram(join(stage, 'usr/lib/zoneplane'))
  put('deb/zoneplane', 'usr/bin/zoneplane')
  put('deb/zoneplane.service', 'usr/lib/systemd/system/zoneplane.service')
  put('deb/zoneplane.env', 'etc/zoneplane/zoneplane.env')
  put('LICENSE', 'usr/share/doc/zoneplane/copyright')
  put('README.md', 'usr/share/doc/zoneplane/README.md')
  put('CHANGELOG.md', 'usr/share/doc/zoneplane/CHANGELOG.md')
  const FOLDERS = [
    'docs',
    'docs/console',
    'docs/operators',
    'docs/examples',
    'docs/examples/no-single-point',
    'docs/monitoring',
  ]
  for (const folder of FOLDERS) {
    for (const entry of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())) {
      put(`${folder}/${entry.name}`, `usr/share/doc/zoneplane/${folder}/${entry.name}`)
    }
  }
  write('usr/share/man/man1/zoneplane.1.gz', gzipSync(await manual(manifest), { level: 9 }))
  write('usr/share/bash-completion/completions/zoneplane', await printed('completion', 'bash'))
  write('usr/share/zsh/vendor-completions/_zoneplane', await printed('completion', 'zsh'))
  write('usr/share/fish/vendor_completions.d/zoneplane.fish', await printed('completion', 'fish'))
  for (const script of ['postinst', 'prerm', 'postrm']) put(`deb/${script}`, `DEBIAN/${script}`)
  write('DEBIAN/conffiles', '/etc/zoneplane/zoneplane.env\n')
  const architecture = output('dpkg', ['--print-architecture'])
  write('DEBIAN/control', control(architecture, sizeOf(stage)))
  // Whatever the umask and the files of the clone are.
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage])
  for (const file of ['usr/bin/zoneplane', 'DEBIAN/postinst', 'DEBIAN/prerm', 'DEBIAN/postrm']) {
    chmodSync(join(stage, file), 0o755)
  }
  chmodSync(join(stage, 'etc/zoneplane/zoneplane.env'), 0o640)
  const file = join(target, `zoneplane_${manifest.version}_${architecture}.deb`)
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', stage, file], { stdio: ['ignore', 'ignore', 'inherit'] })
  console.log(relative('.', file))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

/** The files of the npm package, and the packages that it depends on. */
function stageProgram(folder) {
  mkdirSync(folder, { recursive: true })
  const [{ filename }] = JSON.parse(output('npm', ['pack', '--json', '--pack-destination', stage]))
  const tarball = join(stage, filename)
  execFileSync('tar', [
    '--extract',
    '--no-same-owner',
    '--strip-components=1',
    '--file',
    tarball,
    '--directory',
    folder,
  ])
  rmSync(tarball)
  const [, ...packages] = output('npm', ['ls', '--omit=dev', '--all', '--parseable']).split('\n')
  for (const path of packages) cpSync(path, join(folder, relative('.', path)), { recursive: true })
}

/** The size of files in KiB as dpkg counts it: the same on each file system. */
function sizeOf(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const sizes = entries.map((entry) =>
    entry.isFile() ? Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 1024) : 1,
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

// It depends on the architecture because @node-rs/argon2 has machine code.
function control(architecture, size) {
  const [, ...rest] = manifest.description.split(': ')
  return [
    'Package: zoneplane',
    `Version: ${manifest.version}`,
    `Architecture: ${architecture}`,
    'Section: net',
    'Priority: optional',
    'Maintainer: The Zoneplane project <zoneplane@zoneplane.test>',
    `Installed-Size: ${size}`,
    'Depends: adduser, nodejs (>= 20.19), pdns-backend-lmdb (>= 4.7), pdns-server (>= 4.7), postgresql (>= 15)',
    'Description: control plane of a DNS hosting service',
    ` ${rest.join(': ')}.`,
    ' .',
    ' The service does not start by itself: it first needs settings in',
    ' /etc/zoneplane/zoneplane.env.',
    '',
  ].join('\n')
}

function put(source, path) {
  write(path, readFileSync(source))
}

function write(path, content) {
  const file = join(stage, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, content)
}

function output(file, args) {
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
