import type { ExecutionContext } from 'ava'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../../src/settings/config.ts'
import { CHART, VALUES } from '../../chart/values.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { lackOfGo } from '../support/go.ts'
import { buildProgram, KUBERNETES, makeSchemas } from '../support/kubernetes.ts'
import { run, succeeded } from '../support/programs.ts'

// The chart for Kubernetes: Helm renders it, and its objects are what the schemas of Kubernetes say.

interface Container {
  securityContext: object
  env: { name: string; value?: string }[]
}

interface Manifest {
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  data?: Record<string, string>
  spec?: {
    groups?: object[]
    replicas?: number
    selector?: Record<string, unknown>
    template?: { spec: { securityContext: object; containers: Container[] } }
  }
}

const withGo = needs(lackOfGo(), test)

withGo('Helm renders the chart with each set of values, and kubeconform takes all that it makes', async (t) => {
  const helm = await buildProgram(t, 'helm.sh/helm/v3', 'v3.22.0', 'cmd/helm')
  const kubeconform = await buildProgram(t, 'github.com/yannh/kubeconform', 'v0.8.0', 'cmd/kubeconform')
  const schemas = await makeSchemas(t)
  // The module proxy does not have the definition of CloudNativePG's Cluster.
  const check = (path: string) =>
    run(kubeconform, ['-strict', '-summary', '-skip', 'Cluster', '-schema-location', schemas, path])
  const render = (file: string, target: string) =>
    run(helm, [
      ...['template', 'demo', CHART, '--values', file],
      ...['--kube-version', KUBERNETES, '--output-dir', target],
    ])

  const kinds = new Set<string>()
  for (const file of VALUES) {
    const name = basename(file)
    const target = newFolder()
    t.regex(succeeded(t, await run(helm, ['lint', '--strict', CHART, '--values', file])), / 0 chart\(s\) failed/)
    succeeded(t, await render(file, target))
    const said = succeeded(t, await check(target))
    t.log(`${name}: ${said.trim()}`)
    const manifests = manifestsIn(target)
    for (const manifest of manifests) {
      kinds.add(manifest.kind)
      hasFewRights(t, manifest)
    }
    const { env } = manifests.find(({ kind }) => kind === 'Deployment')!.spec!.template!.spec.containers[0]!
    t.is(env.find(({ name }) => name === 'PDNS_API_URL')!.value, primariesIn(t, manifests).join(), name)
    const dns = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-powerdns'))!
    t.is(dns.spec!.selector![POD], `${dns.metadata.name}-${name === 'gateway.yaml' ? 1 : 0}`, name)
    const secrets = {
      DATABASE_URL: 'postgresql://zoneplane:password@postgres:5432/zoneplane',
      PDNS_API_KEY: 'key',
      KEY_ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
      ...(name === 'secondaries.yaml' ? { OIDC_CLIENT_SECRET: 'secret' } : {}),
    }
    // The service takes these settings.
    t.notThrows(
      () => readConfig({ ...Object.fromEntries(env.map(({ name, value }) => [name, value])), ...secrets }),
      name,
    )
  }
  for (const kind of [
    'Cluster',
    'HTTPRoute',
    'Ingress',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PrometheusRule',
    'Secret',
    'Service',
    'ServiceMonitor',
    'StatefulSet',
  ]) {
    t.true(kinds.has(kind), kind)
  }

  for (const [file, right, wrong] of [
    ['api.yaml', 'readOnlyRootFilesystem: true', 'readOnlyRootFileSystem: true'],
    ['api.yaml', 'replicas: 2', 'replicas: two'],
    ['routes.yaml', 'hostnames: ', 'hosts: '],
    ['monitoring.yaml', 'port: metrics', 'portName: metrics'],
  ] as const) {
    const target = newFolder()
    succeeded(
      t,
      await render(
        VALUES.find((path) => path.endsWith('gateway.yaml'))!,
        target,
      ),
    )
    const path = join(target, 'zoneplane', 'templates', file)
    const text = readFileSync(path, 'utf8')
    t.true(text.includes(right), right)
    writeFileSync(path, text.replace(right, wrong))
    t.not((await check(target)).code, 0, wrong)
  }
})

const POD = 'statefulset.kubernetes.io/pod-name'

/** The addresses of PowerDNS' API: each pod has a Service of its own. */
function primariesIn(t: ExecutionContext, manifests: Manifest[]): string[] {
  const { metadata, spec } = manifests.find(({ kind }) => kind === 'StatefulSet')!
  const pods = Array.from({ length: spec!.replicas! }, (_, i) => `${metadata.name}-${i}`)
  const services = manifests.filter(({ kind, metadata: { name } }) => kind === 'Service' && pods.includes(name))
  t.deepEqual(
    services.map(({ metadata: { name }, spec }) => [name, spec!.selector![POD]]),
    pods.map((pod) => [pod, pod]),
  )
  return pods.map((pod) => `http://${pod}:8081`)
}

/** The objects that Helm has made. */
function manifestsIn(folder: string): Manifest[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'))
  return files.flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document) => document.toJS() as Manifest),
  )
}

/** Asserts what the restricted standard of pod security wants, and a root file system that nobody writes to. */
function hasFewRights(t: ExecutionContext, { kind, spec }: Manifest): void {
  const pod = spec?.template?.spec
  if (pod === undefined) return
  t.like(pod, {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  })
  for (const { securityContext } of pod.containers) {
    const wanted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
    t.deepEqual(securityContext, wanted, kind)
  }
}
