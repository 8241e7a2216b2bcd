import test from 'ava'
import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import { outcome } from '../../src/private-servers/daemon.ts'
import { newFolder } from '../support/servers/folders.ts'

// docs/monitoring, read by Prometheus itself.

const folder = join(projectFolder(), 'docs', 'monitoring')

async function checked(file: string): Promise<string> {
  return (await promisify(execFile)('promtool', ['check', 'rules', file])).stdout
}

test('Prometheus accepts the alerts', async (t) => {
  t.regex(await checked(join(folder, 'alerts.yml')), /SUCCESS: 12 rules found/)
})

test('Prometheus has nothing to say against the names of the metrics', async (t) => {
  const checking = spawn('promtool', ['check', 'metrics'])
  const said = outcome(checking)
  checking.stdin.end(await new Metrics().text())
  t.deepEqual(await said, { code: 0, output: '' })
})

test('Prometheus accepts the expressions of the dashboard', async (t) => {
  const { panels } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[]
  }
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const rules = expressions.map((expr, n) => ({
    record: `dashboard:${n}`,
    expr: expr.replace('$__rate_interval', '5m'),
  }))
  const file = join(newFolder(), 'dashboard.yml')
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
  t.regex(await checked(file), new RegExp(`SUCCESS: ${expressions.length} rules found`))
})
