import { checkHealth } from '../../service/health.ts'
import { answer } from '../answer.ts'
import type { Context } from '../context.ts'

/** Whether the process runs (contract §15.2). */
export async function showLiveness(ctx: Context): Promise<void> {
  answer(ctx, 200, { status: 'ok' })
}

/** Whether the service can do its work (contract §15.2). */
export async function showReadiness(ctx: Context): Promise<void> {
  const { ready, checks } = await checkHealth(ctx.state.system)
  answer(ctx, ready ? 200 : 503, { status: ready ? 'ready' : 'unavailable', checks })
  if (!ready) ctx.set('Retry-After', String(ctx.state.system.config.retryAfter))
}
