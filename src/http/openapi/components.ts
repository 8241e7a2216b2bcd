import { arrayOf, type Component, described, type JsonSchema, object, ref, STRING } from '../fields/schema.ts'
import { PAGE_HEADERS, REQUEST_HEADERS, RESPONSE_HEADERS } from './described-headers.ts'
import { REFUSALS } from './error-answers.ts'
import { PATH_PARAMETERS, QUERY_PARAMETERS } from './parameters.ts'

/** A part of the document. */
export type Json = Record<string, unknown>

export const ERROR: Component = {
  title: 'Error',
  ...object({ detail: described(STRING, 'What is wrong, for people. Programs may compare it, too.', 'Not found.') }),
}

const POWERDNS_ERROR: Component = {
  title: 'Error',
  ...object(
    {
      error: described(STRING, 'What is wrong, for people; of several problems, the first.', 'Not Found'),
      errors: { ...arrayOf(STRING), description: 'All problems, if there are several.' },
    },
    ['errors'],
  ),
}

/** The form of the bodies of errors: JSON, text lines (dynDNS), JSON and pages (submitted forms), or PowerDNS' JSON. */
export type Form = 'json' | 'text' | 'page' | 'powerdns'
const SUFFIXES: Record<Form, string> = { json: '', text: 'AsText', page: 'OrPage', powerdns: '' }

const PARAMETERS = {
  path: PATH_PARAMETERS,
  query: QUERY_PARAMETERS,
  header: REQUEST_HEADERS,
}

/** The named parts of the document, which others refer to: only those with a reference. */
export class Components {
  readonly schemas: Record<string, Json> = {}
  readonly parameters: Record<string, Json> = {}
  readonly headers: Record<string, Json> = {}
  readonly responses: Record<string, Json> = {}
  readonly #seen = new Map<string, Component>()
  readonly #common: readonly string[]

  /** @param common the headers of every response, errors included */
  constructor(common: readonly string[]) {
    this.#common = common
  }

  /** Returns the schema with references in place of those that have names. */
  schema(schema: JsonSchema): Json {
    const { $ref, properties, items, anyOf, ...rest } = schema
    return {
      ...($ref !== undefined && { $ref: this.#named($ref) }),
      ...rest,
      ...(properties !== undefined && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, this.schema(each)])),
      }),
      ...(items !== undefined && { items: this.schema(items) }),
      ...(anyOf !== undefined && { anyOf: anyOf.map((each) => this.schema(each)) }),
    }
  }

  /** @throws Error if another component has the same name */
  #named(component: Component): string {
    const { title } = component
    const known = this.#seen.get(title)
    if (known === undefined) {
      this.#seen.set(title, component)
      this.schemas[title] = this.schema(component)
    } else if (known !== component && JSON.stringify(this.schema(component)) !== JSON.stringify(this.schemas[title])) {
      throw new Error(`There are two schemas ${title}.`)
    }
    return `#/components/schemas/${title}`
  }

  parameter(where: keyof typeof PARAMETERS, name: string): Json {
    const key = `${where}.${name}`
    const { schema = STRING, name: ownName = name, ...rest } = PARAMETERS[where][name]!
    this.parameters[key] ??= {
      name: ownName,
      in: where,
      ...(where === 'path' && { required: true }),
      ...rest,
      schema: this.schema(schema),
    }
    return { $ref: `#/components/parameters/${key}` }
  }

  /** Returns the headers of a response, besides those that every response has. */
  headersOf(names: readonly string[]): Json {
    return Object.fromEntries(
      [...this.#common, ...names].map((key) => {
        const { name = key, schema = STRING, ...header } = RESPONSE_HEADERS[key]!
        this.headers[key] ??= { ...header, schema }
        return [name, { $ref: `#/components/headers/${key}` }]
      }),
    )
  }

  /** Returns the bodies of one kind of response, each with an example. */
  content(content: Record<string, JsonSchema>): Json {
    return Object.fromEntries(
      Object.entries(content).map(([mediaType, schema]) => [
        mediaType,
        { schema: this.schema(schema), example: exampleOf(schema) },
      ]),
    )
  }

  /** Describes a response that rejects a request. @param texts its possible details, besides the usual one */
  refusal(status: number, form: Form, texts: readonly string[]): Json {
    const { name, text } = REFUSALS[status]!
    const key = name + SUFFIXES[form]
    this.responses[key] ??= this.refusalWith(status, form, ref(form === 'powerdns' ? POWERDNS_ERROR : ERROR))
    return { $ref: `#/components/responses/${key}`, ...(texts.length > 0 && { description: withTexts(text, texts) }) }
  }

  /** Describes the same, with a schema and headers of its own. */
  refusalWith(
    status: number,
    form: Form,
    schema: JsonSchema,
    { texts = [], headers = [], example }: Details = {},
  ): Json {
    const { text, detail, headers: own = [] } = REFUSALS[status]!
    const content = {
      ...(form === 'text'
        ? { 'text/plain': { schema: { type: 'string' }, example: detail } }
        : {
            'application/json': {
              schema: this.schema(schema),
              example: example ?? { [form === 'powerdns' ? 'error' : 'detail']: detail },
            },
          }),
      ...(form === 'page' && { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } }),
    }
    const pageHeaders = form === 'page' ? [...PAGE_HEADERS, 'Cache-ControlOfPage'] : []
    const isOfKey = form === 'powerdns' && status === 401
    const usual = isOfKey ? ['WWW-AuthenticateOfKey'] : own
    const caching = form === 'powerdns' ? ['Cache-ControlOfKey'] : []
    const names = ['AllowIfRouted', 'RateLimit-Policy', 'RateLimit', ...usual, ...pageHeaders, ...caching, ...headers]
    return { description: withTexts(text, texts), headers: this.headersOf(names), content }
  }
}

interface Details {
  texts?: readonly string[]
  example?: unknown
  headers?: readonly string[]
}

function withTexts(text: string, texts: readonly string[]): string {
  return texts.length === 0 ? text : `${text}\n\n${texts.map((each) => `- \`\` ${each} \`\``).join('\n')}`
}

/** Makes a value that a schema accepts, of the first examples in it. */
function exampleOf(schema: JsonSchema): unknown {
  const given = schema.examples ?? schema.enum
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
