import { Invalid } from '../../errors.ts'
import { checkNow, count, type DelegationState, lastCheck, list, STATES } from '../../service/delegation/checks.ts'
import { answer } from '../kit/answer.ts'
import { type Context, parameter } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { DELEGATION, DOMAIN_STATE } from './delegation-representation.ts'

export async function showDelegation(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  answer(ctx, 200, DELEGATION.present(await lastCheck(system.db, domain.id)))
}

export async function checkDelegation(ctx: Context): Promise<void> {
  answer(ctx, 200, DELEGATION.present(await checkNow(ctx.state, ctx.state.domain)))
}

export async function listDelegations(ctx: Context): Promise<void> {
  const state = parameter(ctx, 'state')
  if (!isState(state)) throw Invalid.field('state', `"${state}" is not a valid choice.`)
  await answerList(ctx, {
    ids: 'numbers',
    filters: ['state'],
    page: (cursor) => list(ctx.state, state, cursor),
    total: () => count(ctx.state, state),
    present: (domain) => DOMAIN_STATE.present(domain),
  })
}

function isState(text: string | undefined): text is DelegationState | undefined {
  return text === undefined || Object.hasOwn(STATES, text)
}
