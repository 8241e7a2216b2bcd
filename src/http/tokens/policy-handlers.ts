import * as policies from '../../service/tokens/token-policies.ts'
import * as tokens from '../../service/tokens/tokens.ts'
import { apiUrl } from '../kit/caller.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { POLICY } from './policy-representation.ts'

/** The URL of the token's policies (contract §6.2). */
export async function showPolicies(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  const { id } = await tokens.get(system, actor, ctx.params['id']!)
  answer(ctx, 200, { rrsets: `${apiUrl(ctx)}/auth/tokens/${id}/policies/rrsets/` })
}

export async function listPolicies(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  const found = await policies.list(system, actor, ctx.params['id']!)
  answer(
    ctx,
    200,
    found.map((policy) => POLICY.present(policy)),
  )
}

export async function createPolicy(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const policy = await policies.create(system, actor, ctx.params['id']!, () => POLICY.read(body()))
  answer(ctx, 201, POLICY.present(policy))
}

export async function showPolicy(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  answer(ctx, 200, POLICY.present(await policies.get(system, actor, ctx.params['id']!, ctx.params['policy']!)))
}

/** Serves PUT and PATCH. */
export async function changePolicy(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const ids = { tokenId: ctx.params['id']!, id: ctx.params['policy']! }
  const method = ctx.method as 'PUT' | 'PATCH'
  const policy = await policies.change(system, actor, ids, method, () => POLICY.read(body()))
  answer(ctx, 200, POLICY.present(policy))
}

export async function deletePolicy(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await policies.remove(system, actor, ctx.params['id']!, ctx.params['policy']!)
  answerEmpty(ctx, 204)
}
