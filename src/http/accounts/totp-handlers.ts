import * as totp from '../../service/accounts/totp.ts'
import { apiUrl, parsedUrl } from '../kit/caller.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { CODE, FACTOR } from './totp-representation.ts'

export async function listFactors(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await answerList(ctx, {
    ids: 'uuids',
    page: (cursor) => totp.list(system, actor, cursor),
    total: () => totp.count(system, actor),
    present: (factor) => FACTOR.present(factor, ''),
  })
}

export async function createFactor(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const factor = await totp.create(system, actor, FACTOR.readForm(body()), apiUrl(ctx))
  if (factor === undefined) {
    answer(ctx, 202, { detail: 'This operation requires confirmation. Please check your mailbox for instructions!' })
  } else answer(ctx, 201, newFactor(ctx, factor))
}

/** A new factor with its secret; forbids caches to store the response. */
export function newFactor(ctx: Context, factor: totp.NewFactor) {
  ctx.set('Cache-Control', 'no-store')
  return FACTOR.presentFull(factor, parsedUrl(ctx).hostname)
}

export async function showFactor(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  answer(ctx, 200, FACTOR.present(await totp.get(system, actor, ctx.params['id']!), ''))
}

export async function changeFactor(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  answer(
    ctx,
    200,
    FACTOR.present(await totp.change(system, actor, ctx.params['id']!, () => FACTOR.readForm(body())), ''),
  )
}

export async function deleteFactor(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  await totp.remove(system, actor, ctx.params['id']!)
  answerEmpty(ctx, 204)
}

export async function verifyCode(ctx: Context): Promise<void> {
  const { system, actor, body } = ctx.state
  const isFirst = await totp.verify(system, actor, ctx.params['id']!, () => CODE.read(body()))
  answer(ctx, 200, { detail: isFirst ? 'Your TOTP token has been activated!' : 'The code was correct.' })
}
