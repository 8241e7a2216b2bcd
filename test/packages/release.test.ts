import test from 'ava'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'
import { newFolder } from '../support/servers/folders.ts'

// What a release checks, and gives its version to.

const PROJECT = projectFolder()

interface Section {
  version: string
  date?: string
  text: string
}

interface Changelog {
  sectionsOf: (changelog: string) => Section[]
  changesOf: (changelog: string, version: string) => string
  withVersion: (changelog: string, version: string, date: string) => string
}

const { sectionsOf, changesOf, withVersion } = (await import(join(PROJECT, 'release', 'changelog.mjs'))) as Changelog
const changelog = readFileSync(join(PROJECT, 'CHANGELOG.md'), 'utf8')

/** A repository with what a release reads before it makes anything. */
function newRepository(): { run: (file: string, ...args: string[]) => string; folder: string } {
  const folder = newFolder()
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'CHANGELOG.md', 'release', 'deploy/helm']) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(PROJECT, file), join(folder, file), { recursive: true })
  }
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  run('git', 'init', '--quiet')
  for (const [name, value] of [
    ['user.name', 'Somebody'],
    ['user.email', 'somebody@example.net'],
    ['commit.gpgsign', 'false'],
  ] as const)
    run('git', 'config', name, value)
  run('git', 'add', '.')
  run('git', 'commit', '--quiet', '--message', 'all')
  return { run, folder }
}

test('the changelog goes back to 0.1.0, newest version first, and knows the version of the package', (t) => {
  const [, ...versions] = sectionsOf(changelog)
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Section
  t.is(versions[0]!.version, version)
  t.is(versions.at(-1)!.version, '0.1.0')
  const dates = versions.map(({ date }) => date!)
  t.deepEqual(dates, dates.toSorted().toReversed())
})

for (const [text, message] of [
  ['# Changelog\n\n## [0.1.0] - 2026-11-22\n\n- a\n', /first section must be/],
  ['## [Unreleased]\n\n## [0.1.0]\n\n- a\n', /0\.1\.0 has no date/],
  ['## [Unreleased]\n\n## [0.1.0] - 2026-11-22\n', /0\.1\.0 has no changes/],
  ['## [Unreleased]\n\n## 0.1.0 (2026-11-22)\n', /"## 0\.1\.0 \(2026-11-22\)" is not/],
  ['## [Unreleased]\n\n### New\n', /"New" is none of Added/],
] as const) {
  test(`a changelog is refused: ${message.source}`, (t) => {
    t.throws(() => sectionsOf(text), { message })
  })
}

test('a version gets what was unreleased, once', (t) => {
  const before = '# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- b\n\n## [0.1.0] - 2026-11-22\n\n- a\n'
  const after = withVersion(before, '0.1.1', '2026-12-01')
  t.deepEqual(sectionsOf(after), [
    { version: 'Unreleased', date: undefined, text: '' },
    { version: '0.1.1', date: '2026-12-01', text: '### Fixed\n\n- b' },
    { version: '0.1.0', date: '2026-11-22', text: '- a' },
  ])
  t.is(changesOf(after, '0.1.1'), '### Fixed\n\n- b')
  t.throws(() => changesOf(after, '0.1.0'), { message: /the newest version is 0\.1\.1/ })
  t.throws(() => changesOf(before, '0.1.0'), { message: /unreleased changes/ })
  t.throws(() => withVersion(after, '0.1.2', '2026-12-02'), { message: /no unreleased changes/ })
})

test('a release begins with one version everywhere, a changelog that has it, a clean commit and its tag', (t) => {
  const { run, folder } = newRepository()
  const refusal = () => {
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'release', 'build.mjs')], { encoding: 'utf8' })
    t.is(status, 1)
    return stderr
  }
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n- something\n'),
  )
  t.regex(refusal(), /there are unreleased changes/)

  run(process.execPath, 'release/version.mjs', '9.8.7')
  t.regex(refusal(), /not committed:\n.*CHANGELOG\.md/)
  run('git', 'commit', '--quiet', '--all', '--message', '9.8.7')
  t.deepEqual(run('git', 'show', '--name-only', '--format=').trim().split('\n'), [
    'CHANGELOG.md',
    'deploy/helm/zoneplane/Chart.yaml',
    'package-lock.json',
    'package.json',
  ])
  t.regex(refusal(), /no tag v9\.8\.7/)
  // The same version again.
  t.throws(() => run(process.execPath, 'release/version.mjs', '9.8.7'))

  const chart = join(folder, 'deploy/helm/zoneplane/Chart.yaml')
  writeFileSync(chart, readFileSync(chart, 'utf8').replace('appVersion: 9.8.7', 'appVersion: 9.8.6'))
  t.regex(refusal(), /Chart\.yaml has "appVersion: 9\.8\.6", not 9\.8\.7/)
  // Nothing was made.
  t.false(readdirSync(folder).includes('dist'))
})

test('the workflows run the commands that the documents name, and the forms of issues are YAML', (t) => {
  const read = (file: string) => readFileSync(join(PROJECT, '.github', file), 'utf8')
  for (const [file, command] of [
    ['workflows/ci.yml', '.ci/run'],
    ['workflows/release.yml', 'npm run release -- --images'],
  ] as const) {
    const { jobs, permissions } = parse(read(file)) as {
      jobs: Record<string, { steps: { run?: string }[] }>
      permissions: object
    }
    t.true(
      Object.values(jobs).some(({ steps }) => steps.some(({ run }) => run === command)),
      file,
    )
    t.deepEqual(Object.keys(permissions), ['contents'], file)
  }
  for (const file of ['fault.yml', 'wish.yml']) {
    const { name, description, body } = parse(read(`ISSUE_TEMPLATE/${file}`)) as {
      name: string
      description: string
      body: { id?: string }[]
    }
    t.true(name.length > 0 && description.length > 0 && body.length >= 3, file)
    const ids = body.flatMap(({ id }) => id ?? [])
    t.is(new Set(ids).size, ids.length, file)
  }
})
