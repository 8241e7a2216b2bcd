import type { ExecutionContext } from 'ava'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { newFolder } from '../../support/servers/folders.ts'
import { build, type GoModule, newModule } from './go.ts'

export const KUBERNETES = '1.37.0'

/** The custom resources that the chart makes, where the module proxy has their definitions. */
const DEFINITIONS = [
  ['sigs.k8s.io/gateway-api@v1.4.1', 'config/crd/standard'],
  ['github.com/prometheus-operator/prometheus-operator@v0.85.0', 'example/prometheus-operator-crd'],
] as const

type Schema = Record<string, unknown>

/** Builds a program of a module of Go. @returns its file */
export async function buildProgram(
  t: ExecutionContext,
  module: string,
  version: string,
  path: string,
): Promise<string> {
  const made = await newModule(t)
  await made.go('get', `${module}/${path}@${version}`)
  return build(made, [], `${module}/${path}`)
}

/** Makes the schemas of Kubernetes, as kubeconform reads them. @returns its option `-schema-location` */
export async function makeSchemas(t: ExecutionContext): Promise<string> {
  const made = await newModule(t)
  const folder = newFolder()
  const write = (kind: string, group: string, version: string, schema: Schema) => {
    const parts = [kind, ...group.split('.').slice(0, 1), version].filter((part) => part !== '')
    writeFileSync(join(folder, `${parts.join('-').toLowerCase()}.json`), JSON.stringify(schema))
  }

  const kubernetes = await download(made, `k8s.io/kubernetes@v${KUBERNETES}`)
  const document = JSON.parse(readFileSync(join(kubernetes, 'api', 'openapi-spec', 'swagger.json'), 'utf8')) as {
    definitions: Record<string, Schema>
  }
  const definitions = strict(document.definitions) as Record<string, Schema>
  for (const [name, schema] of Object.entries(definitions)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as Record<'group' | 'version' | 'kind', string>[]
    if (kinds.length !== 1) continue
    const [{ group, version, kind }] = kinds as [(typeof kinds)[0]]
    write(kind, group, version, { $ref: `#/definitions/${name}`, definitions: neededBy(name, definitions) })
  }
  for (const [module, path] of DEFINITIONS) {
    const source = join(await download(made, module), path)
    for (const file of readdirSync(source).filter((name) => name.endsWith('.yaml'))) {
      const { spec } = parse(readFileSync(join(source, file), 'utf8')) as {
        spec?: { group: string; names: { kind: string }; versions: { name: string; schema: Record<string, Schema> }[] }
      }
      for (const { name, schema } of spec?.versions ?? [])
        write(spec!.names.kind, spec!.group, name, strict(schema['openAPIV3Schema']) as Schema)
    }
  }
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
}

/** Downloads a module. @returns its folder */
async function download({ go }: GoModule, module: string): Promise<string> {
  return (JSON.parse(await go('mod', 'download', '-json', module)) as { Dir: string }).Dir
}

/** The definitions to which one leads. */
function neededBy(name: string, definitions: Record<string, Schema>): Record<string, Schema> {
  const found: Record<string, Schema> = {}
  const queue = [name]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next in found) continue
    found[next] = definitions[next]!
    const text = JSON.stringify(definitions[next])
    queue.push(...[...text.matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, reference]) => reference!))
  }
  return found
}

/** A schema that refuses members that it does not name, and takes numbers where OpenAPI says so in its own way. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const made: Schema = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]))
  const isNumberToo = made['format'] === 'int-or-string' || made['x-kubernetes-int-or-string'] === true
  if (isNumberToo) return { type: ['string', 'integer'] }
  const isOpen = made['x-kubernetes-preserve-unknown-fields'] === true || made['additionalProperties'] !== undefined
  if (made['type'] === 'object' && typeof made['properties'] === 'object' && !isOpen)
    made['additionalProperties'] = false
  return made
}
