import * as transfers from '../../service/domains/transfers.ts'
import { answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { readTransfers, TRANSFERS } from '../representations/transfers.ts'

export async function showTransfers(ctx: Context): Promise<void> {
  const { system, actor, domain } = ctx.state
  answer(ctx, 200, TRANSFERS.present(await transfers.get(system, actor, domain)))
}

export async function changeTransfers(ctx: Context): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const { settings, key } = await transfers.set(system, actor, domain, readTransfers(body(), system.config))
  answer(ctx, 200, key === undefined ? TRANSFERS.present(settings) : TRANSFERS.presentFull({ ...settings, key }))
}
