import * as captchas from '../../service/accounts/captchas.ts'
import { answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { presentCaptcha, readCaptchaKind } from '../representations/captcha.ts'

export async function createCaptcha(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  answer(ctx, 201, presentCaptcha(await captchas.createCaptcha(system, readCaptchaKind(body()))))
}
