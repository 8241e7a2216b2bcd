import { NotFound } from '../../errors.ts'
import * as changes from '../../service/accounts/account-changes.ts'
import type { Action } from '../../service/accounts/confirmations.ts'
import * as passkeys from '../../service/accounts/passkeys.ts'
import { activate } from '../../service/accounts/sign-up.ts'
import * as totp from '../../service/accounts/totp.ts'
import * as invitations from '../../service/members/acceptance.ts'
import { DOMAIN } from '../domains/domain-representation.ts'
import { answer } from '../kit/answer.ts'
import { apiUrl, baseUrl, clientAddress, parsedUrl } from '../kit/caller.ts'
import { type Context, guard, withEffect } from '../kit/context.ts'
import { isForm } from '../middleware/body.ts'
import { errors } from '../middleware/errors.ts'
import { alert, asksFor, form, type Outcome, outcome, titleOf } from '../pages/confirmation-page.ts'
import { answerPage, html } from '../pages/page.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import { accountForms } from './account-representation.ts'
import { newFactor } from './totp-handlers.ts'

/** Carries out each action, and returns the body of the response (contract §11.3). */
const ACTIONS: Record<Action, (ctx: Context, code: string) => Promise<unknown>> = {
  async 'activate-account'(ctx, code) {
    const { account, domain, token } = await activate(ctx.state.system, code, apiUrl(ctx))
    const detail =
      account.passwordHash === null
        ? 'Success! We sent you instructions on how to set your password.'
        : 'Success! Your account has been activated, and you can now log in.'
    if (domain === undefined) return { detail }
    if (token === undefined) return { detail, domain: DOMAIN.presentFull(domain) }
    ctx.set('Cache-Control', 'no-store')
    return { detail, domain: DOMAIN.present(domain), ...TOKEN.presentFull({ ...token.token, secret: token.secret }) }
  },
  async 'change-email'(ctx, code) {
    const email = await changes.changeEmail(ctx.state.system, code)
    return { detail: `Success! Your email address has been changed to ${email}.` }
  },
  async 'reset-password'(ctx, code) {
    const { system, body } = ctx.state
    await changes.resetPassword(system, { code, address: clientAddress(ctx) }, () =>
      accountForms(system.config).newPassword.read(body()),
    )
    return { detail: 'Success! Your password has been changed.' }
  },
  async 'delete-account'(ctx, code) {
    await changes.deleteAccount(ctx.state.system, code)
    return { detail: 'All your data has been deleted.' }
  },
  async 'create-totp'(ctx, code) {
    return newFactor(ctx, await totp.createConfirmed(ctx.state.system, code))
  },
  async 'create-passkey'(ctx, code) {
    await passkeys.createConfirmed(ctx.state.system, code)
    return { detail: 'Success! Your passkey has been added. You can now sign in with it.' }
  },
  async 'accept-invitation'(ctx, code) {
    const { system, body, actor } = ctx.state
    const { newPassword } = accountForms(system.config).invitation.read(body())
    const { account } = await invitations.accept(system, code, { actor: actor, newPassword })
    return { detail: `Success! You may now act for the account ${account}.` }
  },
}

/** Requires an action that exists. */
export const refuseUnknownAction = guard(
  (ctx) => {
    if (!Object.hasOwn(ACTIONS, ctx.params['action']!)) throw new NotFound()
  },
  { errors: { 404: ['Not found.'] } },
)

/** Responds to a submitted form with a page that shows the content of the JSON response, including errors. */
export const answerFormWithPage = withEffect({ pages: true }, async function answerFormWithPage(ctx, next) {
  if (ctx.method !== 'POST' || !isForm(ctx.get('Content-Type'))) {
    await next()
    return
  }
  await errors(ctx, next)
  const body = JSON.parse(ctx.body as string) as unknown
  const { action, code, site } = linkOf(ctx)
  if (ctx.status < 300) {
    // Nobody can sign in to an account that is gone.
    const hasConsole = ctx.state.system.config.console && action !== 'delete-account'
    answerPage(ctx, 'Done', site, outcome(body as Outcome, hasConsole ? baseUrl(ctx) : undefined))
    return
  }
  const problems = body as Record<string, string[]>
  const isTemporary = ctx.status === 429 || ctx.status === 503
  const canRetry = isTemporary || Object.keys(problems).every((name) => asksFor(action, name))
  const texts = Object.values(problems).flat()
  const content = html`${texts.length > 0 && alert(texts)}${canRetry && form(action, await offerOf(ctx, action, code), problems)}`
  answerPage(ctx, titleOf(action), site, content)
})

/** Shows the form, without looking at the code, but for that of an invitation (contract §11.3). */
export async function showForm(ctx: Context): Promise<void> {
  const { action, code, site } = linkOf(ctx)
  answerPage(ctx, titleOf(action), site, form(action, await offerOf(ctx, action, code)))
}

/** Returns what an invitation offers: by the link alone, nobody sees who invites to what. */
async function offerOf(ctx: Context, action: Action, code: string): Promise<string | undefined> {
  return action === 'accept-invitation' ? invitations.offerOf(ctx.state.system, code) : undefined
}

export async function confirm(ctx: Context): Promise<void> {
  const { action, code } = linkOf(ctx)
  answer(ctx, 200, await ACTIONS[action](ctx, code))
}

/** Returns the parts of the confirmation link; `site` is the name under which the page shows the service. */
function linkOf(ctx: Context): { action: Action; code: string; site: string } {
  const { action, code } = ctx.params as { action: Action; code: string }
  return { action, code, site: parsedUrl(ctx).host }
}
