import * as tsigKeys from '../../service/doors/tsig-keys.ts'
import * as ownToken from '../../service/tokens/own-token.ts'
import * as tokens from '../../service/tokens/tokens.ts'
import { answer, answerUncached } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { deletion, ownedList } from '../kit/owned-list.ts'
import { OWN_TOKEN } from './own-token-representation.ts'
import { readToken, TOKEN, TSIG_KEY } from './token-representation.ts'

export const { list: listTokens, show: showToken } = ownedList(tokens, (token) => TOKEN.present(token))

export async function createToken(ctx: Context): Promise<void> {
  const { token, secret } = await tokens.create(ctx.state, readToken(ctx.state.body()))
  answerUncached(ctx, 201, TOKEN.presentFull({ ...token, secret }))
}

/** Responds with the token of the request. */
export async function showOwnToken(ctx: Context): Promise<void> {
  answer(ctx, 200, OWN_TOKEN.present(await ownToken.show(ctx.state)))
}

export async function changeToken(ctx: Context): Promise<void> {
  const token = await tokens.change(ctx.state, ctx.params['id']!, () => readToken(ctx.state.body()))
  answer(ctx, 200, TOKEN.present(token))
}

export const deleteToken = deletion(tokens.remove)

export async function makeTsigKey(ctx: Context): Promise<void> {
  answerUncached(ctx, 201, TSIG_KEY.present(await tsigKeys.make(ctx.state, ctx.params['id']!)))
}

export const removeTsigKey = deletion(tsigKeys.remove)
