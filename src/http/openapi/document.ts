import type { Config } from '../../settings/config.ts'
import { arrayOf, type Component, type JsonSchema, object, ref } from '../fields/schema.ts'
import type { Middleware } from '../kit/context.ts'
import { type Effect, merged } from '../kit/effect.ts'
import type { Answer, Group, Message, Method, Operation, Resource } from '../kit/resource.ts'
import { chainOf, METHODS } from '../kit/resource.ts'
import { Components, ERROR, type Form, type Json } from './components.ts'
import { REFUSALS } from './error-answers.ts'
import { INTRODUCTION, SECURITY_SCHEMES } from './introduction.ts'

/** What a document says of the API as a whole. */
interface About {
  title: string
  summary: string
  description: string
  security: Record<string, Json>
}

const API: About = {
  title: 'Zoneplane',
  summary: 'Hosting of DNS zones.',
  description: INTRODUCTION,
  security: SECURITY_SCHEMES,
}

/** Returns the OpenAPI document of an API as these settings make it. */
export function describeApi(groups: readonly Group[], config: Config, { security, ...about }: About = API): Json {
  const hasHttps = config.publicUrl?.startsWith('https:') === true
  const components = new Components([
    'X-Request-Id',
    'Vary',
    'X-Content-Type-Options',
    ...(hasHttps ? ['Strict-Transport-Security'] : []),
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
  ])
  const paths = groups.flatMap(({ tag, resources }) =>
    resources.map((resource) => [
      resource.path.replaceAll(/:(\w+)/g, '{$1}'),
      describeResource(components, tag, resource),
    ]),
  )
  const sent = groups.flatMap(({ tag, messages = [] }) =>
    messages.map((message) => [message.id, { post: describeMessage(components, tag, message) }]),
  )
  const { schemas, parameters, headers, responses } = components
  return {
    openapi: '3.1.1',
    info: {
      ...about,
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: config.publicUrl ?? '/' }],
    tags: groups.map(({ tag, text }) => ({ name: tag, description: text })),
    paths: Object.fromEntries(paths) as Json,
    ...(sent.length > 0 && { webhooks: Object.fromEntries(sent) as Json }),
    components: { schemas, parameters, headers, responses, securitySchemes: security },
  }
}

/** Describes a request to a receiver. All of its answers but 2xx are failures. */
function describeMessage(components: Components, tag: string, { id, takes, ...texts }: Message): Json {
  return {
    operationId: id,
    tags: [tag],
    ...texts,
    security: SECURITY.none,
    requestBody: { required: true, content: components.content(takes) },
    responses: {
      '2XX': { description: 'It was taken.' },
      410: { description: 'Nothing more is sent.' },
      default: { description: 'It is sent again.' },
    },
  }
}

function describeResource(components: Components, tag: string, resource: Resource): Json {
  const operations = METHODS.flatMap((method) =>
    resource[method] === undefined
      ? []
      : [[method.toLowerCase(), describeOperation(components, tag, resource, method)]],
  )
  const names = Array.from(resource.path.matchAll(/:(\w+)/g), ([, name]) => name!)
  return {
    parameters: [
      ...names.map((name) => components.parameter('path', name)),
      components.parameter('header', 'X-Request-Id'),
      components.parameter('header', 'traceparent'),
    ],
    ...(Object.fromEntries(operations) as Json),
  }
}

function describeOperation(components: Components, tag: string, resource: Resource, method: Method): Json {
  const operation = resource[method]!
  const { id, summary, description, query = [], takes, answers } = operation
  const chain = [...resource.guards, ...chainOf(resource, method)]
  const effects = chain.flatMap(({ effect }: Middleware) => effect ?? [])
  if (method !== 'GET' && resource.conditional === true) effects.push(CONDITIONAL)
  const reads = effects.flatMap((effect) => effect.reads ?? [])
  const problems = [...(operation.problems ?? []), ...effects.flatMap((effect) => effect.problems ?? [])]
  const successes = Object.entries(answers).map(([status, answer]) => [
    status,
    describeAnswer(components, Number(status), answer, effects),
  ])
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[effects.map(({ security }) => security).find((each) => each !== undefined) ?? 'none'],
    parameters: [
      ...query.map((name) => components.parameter('query', name)),
      ...reads.map((name) => components.parameter('header', name)),
    ],
    ...(takes !== undefined && {
      requestBody: { required: Object.values(takes).some(needsBody), content: components.content(takes) },
    }),
    responses: {
      ...(Object.fromEntries(successes) as Json),
      ...refusals(components, resource, { ...operation, problems }, effects),
    },
  }
}

