import type Koa from 'koa'
import {
  Conflict,
  Denied,
  Invalid,
  NameserverFailure,
  NotFound,
  PreconditionFailed,
  Throttled,
  Unauthenticated,
  Unavailable,
  type Problems,
} from '../../errors.ts'
import { answer, answerItems, answerText, type State } from '../context.ts'
import { Refusal } from '../refusal.ts'

type Context = Koa.ParameterizedContext<State>

/** The status of each error of the service (contract §2.2); its message is the `detail`. */
const STATUS: [kind: new (...args: never[]) => Error, status: number][] = [
  [Unauthenticated, 401],
  [Denied, 403],
  [NotFound, 404],
  [Conflict, 409],
  [PreconditionFailed, 412],
  [Throttled, 429],
  [NameserverFailure, 503],
  [Unavailable, 503],
]

/** Tells every error in the contract's words (§2). An unexpected one is logged, and told without detail. */
export async function errors(ctx: Context, next: Koa.Next): Promise<void> {
  try {
    await next()
    if (ctx.status === 404 && ctx.body == null) throw new NotFound()
  } catch (error) {
    if (error instanceof Invalid) await answerProblems(ctx, error.problems)
    else answerDetail(ctx, statusOf(error), error)
  }
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status
  return STATUS.find(([kind]) => error instanceof kind)?.[1] ?? 500
}

function answerDetail(ctx: Context, status: number, error: unknown): void {
  const { system, requestId } = ctx.state
  let detail = error instanceof Error ? error.message : ''
  if (status === 500) {
    system.log.error('unexpected', { request: requestId, error: error instanceof Error ? error.stack : String(error) })
    detail = 'Internal Server Error.'
  } else if (status === 503) {
    system.log.warn('unavailable', { request: requestId, reason: detail })
    const isRead = (ctx.method === 'GET' || ctx.method === 'HEAD') && !ctx.state.dyndns
    detail = `The DNS backend is currently unavailable. ${isRead ? 'Please retry.' : 'Nothing was changed; please retry.'}`
    ctx.set('Retry-After', String(system.config.retryAfter))
  } else if (error instanceof Throttled) ctx.set('Retry-After', String(error.wait))
  else if (status === 401) ctx.set('WWW-Authenticate', 'Token')
  if (ctx.state.dyndns === true) answerText(ctx, status, detail)
  else answer(ctx, status, { detail })
}

async function answerProblems(ctx: Context, problems: Problems | Problems[]): Promise<void> {
  // Clients that read lines get one for each text (contract §10.6).
  if (ctx.state.dyndns === true) {
    answerText(ctx, 400, [problems].flat().flatMap((item) => Object.values(item).flat()).join('\n')) // prettier-ignore
  } else if (Array.isArray(problems)) await answerItems(ctx, 400, problems)
  else answer(ctx, 400, problems)
}
