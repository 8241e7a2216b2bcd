import * as tokens from '../../service/tokens/tokens.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { readToken, TOKEN } from './token-representation.ts'

export async function listTokens(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await answerList(ctx, {
    ids: 'uuids',
    page: (cursor) => tokens.list(system, actor, cursor),
    total: () => tokens.count(system, actor),
    present: (token) => TOKEN.present(token),
  })
}

export async function createToken(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const { token, secret } = await tokens.create(system, actor, readToken(body()))
  ctx.set('Cache-Control', 'no-store')
  answer(ctx, 201, TOKEN.presentFull({ ...token, secret }))
}

export async function showToken(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  answer(ctx, 200, TOKEN.present(await tokens.get(system, actor, ctx.params['id']!)))
}

export async function changeToken(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const token = await tokens.change(system, actor, ctx.params['id']!, () => readToken(body()))
  answer(ctx, 200, TOKEN.present(token))
}

export async function deleteToken(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await tokens.remove(system, actor, ctx.params['id']!)
  answerEmpty(ctx, 204)
}
