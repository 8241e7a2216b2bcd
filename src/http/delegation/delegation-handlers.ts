import { checkNow, lastCheck } from '../../service/delegation/checks.ts'
import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { DELEGATION } from './delegation-representation.ts'

export async function showDelegation(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  answer(ctx, 200, DELEGATION.present(await lastCheck(system, domain)))
}

export async function checkDelegation(ctx: Context): Promise<void> {
  answer(ctx, 200, DELEGATION.present(await checkNow(ctx.state, ctx.state.domain)))
}
