import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { request } from 'undici'
import yaml from 'yaml'
import { createRouter } from '../../../src/http/router.ts'
import type { Config } from '../../../src/settings/config.ts'

/** A request and the answer to it. */
export interface Exchange {
  method: string
  /** From the root, with the query. */
  target: string
  requestHeaders: Record<string, string>
  /** The body of the request, if it has one. */
  sent: string | Buffer | undefined
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

interface Response {
  headers?: Record<string, Parameter>
  content?: Record<string, { schema: object }>
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: { type?: string }
}

interface Operation {
  parameters?: object[]
  requestBody?: { content: Record<string, object> }
  responses: Record<string, object>
}

type Path = Record<string, Operation>

/** A part of the document, and where it is. */
interface Place<T> {
  at: string
  value: T
}

interface Document {
  paths: Record<string, Path>
}

/** An exchange that is not as the document describes. */
export class Mismatch extends Error {}

/** The document of an API, with which exchanges are compared (contract §15.2). */
class Description {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, logger: false })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: object) {
    this.#document = document as Document
    this.#ajv.addSchema(document, 'api')
  }

  /**
   * @throws Mismatch if the document lacks the status, a header or a member of the answer, or has a required one that the
   * answer lacks; or if the answer is a success, and the document does not allow the request
   */
  check(exchange: Exchange): void {
    const { method, target, status, text } = exchange
    const problem = this.#problem(exchange)
    if (problem === undefined) return
    throw new Mismatch(
      `${method} ${target} ${status} is not as the document describes: ${problem}\n${text.slice(0, 2000)}`,
    )
  }

  /** Whether the document has the path of a target. */
  has(target: string): boolean {
    return this.#find(new URL(target, 'http://test').pathname) !== undefined
  }

  #problem(exchange: Exchange): string | undefined {
    const { method, target, status } = exchange
    const found = this.#find(new URL(target, 'http://test').pathname)
    // HEAD is GET without the body, but for dynamic DNS.
    const key = method === 'HEAD' && status !== 405 ? 'get' : method.toLowerCase()
    if (found === undefined || !(key in found.operations)) {
      return this.#outside(exchange, found !== undefined)
    }
    const at = `/paths/${escape(found.path)}/${key}`
    const operation = found.operations[key]!
    if (!(status in operation.responses)) return `the status is none of ${Object.keys(operation.responses).join(', ')}`
    const isGood = status >= 200 && status < 300
    return (
      this.#answerProblem(exchange, `${at}/responses/${status}`) ??
      (isGood ? this.#requestProblem(exchange, operation, at) : undefined)
    )
  }

  /** What is wrong with an answer where there is no such path or method: it must be an error, but for OPTIONS. */
  #outside({ method, requestHeaders, status, headers, text }: Exchange, hasPath: boolean): string | undefined {
    const isPreflight = requestHeaders['access-control-request-method'] !== undefined
    if (method === 'OPTIONS' && (isPreflight || (hasPath && status === 200))) {
      return text === '' ? undefined : 'there is a body'
    }
    if (!(hasPath ? [400, 401, 403, 404, 405, 408, 429, 503] : [400, 404, 503]).includes(status)) {
      return 'there is no such operation'
    }
    if (method === 'HEAD' || headers['content-type'] === 'text/plain') return undefined
    return this.#mismatch('/components/schemas/Error', JSON.parse(text))
  }

  #answerProblem({ method, headers, text }: Exchange, at: string): string | undefined {
    const { at: place, value } = this.#resolve(at) as Place<Response>
    for (const name of Object.keys(headers)) {
      if (TRANSPORT.includes(name)) continue
      if (!Object.keys(value.headers ?? {}).some((each) => each.toLowerCase() === name)) return `header ${name}`
    }
    for (const name of Object.keys(value.headers ?? {})) {
      const { at: header, value: described } = this.#resolve(`${place}/headers/${escape(name)}`) as Place<Parameter>
      const given = headers[name.toLowerCase()]
      if (given === undefined && described.required === true) return `header ${name} is missing`
      const problem =
        given === undefined ? undefined : this.#mismatch(`${header}/schema`, read(String(given), described))
      if (problem !== undefined) return `header ${name}: ${problem}`
    }
    if (method === 'HEAD' || value.content === undefined) return text === '' ? undefined : 'there is a body'
    const mediaType = essence(headers['content-type'])
    if (!(mediaType in value.content)) return `the media type is ${mediaType}`
    const parse = PARSERS[mediaType] ?? String
    return this.#mismatch(`${place}/content/${escape(mediaType)}/schema`, parse(text))
  }

  #requestProblem({ target, requestHeaders, sent }: Exchange, operation: Operation, at: string): string | undefined {
    const query = new URL(target, 'http://test').searchParams
    for (const i of Object.keys(operation.parameters ?? [])) {
      const { at: place, value } = this.#resolve(`${at}/parameters/${i}`) as Place<Parameter>
      const given = value.in === 'query' ? query.getAll(value.name).at(-1) : undefined
      const problem = given === undefined ? undefined : this.#mismatch(`${place}/schema`, read(given, value))
      if (problem !== undefined) return `parameter ${value.name} of the request: ${problem}`
    }
    if (sent === undefined || sent.length === 0 || operation.requestBody === undefined) return undefined
    // Compressed.
    if (requestHeaders['content-encoding'] !== undefined) return undefined
    const mediaType = essence(requestHeaders['content-type'])
    if (!(mediaType in operation.requestBody.content)) return `the media type of the request is ${mediaType}`
    if (mediaType !== 'application/json') return undefined
    const problem = this.#mismatch(`${at}/requestBody/content/${escape(mediaType)}/schema`, JSON.parse(sent.toString()))
    return problem && `body of the request: ${problem}`
  }

  #find(path: string): { path: string; operations: Path } | undefined {
    const segments = segmentsOf(path)
    const matches = Object.entries(this.#document.paths).filter(([template]) => {
      const parts = segmentsOf(template)
      return (
        parts.length === segments.length &&
        parts.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === segments[i]))
      )
    })
    const [match] = matches.sort(([a], [b]) => a.split('{').length - b.split('{').length)
    return match && { path: match[0], operations: match[1] }
  }

  /** Follows the reference at a place of the document, if there is one. */
  #resolve(at: string): Place<unknown> {
    const value = at
      .slice(1)
      .split('/')
      .reduce<unknown>((part, key) => (part as Record<string, unknown>)[unescape(key)], this.#document)
    const { $ref } = value as { $ref?: string }
    return $ref === undefined ? { at, value } : this.#resolve($ref.slice(1))
  }

  /** Why a value does not match the schema at a place of the document. Each schema is compiled once. */
  #mismatch(at: string, value: unknown): string | undefined {
    let validate = this.#compiled.get(at)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `api#${encodeURI(at)}` })
      this.#compiled.set(at, validate)
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors)
  }
}

