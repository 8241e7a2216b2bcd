import * as changes from '../../service/accounts/account-changes.ts'
import * as accounts from '../../service/accounts/accounts.ts'
import * as captchas from '../../service/accounts/captchas.ts'
import * as logins from '../../service/accounts/logins.ts'
import { refuseIfClosed, signUp } from '../../service/accounts/sign-up.ts'
import { answer, answerEmpty, answerUncached } from '../kit/answer.ts'
import { apiUrl, clientAddress } from '../kit/caller.ts'
import { type Context, guard } from '../kit/context.ts'
import { requiredSite } from '../kit/passkey-site.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import { ACCOUNT, accountForms } from './account-representation.ts'
import { CAPTCHA } from './captcha-representation.ts'

/** Requires that registration is open. */
export const refuseClosedRegistration = guard(
  (ctx) => {
    refuseIfClosed(ctx.state.system)
  },
  { errors: { 403: ['Registration is closed. Please contact the operator.'] } },
)

export async function register(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const isToBeConfirmed = await signUp(system, accountForms(system.config).signUp.read(body()), apiUrl(ctx))
  answer(ctx, 202, { detail: isToBeConfirmed ? 'Welcome! Please check your mailbox.' : 'Welcome!' })
}

export async function login(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const credentials = { ...accountForms(system.config).credentials.read(body()), address: clientAddress(ctx) }
  const { token, secret } = await logins.login(system, credentials)
  answerUncached(ctx, 200, TOKEN.presentFull({ ...token, secret }))
}

export async function logout(ctx: Context): Promise<void> {
  await logins.logout(ctx.state)
  answerEmpty(ctx, 204)
}

export async function showAccount(ctx: Context): Promise<void> {
  answer(ctx, 200, ACCOUNT.present(await accounts.show(ctx.state)))
}

export async function changeAccount(ctx: Context): Promise<void> {
  const changed = await accounts.change(ctx.state, ACCOUNT.readForm(ctx.state.body()))
  answer(ctx, 200, ACCOUNT.present(changed))
}

export async function requestEmailChange(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const { newEmail, ...proof } = accountForms(system.config).emailChange.read(body())
  await changes.requestEmailChange(system, { ...proof, ...placeOf(ctx) }, newEmail, apiUrl(ctx))
  answer(ctx, 202, { detail: 'Please check your mailbox to confirm email address change.' })
}

/** Returns where the client is, and where its passkeys are valid. */
function placeOf(ctx: Context) {
  return { address: clientAddress(ctx), site: () => requiredSite(ctx) }
}

export async function requestPasswordReset(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  await changes.requestPasswordReset(system, accountForms(system.config).passwordReset.read(body()), apiUrl(ctx))
  const instructions = 'Please check your mailbox for further password reset instructions.'
  answer(ctx, 202, { detail: `${instructions} If you did not receive an email, please contact support.` })
}

export async function requestDeletion(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const proof = { ...accountForms(system.config).deletion.read(body()), ...placeOf(ctx) }
  await changes.requestDeletion(system, proof, apiUrl(ctx))
  answer(ctx, 202, { detail: 'Please check your mailbox for further account deletion instructions.' })
}

export async function createCaptcha(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const { kind } = CAPTCHA.readForm(body())
  answer(ctx, 201, CAPTCHA.present(await captchas.createCaptcha(system, kind)))
}
