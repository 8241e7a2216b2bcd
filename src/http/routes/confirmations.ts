import { NotFound } from '../../errors.ts'
import * as changes from '../../service/accounts/account-changes.ts'
import { createCaptcha } from '../../service/accounts/captchas.ts'
import type { Action } from '../../service/accounts/confirmations.ts'
import { activate } from '../../service/accounts/sign-up.ts'
import * as totp from '../../service/accounts/totp.ts'
import { apiUrl } from '../client.ts'
import { answer, type Context, type Middleware } from '../context.ts'
import { isForm } from '../middleware/body.ts'
import { errors } from '../middleware/errors.ts'
import { alert, asksFor, form, outcome, titleOf } from '../html/confirmation.ts'
import { answerPage, html } from '../html/page.ts'
import { readActivation, readNewPassword } from '../representations/account.ts'
import { presentDomain, presentDomainWithKeys } from '../representations/domain.ts'
import { presentNewToken } from '../representations/token.ts'
import { newFactor } from './totp.ts'

/** What each action does, and what it tells when it is done (contract §11.3). */
const ACTIONS: Record<Action, (ctx: Context, code: string) => Promise<unknown>> = {
  async 'activate-account'(ctx, code) {
    const { system, body } = ctx.state
    const captcha = () => readActivation(body(), system.config)
    const { account, domain, token } = await activate(system, code, { captcha, base: apiUrl(ctx) })
    const detail =
      account.passwordHash === null
        ? 'Success! We sent you instructions on how to set your password.'
        : 'Success! Your account has been activated, and you can now log in.'
    if (domain === undefined) return { detail }
    if (token === undefined) return { detail, domain: presentDomainWithKeys(domain) }
    ctx.set('Cache-Control', 'no-store')
    return { detail, domain: presentDomain(domain), ...presentNewToken(token.token, token.secret) }
  },
  async 'change-email'(ctx, code) {
    const email = await changes.changeEmail(ctx.state.system, code)
    return { detail: `Success! Your email address has been changed to ${email}.` }
  },
  async 'reset-password'(ctx, code) {
    const { system, body } = ctx.state
    await changes.resetPassword(system, code, () => readNewPassword(body()))
    return { detail: 'Success! Your password has been changed.' }
  },
  async 'delete-account'(ctx, code) {
    await changes.deleteAccount(ctx.state.system, code)
    return { detail: 'All your data has been deleted.' }
  },
  async 'create-totp'(ctx, code) {
    return newFactor(ctx, await totp.createConfirmed(ctx.state.system, code))
  },
}

/** Lets through what names an action that there is. */
export const refuseUnknownAction: Middleware = async function refuseUnknownAction(ctx, next) {
  if (!Object.hasOwn(ACTIONS, ctx.params['action']!)) throw new NotFound()
  await next()
}

/** Answers the form of a page with a page that says what the answer to JSON would; errors included. */
export const answerFormWithPage: Middleware = async function answerFormWithPage(ctx, next) {
  const isFromPage = ctx.method === 'POST' && isForm(ctx.get('Content-Type'))
  if (!isFromPage) {
    await next()
    return
  }
  await errors(ctx, next)
  const told = JSON.parse(ctx.body as string) as Record<string, unknown>
  const { action, site } = place(ctx)
  if (ctx.status < 300) answerPage(ctx, 'Done', site, outcome(told))
  else if (ctx.status === 400) {
    const problems = told as Record<string, string[]>
    const isAboutInputs = Object.keys(problems).every((name) => asksFor(action, name))
    // What is wrong with a captcha concerns programs. A person waits for the browser to solve one, another one if need be.
    const { captcha: unsolved, ...others } = problems
    const message = Object.keys(others).length === 0 ? html`` : alert(Object.values(others).flat())
    const captcha = unsolved && (await createCaptcha(ctx.state.system))
    answerPage(ctx, titleOf(action), site, isAboutInputs ? html`${message}${form(action, problems, captcha)}` : message)
  } else {
    const message = alert([String(told['detail'])])
    // What was only not done now can be tried again.
    const isPassing = ctx.status === 429 || ctx.status === 503
    answerPage(ctx, titleOf(action), site, isPassing ? html`${message}${form(action)}` : message)
  }
}

/** The page with the form; what the code is good for is seen when the form is sent. */
export async function showForm(ctx: Context): Promise<void> {
  const { action, site } = place(ctx)
  answerPage(ctx, titleOf(action), site, form(action))
}

export async function confirm(ctx: Context): Promise<void> {
  const { action, code } = place(ctx)
  answer(ctx, 200, await ACTIONS[action](ctx, code))
}

function place(ctx: Context): { action: Action; code: string; site: string } {
  const { action, code } = ctx.params as { action: Action; code: string }
  return { action, code, site: new URL(apiUrl(ctx)).host }
}
