import * as totp from '../../service/accounts/totp.ts'
import { answer } from '../kit/answer.ts'
import { apiUrl, parsedUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { deletion, ownedList } from '../kit/owned-list.ts'
import { CODE, FACTOR } from './totp-representation.ts'

export const { list: listFactors, show: showFactor } = ownedList(totp, (factor) => FACTOR.present(factor, ''))

export async function createFactor(ctx: Context): Promise<void> {
  const factor = await totp.create(ctx.state, FACTOR.readForm(ctx.state.body()), apiUrl(ctx))
  if (factor === undefined) {
    answer(ctx, 202, { detail: 'This operation requires confirmation. Please check your mailbox for instructions!' })
  } else answer(ctx, 201, newFactor(ctx, factor))
}

/** Returns a new factor with its secret; forbids caches to store the response. */
export function newFactor(ctx: Context, factor: totp.NewFactor) {
  ctx.set('Cache-Control', 'no-store')
  return FACTOR.presentFull(factor, parsedUrl(ctx).hostname)
}

export async function changeFactor(ctx: Context): Promise<void> {
  const changed = await totp.change(ctx.state, ctx.params['id']!, () => FACTOR.readForm(ctx.state.body()))
  answer(ctx, 200, FACTOR.present(changed, ''))
}

export const deleteFactor = deletion(totp.remove)

export async function verifyCode(ctx: Context): Promise<void> {
  const isFirst = await totp.verify(ctx.state, ctx.params['id']!, () => CODE.read(ctx.state.body()))
  answer(ctx, 200, { detail: isFirst ? 'Your TOTP token has been activated!' : 'The code was correct.' })
}
