import * as policies from '../../service/tokens/token-policies.ts'
import * as tokens from '../../service/tokens/tokens.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import { apiUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { POLICY } from './policy-representation.ts'

/** Responds with the URL of the token's policies (contract §6.2). */
export async function showPolicies(ctx: Context): Promise<void> {
  const { id } = await tokens.get(ctx.state, ctx.params['id']!)
  answer(ctx, 200, { rrsets: `${apiUrl(ctx)}/auth/tokens/${id}/policies/rrsets/` })
}

export async function listPolicies(ctx: Context): Promise<void> {
  const found = await policies.list(ctx.state, ctx.params['id']!)
  const shown = found.map((policy) => POLICY.present(policy))
  answer(ctx, 200, shown)
}

export async function createPolicy(ctx: Context): Promise<void> {
  const policy = await policies.create(ctx.state, ctx.params['id']!, () => POLICY.read(ctx.state.body()))
  answer(ctx, 201, POLICY.present(policy))
}

export async function showPolicy(ctx: Context): Promise<void> {
  answer(ctx, 200, POLICY.present(await policies.get(ctx.state, ctx.params['id']!, ctx.params['policy']!)))
}

/** Serves PUT and PATCH. */
export async function changePolicy(ctx: Context): Promise<void> {
  const ids = { tokenId: ctx.params['id']!, id: ctx.params['policy']! }
  const method = ctx.method as 'PUT' | 'PATCH'
  const policy = await policies.change(ctx.state, ids, method, () => POLICY.read(ctx.state.body()))
  answer(ctx, 200, POLICY.present(policy))
}

export async function deletePolicy(ctx: Context): Promise<void> {
  await policies.remove(ctx.state, ctx.params['id']!, ctx.params['policy']!)
  answerEmpty(ctx, 204)
}