/** The effect of conditions on tags on writes (contract §15.1). */
const CONDITIONAL: Effect = { reads: ['If-Match', 'If-None-Match'], errors: { 412: [] } }

/** Reports whether the API rejects an empty body, which counts as `{}`. */
function needsBody(schema: JsonSchema): boolean {
  const { required = [], anyOf, oneOf, type, $ref } = schema
  if ($ref !== undefined) return needsBody($ref)
  return (anyOf ?? oneOf)?.every(needsBody) ?? (type !== 'object' || required.length > 0)
}

const SECURITY: Record<NonNullable<Effect['security']> | 'none', Record<string, string[]>[]> = {
  token: [{ token: [] }],
  optional: [{}, { token: [] }],
  key: [{ key: [] }],
  update: [{ token: [] }, { basic: [] }, { username: [], password: [] }],
  none: [],
}

function describeAnswer(components: Components, status: number, answer: Answer, effects: Effect[]): Json {
  const { text, content, headers = [] } = answer
  const added = effects.flatMap((effect) => effect.responseHeaders ?? [])
  const own = status < 300 ? ['Allow', 'Cache-Control'] : ['AllowIfRouted', ...(REFUSALS[status]?.headers ?? [])]
  return {
    description: text ?? PHRASES[status]!,
    headers: components.headersOf([...own, ...added, ...headers]),
    ...(content !== undefined && { content: components.content(content) }),
  }
}

const PHRASES: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done.',
  304: 'It has not changed.',
}

/** Describes the responses with which the middleware or the handler rejects requests. */
function refusals(components: Components, resource: Resource, operation: Operation, effects: Effect[]): Json {
  const form = formOf(resource, effects)
  // A path parameter may contain what no path may, such as an encoded slash.
  const usual = {
    400: [],
    431: [],
    500: [],
    ...(form === 'powerdns' && { 422: [] }),
    ...(resource.path.includes(':') && { 404: [] }),
  }
  const all = merged([usual, ...effects.map(({ errors }) => errors), operation.errors])
  const described = Object.entries(all)
    .map(([status, texts]) => [Number(status), texts] as const)
    .filter(([status]) => !(status in operation.answers))
    .map(([status, texts]) => {
      const others = texts.filter((text) => text !== REFUSALS[status]!.detail)
      return [
        status,
        status === 400 && form !== 'powerdns'
          ? problems(components, form, operation, others)
          : components.refusal(status, form, others),
      ]
    })
  return Object.fromEntries(described) as Json
}

function formOf({ dyndns, powerdns }: Resource, effects: Effect[]): Form {
  if (powerdns === true) return 'powerdns'
  if (dyndns === true) return 'text'
  return effects.some(({ pages }) => pages) ? 'page' : 'json'
}

/** Describes the response 400, which names the members with problems. */
function problems(components: Components, form: Form, operation: Operation, texts: string[]): Json {
  const { takes = {}, problems: more = [], answers } = operation
  const inputs = Object.values(takes)
  const names = [...new Set([...inputs.flatMap(membersOf), ...more])]
  const isPaged = answers[200]?.headers?.includes('Link') === true
  if (form === 'text' || (names.length === 0 && texts.length === 0)) return components.refusal(400, form, texts)
  const all = [...names, 'non_field_errors']
  const one = object(Object.fromEntries(all.map((name) => [name, ref(TEXTS)])), all)
  const isBulk = inputs.some((schema) => schema.type === 'array' || schema.anyOf?.some(({ type }) => type === 'array'))
  const schema = { anyOf: [ref(ERROR), one, ...(isBulk ? [arrayOf(one)] : [])] }
  return components.refusalWith(400, form, schema, {
    texts,
    headers: isPaged ? ['Link'] : [],
    example: isPaged ? { detail: texts[0] } : exampleOfProblems(names, texts),
  })
}

function exampleOfProblems([name]: string[], [text]: string[]): unknown {
  if (name === 'dry_run') return { dry_run: [text ?? 'Must be a valid boolean.'] }
  return name === undefined ? { non_field_errors: [text] } : { [name]: ['This field may not be null.'] }
}

const TEXTS: Component = {
  title: 'Texts',
  description: 'What is wrong with a member; as `non_field_errors`, with the object as a whole.',
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  examples: [['This field is required.']],
}

/** Returns the names of the members of objects that a request may have. */
function membersOf(schema: JsonSchema): string[] {
  return [
    ...Object.keys(schema.properties ?? {}),
    ...[schema.$ref, schema.items, ...(schema.anyOf ?? [])].flatMap((inner) =>
      inner === undefined ? [] : membersOf(inner),
    ),
  ]
}
