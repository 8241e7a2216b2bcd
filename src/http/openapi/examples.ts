import type { JsonSchema } from '../fields/schema.ts'

/** A value that a schema accepts, made of the first examples in it. */
export function exampleOf(schema: JsonSchema): unknown {
  const given = schema.examples ?? (schema['enum'] as unknown[] | undefined)
  if (given !== undefined) return given[0]
  const inner = schema.$ref ?? schema.anyOf?.[0]
  if (inner !== undefined) return exampleOf(inner)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, exampleOf(each)]))
    case 'array':
      return [exampleOf(schema.items!)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 0
    default:
      return 'text'
  }
}
