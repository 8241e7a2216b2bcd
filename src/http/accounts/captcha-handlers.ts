import * as captchas from '../../service/accounts/captchas.ts'
import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { CAPTCHA } from './captcha-representation.ts'

export async function createCaptcha(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const { kind } = CAPTCHA.readForm(body())
  answer(ctx, 201, CAPTCHA.present(await captchas.createCaptcha(system, kind)))
}
