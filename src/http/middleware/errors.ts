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
import { answer, answerInPieces, answerText, type State } from '../context.ts'
import { Refusal } from '../refusal.ts'

const AWAY = 'The DNS backend is currently unavailable.'

/** Tells every error in the contract's words (§2). What nobody foresaw is logged, and told without detail. */
export async function errors(ctx: Koa.ParameterizedContext<State>, next: Koa.Next): Promise<void> {
  try {
    await next()
    if (ctx.status === 404 && ctx.body == null) throw new NotFound()
  } catch (error) {
    const { log, config } = ctx.state.system
    if (error instanceof Invalid) await refuseInvalid(ctx, error)
    else if (error instanceof Refusal) refuse(ctx, error.status, { detail: error.message })
    else if (error instanceof PreconditionFailed) refuse(ctx, 412, { detail: 'Precondition failed.' })
    else if (error instanceof NotFound) refuse(ctx, 404, { detail: error.message })
    else if (error instanceof Denied) refuse(ctx, 403, { detail: error.message })
    else if (error instanceof Conflict) refuse(ctx, 409, { detail: error.message })
    else if (error instanceof Throttled) {
      ctx.set('Retry-After', String(error.wait))
      refuse(ctx, 429, { detail: error.message })
    } else if (error instanceof Unauthenticated) {
      ctx.set('WWW-Authenticate', 'Token')
      refuse(ctx, 401, { detail: error.message })
    } else if (error instanceof NameserverFailure || error instanceof Unavailable) {
      log.warn('unavailable', { request: ctx.state.requestId, reason: error.message })
      ctx.set('Retry-After', String(config.retryAfter))
      const isRead = (ctx.method === 'GET' || ctx.method === 'HEAD') && !ctx.state.dyndns
      refuse(ctx, 503, { detail: isRead ? `${AWAY} Please retry.` : `${AWAY} Nothing was changed; please retry.` })
    } else {
      log.error('unexpected', {
        request: ctx.state.requestId,
        error: error instanceof Error ? error.stack : String(error),
      })
      refuse(ctx, 500, { detail: 'Internal Server Error.' })
    }
  }
}

type Context = Koa.ParameterizedContext<State>

function refuse(ctx: Context, status: number, body: { detail: string } | Problems): void {
  if (ctx.state.dyndns === true) answerText(ctx, status, Object.values(body).flat().join('\n'))
  else answer(ctx, status, body)
}

async function refuseInvalid(ctx: Context, { problems }: Invalid): Promise<void> {
  if (!isList(problems)) refuse(ctx, 400, problems)
  // For those who read lines, there is one for each text (contract §10.6).
  else if (ctx.state.dyndns === true)
    refuse(ctx, 400, { lines: [...problems].flatMap((item) => Object.values(item).flat()) })
  else await answerInPieces(ctx, 400, problems)
}

function isList(problems: Invalid['problems']): problems is Iterable<Problems> {
  return Symbol.iterator in problems
}