let latestYaml: { text: string; value: unknown } | undefined

/** Parses YAML, which takes long, unless it is the same text as before. */
function parseYaml(text: string): unknown {
  if (latestYaml?.text !== text) latestYaml = { text, value: yaml.parse(text) }
  return latestYaml.value
}

const PARSERS: Record<string, (text: string) => unknown> = {
  'application/json': JSON.parse,
  'application/yaml': parseYaml,
}

/** Headers of HTTP itself, which OpenAPI does not describe. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']

function essence(header: string | string[] | undefined): string {
  return String(header ?? '')
    .split(';', 1)[0]!
    .trim()
    .toLowerCase()
}

/** A header or parameter as the value that its schema is about. */
function read(text: string, { schema }: Parameter): unknown {
  return schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text
}

/** The decoded segments of a path, without a final slash. */
function segmentsOf(path: string): string[] {
  return path
    .replace(/(.)\/$/, '$1')
    .split('/')
    .map((segment) => {
      try {
        return decodeURIComponent(segment)
      } catch {
        return segment
      }
    })
}

function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescape(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The descriptions of equal documents are one, so that their schemas are compiled once. */
const descriptions = new Map<string, Description>()

function descriptionOf(document: object): Description {
  const text = JSON.stringify(document)
  const known = descriptions.get(text) ?? new Description(document)
  descriptions.set(text, known)
  return known
}

/** What the answers of services are compared with, by their URLs. */
const services = new Map<string, (exchange: Exchange) => Promise<Description | undefined>>()

/** Says with which settings the service at a URL runs. */
export function describeService(url: string, config: Config): void {
  let description: Description | undefined
  let powerdns: Description | undefined
  services.set(url, async ({ target, requestHeaders: { host } }) => {
    // On these hosts, every path means the same.
    if ([...config.updateHosts, ...config.checkIpHosts].includes(host ?? '')) return undefined
    powerdns ??= config.powerdnsApi ? descriptionOf(createRouter(config).describePowerdns!()) : undefined
    if (powerdns?.has(target) === true) return powerdns
    return (description ??= descriptionOf(createRouter(config).document))
  })
}

/** Compares an exchange with the document of the service at a URL. @throws Mismatch */
export async function checkExchange(url: string, exchange: Exchange): Promise<void> {
  if (!services.has(url)) describeByItself(url)
  const description = await services.get(url)!(exchange)
  description?.check(exchange)
}

/** Lets a service of unknown settings describe itself, if it can at the moment. */
function describeByItself(url: string): void {
  let descriptions: Description[] | undefined
  services.set(url, async ({ target, headers }) => {
    // Every answer of the service has this header; without it, a balancer in front has answered.
    if (headers['x-request-id'] === undefined) return undefined
    if (descriptions === undefined) {
      const documents = ['openapi.json', 'openapi-powerdns.json'].map(async (path) => {
        const answer = await request(`${url}/api/v1/${path}`).catch(() => undefined)
        const text = await answer?.body.text()
        return answer?.statusCode === 200 ? descriptionOf(JSON.parse(text!) as object) : undefined
      })
      const [own, powerdns] = await Promise.all(documents)
      if (own === undefined) return undefined
      descriptions = powerdns === undefined ? [own] : [powerdns, own]
    }
    return descriptions.find((each) => each.has(target)) ?? descriptions.at(-1)
  })
}
