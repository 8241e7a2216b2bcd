// `npm run release:version -- VERSION` gives a new version to the package, the chart and the unreleased changes. Then commit and
// tag them: CONTRIBUTING.md.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withVersion } from './changelog.mjs'

const CHART = 'deploy/helm/zoneplane/Chart.yaml'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
try {
  const [version = ''] = process.argv.slice(2)
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version, such as 1.2.3')
  const date = new Date().toISOString().slice(0, 10)
  const changelog = withVersion(readFileSync('CHANGELOG.md', 'utf8'), version, date)
  // It refuses the version that is there.
  execFileSync('npm', ['version', '--no-git-tag-version', version], { stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync('CHANGELOG.md', changelog)
  const chart = readFileSync(CHART, 'utf8')
  writeFileSync(CHART, chart.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`))
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}
