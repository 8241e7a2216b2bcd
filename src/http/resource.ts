import type Router from '@koa/router'
import compose from 'koa-compose'
import { answerEmpty } from './answer.ts'
import type { Middleware, State } from './context.ts'
import { refuseTags } from './conditional.ts'
import { Refusal } from './refusal.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Methods = Partial<Record<(typeof METHODS)[number], Middleware[]>>

/**
 * Adds a path to the router.
 * @param path without a final slash; requests may add one
 * @param guards apply to every method (contract §1.2, steps 4 to 6)
 * @param methods for each method, its own guards and its handler; HEAD is GET without the body
 * @param dyndns responses are plain text, GET writes, and there is no HEAD (contract §10)
 * @param conditional the handlers examine conditions on tags; else requests with them are refused (contract §15.1)
 */
export function addResource(
  router: Router<State>,
  path: string,
  guards: Middleware[],
  methods: Methods,
  { dyndns = false, conditional = false } = {},
): void {
  const head = 'GET' in methods && !dyndns
  const allow = [...METHODS.filter((method) => method in methods), ...(head ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  const chains = new Map(Object.entries(methods).map(([method, chain]) => [method, compose(chain)]))

  const describe: Middleware = async function describe(ctx, next) {
    ctx.state.route = path
    ctx.state.dyndns = dyndns
    ctx.set('Allow', allow)
    if (ctx.method === 'OPTIONS') answerEmpty(ctx, 200)
    else await next()
  }
  const dispatch: Middleware = async function dispatch(ctx, next) {
    const chain = chains.get(ctx.method === 'HEAD' && head ? 'GET' : ctx.method)
    if (chain === undefined) throw new Refusal(405, `Method "${ctx.method}" not allowed.`)
    if (!conditional) refuseTags(ctx)
    await chain(ctx, next)
  }
  router.all(path, describe, ...guards, dispatch)
}
