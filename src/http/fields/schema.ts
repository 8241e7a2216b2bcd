/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export interface JsonSchema {
  /** The name of the component in the document (openapi/components.ts). */
  $ref?: Component
  type?: string | string[]
  enum?: readonly unknown[]
  description?: string
  /** The first one is used in the examples of the document. */
  examples?: readonly unknown[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  [keyword: string]: unknown
}

/** A schema that has a name in the document. */
export interface Component extends JsonSchema {
  title: string
}

export const UUID: JsonSchema = {
  type: 'string',
  format: 'uuid',
  examples: ['5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d'],
}

export const TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$`,
  examples: ['2026-01-31T12:00:00.000000Z'],
}

export const EMAIL: JsonSchema = { type: 'string', format: 'email', examples: ['alice@example.org'] }

export const STRING: JsonSchema = { type: 'string' }

export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

export const BOOLEAN: JsonSchema = { type: 'boolean' }

/** The serial that DNS serves at least for a state of a domain. */
export const VERSION: JsonSchema = { type: 'integer', minimum: 0, examples: [1795297087] }

/** Returns the same schema, extended by null. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (schema.$ref !== undefined || schema.type === undefined) return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [schema.type, 'null'].flat(), ...(schema.enum && { enum: [...schema.enum, null] }) }
}

export function arrayOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

/** Returns the schema of one of these texts. */
export function oneOf(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values }
}

export function ref(component: Component): JsonSchema {
  return { $ref: component }
}

/** Returns a schema as others contain it: by its name, if it has one. */
export function named(schema: JsonSchema): JsonSchema {
  return typeof schema['title'] === 'string' ? ref(schema as Component) : schema
}

/** Returns the schema of an object of exactly these members. @param optional those that may be missing */
export function object(properties: Record<string, JsonSchema>, optional: string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

/** Returns a schema with another description, and perhaps another example. */
export function described(schema: JsonSchema, description: string, example?: unknown): JsonSchema {
  return { ...schema, description, ...(example !== undefined && { examples: [example] }) }
}
