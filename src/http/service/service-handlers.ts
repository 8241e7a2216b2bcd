import type { Actor } from '../../service/actor.ts'
import { createTestAccount } from '../../service/ci/test-accounts.ts'
import { asksParents } from '../../service/delegation/checking.ts'
import { checkHealth } from '../../service/operation/health.ts'
import { answer, answerEmpty } from '../kit/answer.ts'
import { apiUrl } from '../kit/caller.ts'
import { type Context, guard } from '../kit/context.ts'
import { siteOf } from '../kit/passkey-site.ts'
import { Refusal } from '../kit/refusal.ts'
import { OFFER, PATHS } from './service-representation.ts'

/** Redirects browsers to the console, or else the page of the API; shows others what there is (contract §13). */
export async function showRoot(ctx: Context): Promise<void> {
  const { publicUrl, console } = ctx.state.system.config
  ctx.vary('Accept')
  if (ctx.accepts('json', 'html') === 'html') {
    // Without the configured URL it is relative: whoever chooses the Host of a request chooses no page.
    const base = publicUrl === undefined ? '' : `${publicUrl}/`
    ctx.set('Location', `${base}${console ? 'console/' : 'api/v1/docs/'}`)
    answerEmpty(ctx, 302)
  } else answer(ctx, 200, absolute(apiUrl(ctx), PATHS.root))
}

/** Responds with links to the resources that the client can use next, and to the documents of the API (contract §13). */
export async function showIndex(ctx: Context): Promise<void> {
  const base = apiUrl(ctx)
  const { openapi, docs } = PATHS.root
  ctx.set('Link', `<${base}${openapi}>; rel="service-desc", <${base}${docs}>; rel="service-doc"`)
  const actor = ctx.state.actor as Actor | undefined
  const index =
    actor === undefined
      ? absolute(base, PATHS.withoutToken)
      : { account: absolute(base, PATHS.account), ...absolute(base, PATHS.others) }
  answer(ctx, 200, index)
}

/** Responds with what the service offers, which only another start, or another address of the service, changes. */
export async function showOffer(ctx: Context): Promise<void> {
  ctx.set('Cache-Control', 'public, max-age=300')
  const { system } = ctx.state
  const abilities = { passkeys: siteOf(ctx) !== undefined, checksDelegations: asksParents(system) }
  answer(ctx, 200, OFFER.present({ ...system.config, ...abilities }))
}

function absolute(base: string, links: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(links).map(([name, path]) => [name, base + path]))
}

/** Responds 200 as long as the process runs (contract §15.2). */
export async function showLiveness(ctx: Context): Promise<void> {
  answer(ctx, 200, { status: 'ok' })
}

/** Reports whether the service can do its work (contract §15.2). */
export async function showReadiness(ctx: Context): Promise<void> {
  const health = await checkHealth(ctx.state.system)
  const isReady = health.status === 'ready'
  answer(ctx, isReady ? 200 : 503, health)
  if (!isReady) ctx.set('Retry-After', String(ctx.state.system.config.retryAfter))
}

const REFUSAL = 'Web pages may not control the service.'

/** Rejects requests from pages: any site could send them to a service on the developer's machine. */
export const refusePages = guard(
  (ctx) => {
    if (ctx.get('Origin') !== '') throw new Refusal(403, REFUSAL)
  },
  { errors: { 403: [REFUSAL] } },
)

/** Creates an account with a token, for one test (contract §15.8). */
export async function createAccount(ctx: Context): Promise<void> {
  answer(ctx, 201, await createTestAccount(ctx.state.system))
}
