import * as captchas from '../../service/accounts/captchas.ts'
import { answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { CAPTCHA } from '../representations/captcha.ts'

export async function createCaptcha(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const { kind } = CAPTCHA.readForm(body())
  answer(ctx, 201, CAPTCHA.present(await captchas.createCaptcha(system, kind)))
}
