import * as transfers from '../../service/domains/transfers.ts'
import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { readTransfers, TRANSFERS } from './transfer-representation.ts'

export async function showTransfers(ctx: Context): Promise<void> {
  answer(ctx, 200, TRANSFERS.present(await transfers.get(ctx.state)))
}

export async function changeTransfers(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const { settings, key } = await transfers.set(ctx.state, readTransfers(body(), system.config))
  answer(ctx, 200, key === undefined ? TRANSFERS.present(settings) : TRANSFERS.presentFull({ ...settings, key }))
}
