import type Router from '@koa/router'
import compose from 'koa-compose'
import { answerEmpty, type Middleware, type State } from './context.ts'
import { Refusal } from './refusal.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One path and all that guards and serves it. */
export interface Resource {
  /** Without final slash; with one it works as well. */
  path: string
  /** dynDNS: answers are plain text, GET writes, and there is no HEAD (contract §10). */
  dyndns?: boolean
  /** What every request passes, whatever its method (contract §1.2, steps 4 to 6). */
  guards: Middleware[]
  /** What serves each method, from guards of its own to the handler. HEAD is GET without the body. */
  methods: Partial<Record<Method, Middleware[]>>
}

const ORDER: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function addResource(router: Router<State>, { path, dyndns = false, guards, methods }: Resource): void {
  const head = 'GET' in methods && !dyndns
  const allow = [...ORDER.filter((method) => method in methods), ...(head ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  const served = new Map(Object.entries(methods).map(([method, chain]) => [method, compose(chain)]))

  const describe: Middleware = async function describe(ctx, next) {
    ctx.state.route = path
    ctx.state.dyndns = dyndns
    ctx.set('Allow', allow)
    if (ctx.method === 'OPTIONS') answerEmpty(ctx, 200)
    else await next()
  }
  const dispatch: Middleware = async function dispatch(ctx, next) {
    const serve = served.get(ctx.method === 'HEAD' && head ? 'GET' : ctx.method)
    if (serve === undefined) throw new Refusal(405, `Method "${ctx.method}" not allowed.`)
    await serve(ctx, next)
  }
  router.all(path, describe, ...guards, dispatch)
}
