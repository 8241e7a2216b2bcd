import { SIGN_IN_TIME } from '../../limits.ts'
import * as signOn from '../../service/sign-on/sign-on.ts'
import { endSessions } from '../../service/sign-on/sign-out.ts'
import { endLink, linkOf } from '../../service/sign-on/unlinking.ts'
import type { Config } from '../../settings/config.ts'
import { answer, answerEmpty, answerUncached } from '../kit/answer.ts'
import { baseUrl, clientAddress, parsedUrl } from '../kit/caller.ts'
import { type AppContext, type Context, withEffect } from '../kit/context.ts'
import { errors } from '../middleware/errors.ts'
import { alert } from '../pages/confirmation-page.ts'
import { answerPage, html } from '../pages/page.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import { LOGOUT_TOKEN, SIGN_ON_CODE } from './sign-on-representation.ts'

export async function showSignOn(ctx: Context): Promise<void> {
  const { system } = ctx.state
  answer(ctx, 200, { name: system.config.oidcName, reachable: await signOn.isReachable(system) })
}

export async function beginSignOn(ctx: Context): Promise<void> {
  const { url, cookie } = await signOn.begin(ctx.state.system)
  setCookie(ctx, cookie, SIGN_IN_TIME)
  answerUncached(ctx, 200, { url })
}

/** Answers errors of the callback with a page: the issuer has sent a person there. */
export const answerWithPage = withEffect({ pages: true }, async function answerWithPage(ctx, next) {
  await errors(ctx, next)
  if (ctx.status < 400) return
  const texts = Object.values(JSON.parse(ctx.body as string) as Record<string, string | string[]>).flat()
  const again = html`<p><a href="${baseUrl(ctx)}/console/">Back to sign-in</a></p>`
  answerPage(ctx, 'You are not signed in', parsedUrl(ctx).host, html`${alert(texts)}${again}`)
})

/** Leads the browser to the console, with a code in the fragment, which no server sees. */
export async function finishSignOn(ctx: Context): Promise<void> {
  const code = await signOn.finish(ctx.state.system, ctx.querystring, cookieOf(ctx))
  ctx.set('Location', `${baseUrl(ctx)}/console/signed-in#${code}`)
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Referrer-Policy', 'no-referrer')
  answerEmpty(ctx, 303)
}

export async function exchangeCode(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  const handed = { ...SIGN_ON_CODE.read(body()), cookie: cookieOf(ctx) }
  const { token, secret } = await signOn.exchange(system, handed, clientAddress(ctx))
  setCookie(ctx, '', 0)
  answerUncached(ctx, 200, TOKEN.presentFull({ ...token, secret }))
}

export async function linkIdentity(ctx: Context): Promise<void> {
  await signOn.linkTo(ctx.state, { ...SIGN_ON_CODE.read(ctx.state.body()), cookie: cookieOf(ctx) })
  setCookie(ctx, '', 0)
  answerEmpty(ctx, 204)
}

export async function showLink(ctx: Context): Promise<void> {
  const link = await linkOf(ctx.state)
  answer(ctx, 200, { linked: link?.created ?? null, last_used: link?.lastUsed ?? null })
}

export async function endLinkOfAccount(ctx: Context): Promise<void> {
  await endLink(ctx.state)
  answerEmpty(ctx, 204)
}

export async function endSessionsOfIssuer(ctx: Context): Promise<void> {
  const { system, body } = ctx.state
  await endSessions(system, LOGOUT_TOKEN.read(body()).logoutToken)
  ctx.set('Cache-Control', 'no-store')
  answerEmpty(ctx, 200)
}

/** With `__Host-`, no other host of the domain can set it (RFC 6265bis §4.1.3.2); it needs https. */
function nameOf({ publicUrl }: Config): string {
  return `${isSecure(publicUrl) ? '__Host-' : ''}zoneplane-sign-in`
}

function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') === true
}

function cookieOf(ctx: AppContext): string | undefined {
  return ctx.cookies.get(nameOf(ctx.state.system.config))
}

/** Lax, because the issuer's redirect comes from another site. @param age seconds; 0 deletes the cookie */
function setCookie(ctx: AppContext, value: string, age: number): void {
  const { config } = ctx.state.system
  const secure = isSecure(config.publicUrl) ? '; Secure' : ''
  ctx.set('Set-Cookie', `${nameOf(config)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`)
}
