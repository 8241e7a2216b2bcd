import { confirm } from '../../service/rollovers/confirming.ts'
import * as rollovers from '../../service/rollovers/rollovers.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { CONFIRMATION_INPUT, ROLLOVER, ROLLOVER_INPUT } from './rollover-representation.ts'

export async function showRollover(ctx: Context): Promise<void> {
  answer(ctx, 200, ROLLOVER.present(await rollovers.get(ctx.state)))
}

export async function beginRollover(ctx: Context): Promise<void> {
  const { algorithm, emergency = false, return: isReturn = false } = ROLLOVER_INPUT.read(ctx.state.body())
  answer(ctx, 201, ROLLOVER.present(await rollovers.begin(ctx.state, { algorithm, emergency, isReturn })))
}

export async function cancelRollover(ctx: Context): Promise<void> {
  const rollover = await rollovers.cancel(ctx.state)
  if (rollover === undefined) answerEmpty(ctx, 204)
  else answer(ctx, 200, ROLLOVER.present(rollover))
}

export async function confirmRollover(ctx: Context): Promise<void> {
  const { force = false } = CONFIRMATION_INPUT.read(ctx.state.body())
  answer(ctx, 200, ROLLOVER.present(await confirm(ctx.state, { force })))
}
