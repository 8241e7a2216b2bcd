import type { Actor } from '../../service/actor.ts'
import { apiUrl } from '../kit/caller.ts'
import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'

/** Links to the resources that the client may use next (contract §13). */
export async function showIndex(ctx: Context): Promise<void> {
  const base = apiUrl(ctx)
  const actor = ctx.state.actor as Actor | undefined
  if (actor === undefined) {
    const links = { register: '/auth/', login: '/auth/login/', 'reset-password': '/auth/account/reset-password/' }
    answer(ctx, 200, absolute(base, links))
    return
  }
  const account = {
    show: '/auth/account/',
    delete: '/auth/account/delete/',
    'change-email': '/auth/account/change-email/',
    'reset-password': '/auth/account/reset-password/',
  }
  const links = { logout: '/auth/logout/', tokens: '/auth/tokens/', domains: '/domains/' }
  answer(ctx, 200, { account: absolute(base, account), ...absolute(base, links) })
}

function absolute(base: string, links: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(links).map(([name, path]) => [name, base + path]))
}
