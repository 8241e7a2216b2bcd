import { Ajv } from 'ajv'
import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { blocks } from '../clients/support/documents.ts'
import { settings } from '../support/settings.ts'
import { CHART, readYaml, VALUES } from './values.ts'

// The chart for Kubernetes, as far as it needs no Helm; test/clients/built/chart.test.ts renders it.

type Values = Record<string, unknown>

const isValid = new Ajv({ allErrors: true, strict: false }).compile(
  JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as object,
)
const defaults = readYaml(join(CHART, 'values.yaml')) as Values

/** The defaults with these values, as Helm merges them. */
function merged(over: unknown, under: unknown = defaults): unknown {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(over) || !isMap(under)) return over
  return {
    ...under,
    ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, merged(value, under[key])])),
  }
}

/** The paths of the values that the schema refuses. */
function refused(values: unknown): string[] {
  return isValid(merged(values)) ? [] : isValid.errors!.map(({ instancePath, keyword }) => `${instancePath} ${keyword}`)
}

for (const file of VALUES) {
  test(`the schema takes the values of ${basename(file)}`, (t) => {
    t.deepEqual(refused(readYaml(file)), [])
  })
}

const valid = readYaml(join(projectFolder(), 'test', 'chart', 'values', 'documented.yaml')) as Values

for (const [what, change, path] of [
  ['a misspelt setting', { settings: { NAME_SERVERS: 'ns1.example.net' } }, '/settings'],
  [
    'a number as a setting, which YAML might write otherwise',
    { settings: { BODY_LIMIT: 16777216 } },
    '/settings/BODY_LIMIT',
  ],
  ['what YAML makes of off', { settings: { CONSOLE: false } }, '/settings/CONSOLE'],
  ['a secret among the settings', { settings: { MAIL_URL: 'smtps://user:password@mail.example.net' } }, '/settings'],
  ['a setting that the chart sets', { settings: { PDNS_API_URL: 'http://192.0.2.1:8081' } }, '/settings'],
  ['a setting of private servers', { settings: { DNS_PORT: '53' } }, '/settings'],
  ['no image', { images: { api: '' } }, '/images/api'],
  ['no image of Postgres', { postgres: { cluster: { image: '' } } }, '/postgres/cluster/image'],
  ['a third PowerDNS', { powerdns: { replicas: 3 } }, '/powerdns/replicas'],
  ['queries to a pod that is not there', { powerdns: { replicas: 1 }, dns: { pod: 1 } }, '/dns/pod'],
  ['more processes than PowerDNS has connections', { api: { replicas: 9 } }, '/api/replicas'],
  ['an Ingress without a host', { host: '' }, '/host'],
  ['two ways to the API', { httpRoute: { enabled: true, parentRefs: [{ name: 'a' }] } }, '/ingress/enabled'],
  ['alerts without metrics', { metrics: { prometheusRule: true } }, '/metrics/enabled'],
  ['an unknown value', { image: 'registry.example.net/zoneplane' }, ''],
] as const) {
  test(`the schema refuses ${what}`, (t) => {
    t.true(
      refused(merged(change, valid)).some((problem) => problem.startsWith(`${path} `)),
      refused(merged(change, valid)).join(', '),
    )
  })
}

test('the schema requires the names of the nameservers', (t) => {
  t.deepEqual(refused({ ...valid, settings: {} }), ['/settings required'])
})

test('every variable that the templates set is a setting', (t) => {
  const known = settings()
  // Of the image of PowerDNS.
  for (const name of ['TRANSFER_ADDRESSES', 'PDNS_API_NETWORKS']) known.add(name)
  const texts = readdirSync(join(CHART, 'templates')).map((name) =>
    readFileSync(join(CHART, 'templates', name), 'utf8'),
  )
  const used = texts.flatMap((text) =>
    [...text.matchAll(/(?:name: |")([A-Z]{3,}(?:_[A-Z]+)*)\b/g)].map(([, name]) => name!),
  )
  t.true(used.includes('PDNS_CONNECTIONS') && used.includes('METRICS_PORT'))
  t.deepEqual(
    used.filter((name) => !known.has(name)),
    [],
  )
  const entrypoint = readFileSync(join(projectFolder(), 'pdns', 'entrypoint.sh'), 'utf8')
  for (const name of ['TRANSFER_ADDRESSES', 'PDNS_API_NETWORKS', 'PDNS_API_KEY'])
    t.true(entrypoint.includes(name), name)
})

test('the chart has the version of the package', (t) => {
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string }
  t.like(readYaml(join(CHART, 'Chart.yaml')), { name: 'zoneplane', version, appVersion: version })
})

test('the values in the document are those of a set', (t) => {
  const [values] = blocks('docs/operators/kubernetes.md', 'The values').filter((block) => block.startsWith('images:'))
  const file = readFileSync(join(projectFolder(), 'test', 'chart', 'values', 'documented.yaml'), 'utf8')
  t.is(file.replace(/^#.*\n/, ''), `${values!.trim()}\n`)
})
