import test from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { scrapedText } from './scrape.ts'

// docs/monitoring: a dashboard and alerts, for what a process really tells.

const service = useService({ METRICS_PORT: '0' })
const document = (name: string) => readFileSync(join(projectFolder(), 'docs', 'monitoring', name), 'utf8')

interface Panel {
  title: string
  targets?: { expr: string }[]
}
const { panels } = JSON.parse(document('dashboard.json')) as { panels: Panel[] }

interface Rule {
  alert: string
  expr: string
  annotations: Record<string, string>
}
const { groups } = parse(document('alerts.yml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

/** The metrics in an expression of PromQL. */
const metricsIn = (expression: string) => expression.match(/\b(?:zoneplane|nodejs|process)_\w+/g) ?? []

const expressions = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
]

test('every metric of the dashboard and of the alerts is in a scrape', async (t) => {
  // The process has collected garbage, and Prometheus derives these names from that of a histogram or summary.
  await eventually(async () => /^nodejs_gc_duration_seconds_sum/m.test(await scrapedText(service())))
  const told = new Set((await scrapedText(service())).match(/(?<=^# TYPE )\w+/gm))
  t.true(expressions.length > 40)
  for (const [title, expression] of expressions) {
    const used = metricsIn(expression)
    t.true(used.length > 0, title)
    for (const name of used)
      t.true(told.has(name) || told.has(name.replace(/_(bucket|sum|count)$/, '')), `${title}: ${name}`)
  }
})

test('every label that they select has a value in a scrape', async (t) => {
  // Postgres and PowerDNS have been asked, and all was noted.
  await eventually(async () => /^zoneplane_measured_timestamp_seconds [1-9]/m.test(await scrapedText(service())))
  const text = await scrapedText(service())
  for (const [title, expression] of expressions) {
    for (const [, name, label] of expression.matchAll(/(zoneplane_\w+)\{(\w+)=~?"/g)) {
      if (name!.startsWith('zoneplane_http_')) continue
      t.regex(text, new RegExp(`^${name!}\\{[^}]*\\b${label!}="`, 'm'), title)
    }
  }
})

test('every alert says what it means and what to do', (t) => {
  t.true(rules.length >= 6)
  for (const { alert, annotations } of rules) {
    t.true(annotations['summary']!.length > 20 && annotations['action']!.length > 60, alert)
  }
})
