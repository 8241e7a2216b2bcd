import type Koa from 'koa'
import {
  Conflict,
  Denied,
  Invalid,
  NameserverFailure,
  NotFound,
  PreconditionFailed,
  type Problems,
  Throttled,
  Unauthenticated,
  Unavailable,
} from '../../errors.ts'
import { answer, answerInPieces, type State } from '../context.ts'
import { Refusal } from '../refusal.ts'

const AWAY = 'The DNS backend is currently unavailable.'

/** Tells every error in the contract's words (§2). What nobody foresaw is logged, and told without detail. */
export async function errors(ctx: Koa.ParameterizedContext<State>, next: Koa.Next): Promise<void> {
  try {
    await next()
    if (ctx.status === 404 && ctx.body == null) throw new NotFound()
  } catch (error) {
    const { log, config } = ctx.state.system
    if (error instanceof Invalid) await answerInvalid(ctx, error)
    else if (error instanceof Refusal) answer(ctx, error.status, { detail: error.message })
    else if (error instanceof PreconditionFailed) answer(ctx, 412, { detail: 'Precondition failed.' })
    else if (error instanceof NotFound) answer(ctx, 404, { detail: error.message })
    else if (error instanceof Denied) answer(ctx, 403, { detail: error.message })
    else if (error instanceof Conflict) answer(ctx, 409, { detail: error.message })
    else if (error instanceof Throttled) {
      ctx.set('Retry-After', String(error.wait))
      answer(ctx, 429, { detail: error.message })
    } else if (error instanceof Unauthenticated) {
      ctx.set('WWW-Authenticate', 'Token')
      answer(ctx, 401, { detail: error.message })
    } else if (error instanceof NameserverFailure || error instanceof Unavailable) {
      log.warn('unavailable', { request: ctx.state.requestId, reason: error.message })
      ctx.set('Retry-After', String(config.retryAfter))
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
      answer(ctx, 503, { detail: isRead ? `${AWAY} Please retry.` : `${AWAY} Nothing was changed; please retry.` })
    } else {
      log.error('unexpected', {
        request: ctx.state.requestId,
        error: error instanceof Error ? error.stack : String(error),
      })
      answer(ctx, 500, { detail: 'Internal Server Error.' })
    }
  }
}

async function answerInvalid(ctx: Koa.Context, { problems }: Invalid): Promise<void> {
  if (isList(problems)) await answerInPieces(ctx, 400, problems)
  else answer(ctx, 400, problems)
}

function isList(problems: Invalid['problems']): problems is Iterable<Problems> {
  return Symbol.iterator in problems
}
