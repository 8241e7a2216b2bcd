import type Koa from 'koa'
import {
  causeOf,
  Conflict,
  consequenceOf,
  Denied,
  Invalid,
  NameserverFailure,
  NotFound,
  Obstructed,
  OutcomeUnknown,
  PreconditionFailed,
  problemTexts,
  Throttled,
  Unauthenticated,
  Unavailable,
} from '../../errors.ts'
import { answer, answerItems, answerText } from '../kit/answer.ts'
import type { AppContext } from '../kit/context.ts'
import { Refusal } from '../kit/refusal.ts'

/** The status of each error of the service (contract §2.2); the error's message is the `detail`. */
const STATUS: [kind: new (...args: never[]) => Error, status: number][] = [
  [Invalid, 400],
  [Unauthenticated, 401],
  [Denied, 403],
  [NotFound, 404],
  [Conflict, 409],
  [PreconditionFailed, 412],
  [Throttled, 429],
  [NameserverFailure, 503],
  [Unavailable, 503],
]

/** Turns every error into the contract's response (§2). Logs an unexpected one, and responds without its details. */
export async function errors(ctx: AppContext, next: Koa.Next): Promise<void> {
  try {
    await next()
    if (ctx.status === 404 && ctx.body == null) throw new NotFound()
  } catch (error) {
    if (error instanceof Invalid) await answerProblems(ctx, error)
    else answerDetail(ctx, statusOf(error), error)
  }
}

/** Returns the status of the response to an error. */
export function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status
  return STATUS.find(([kind]) => error instanceof kind)?.[1] ?? 500
}

function answerDetail(ctx: AppContext, status: number, error: unknown): void {
  const { system } = ctx.state
  let detail = error instanceof Error ? error.message : ''
  if (status === 500) {
    system.log.error('unexpected error', { error: error instanceof Error ? error.stack : String(error) })
    detail = 'Internal Server Error.'
  } else if (status === 503) {
    system.log.warn('request failed: a backend is unavailable', { reason: detail })
    detail = `${causeOf(error)} ${consequence(ctx, error)}`
    ctx.set('Retry-After', String(system.config.retryAfter))
  } else if (error instanceof Throttled) {
    system.metrics?.count('zoneplane_throttled_requests_total', { scope: error.scope })
    ctx.set('Retry-After', String(error.wait))
  } else if (status === 401) ctx.set('WWW-Authenticate', ctx.state.powerdns === true ? 'X-API-Key' : 'Token')
  if (ctx.state.dyndns === true) answerText(ctx, status, detail)
  else if (ctx.state.powerdns === true) answer(ctx, status, { error: POWERDNS_TEXTS[status] ?? detail })
  else answer(ctx, status, { detail, ...(error instanceof Obstructed && { conflicts: error.conflicts }) })
}

/** Returns the meaning of a backend's failure for the client (contract §2.2). */
function consequence(ctx: AppContext, error: unknown): string {
  const isRead = (ctx.method === 'GET' || ctx.method === 'HEAD') && !ctx.state.dyndns
  return isRead && !(error instanceof OutcomeUnknown) ? 'Please retry.' : consequenceOf(error)
}

/** The texts of statuses for which PowerDNS has no reason. */
export const POWERDNS_TEXTS: Record<number, string> = { 401: 'Unauthorized', 404: 'Not Found' }

async function answerProblems(ctx: AppContext, error: Invalid): Promise<void> {
  const { problems } = error
  if (ctx.state.dyndns === true) {
    const texts = [problems].flat().flatMap((item) => Object.values(item).flat())
    // dynDNS clients read lines (contract §10.6).
    answerText(ctx, 400, texts.join('\n'))
  } else if (ctx.state.powerdns === true) {
    const errors = problemTexts(error)
    answer(ctx, 422, { error: errors[0] ?? '', ...(errors.length > 1 && { errors }) })
  } else if (Array.isArray(problems)) await answerItems(ctx, 400, problems)
  else answer(ctx, 400, problems)
}
