import type Router from '@koa/router'
import compose from 'koa-compose'
import type { JsonSchema } from '../fields/schema.ts'
import { answerEmpty } from './answer.ts'
import type { Middleware, State } from './context.ts'
import type { Errors } from './effect.ts'
import { takeMessage } from './message.ts'
import { Refusal } from './refusal.ts'
import { refuseDryRun, refuseTags } from './terms.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** A response, as the document describes it. */
export interface Answer {
  /** The description; default: the phrase of the status. */
  text?: string
  /** The schemas of the body by media type; none without a body. */
  content?: Record<string, JsonSchema>
  /** The headers besides those of every response; keys of `openapi/described-headers.ts`. */
  headers?: readonly string[]
}

/** The effect of a method on a resource: the row of the router, from which the document is also made. */
export interface Operation {
  /** The name in the document; generated clients use it for their functions. */
  id: string
  summary: string
  description?: string
  /** Query parameters; keys of `openapi/parameters.ts`. A write without `dry_run` rejects it (contract §15.3). */
  query?: readonly string[]
  /** The body of the request, by media type. */
  takes?: Record<string, JsonSchema>
  /** The responses by status: those of success, and errors with members of their own. */
  answers: Record<number, Answer>
  /** The errors with which the handler rejects requests, besides those of the middleware before it. */
  errors?: Errors
  /** The members of a response 400, besides those that the body of the request may have. */
  problems?: readonly string[]
  /** True if it makes entries in histories: it takes a message for them (contract §15.14). */
  isRecorded?: true
  /** The guards and the handler. */
  chain: Middleware[]
}

/** A path, with its methods. HEAD is GET without the body. */
export interface Resource extends Partial<Record<Method, Operation>> {
  /** The path in the document; requests may add or omit a final slash. */
  path: string
  /** The guards of every method (contract §1.2, steps 4 to 6). */
  guards: Middleware[]
  /** True if responses are plain text, GET writes, and HEAD does not exist (contract §10). */
  dyndns?: boolean
  /** True if errors have the form of PowerDNS' (contract §20.1). */
  powerdns?: boolean
  /** True if the handlers examine conditions on tags; otherwise requests with them are rejected (contract §15.1). */
  conditional?: boolean
}

/** A request that the service itself sends to addresses of clients, as the document describes it. */
export interface Message extends Pick<Operation, 'id' | 'summary'> {
  description: string
  takes: Record<string, JsonSchema>
}

/** Resources that belong together, under a heading of the document. */
export interface Group {
  tag: string
  text: string
  resources: Resource[]
  messages?: Message[]
}

/** Returns the middleware of a method: its chain, on writes after the checks that the row implies. */
export function chainOf({ conditional, ...methods }: Resource, method: Method): Middleware[] {
  const { query = [], isRecorded = false, chain } = methods[method]!
  if (method === 'GET') return chain
  return [
    ...(query.includes('dry_run') ? [] : [refuseDryRun]),
    ...(conditional === true ? [] : [refuseTags]),
    ...(isRecorded ? [takeMessage] : []),
    ...chain,
  ]
}

/** Adds a resource to the router. */
export function addResource(router: Router<State>, resource: Resource): void {
  const { guards, dyndns = false, powerdns = false } = resource
  const path = resource.path.replace(/(.)\/$/, '$1')
  const head = 'GET' in resource && !dyndns
  const methods = METHODS.filter((method) => method in resource)
  const allow = [...methods, ...(head ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  const chains = new Map<string, Middleware>(methods.map((method) => [method, compose(chainOf(resource, method))]))

  const describe: Middleware = async function describe(ctx, next) {
    ctx.state.route = path
    Object.assign(ctx.state, { dyndns, powerdns })
    ctx.set('Allow', allow)
    // To a shared cache, a request without `Authorization` looks like one that is the same for everybody (RFC 9111 §3.5).
    if (powerdns) ctx.set('Cache-Control', 'no-store')
    if (ctx.method === 'OPTIONS') answerEmpty(ctx, 200)
    else await next()
  }
  const dispatch: Middleware = async function dispatch(ctx, next) {
    const chain = chains.get(ctx.method === 'HEAD' && head ? 'GET' : ctx.method)
    if (chain === undefined) throw new Refusal(405, `Method "${ctx.method}" not allowed.`)
    await chain(ctx, next)
  }
  router.all(path, describe, ...guards, dispatch)
}
