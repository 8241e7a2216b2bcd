import { checkHealth } from '../../service/operation/health.ts'
import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'

/** Whether the process runs (contract §15.2). */
export async function showLiveness(ctx: Context): Promise<void> {
  answer(ctx, 200, { status: 'ok' })
}

/** Whether the service can do its work (contract §15.2). */
export async function showReadiness(ctx: Context): Promise<void> {
  const health = await checkHealth(ctx.state.system)
  const isReady = health.status === 'ready'
  answer(ctx, isReady ? 200 : 503, health)
  if (!isReady) ctx.set('Retry-After', String(ctx.state.system.config.retryAfter))
}
