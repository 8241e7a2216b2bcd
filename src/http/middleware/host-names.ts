import type Koa from 'koa'
import { NotFound } from '../../errors.ts'
import { requestedHost } from '../client.ts'
import type { AppContext } from '../context.ts'
import { pathOf } from './paths.ts'

export const UPDATE_PATH = '/update'
export const CHECK_IP_PATH = '/nic/checkip.html'

/** On a host name that serves only dynDNS updates or only address checks, every path means that (contract §10.1). */
export async function hostNames(ctx: AppContext, next: Koa.Next): Promise<void> {
  const { updateHosts, checkIpHosts } = ctx.state.system.config
  const host = requestedHost(ctx)
    .replace(/\.?(:\d*)?$/, '')
    .toLowerCase()
  if (updateHosts.includes(host)) {
    ctx.state.dyndns = true
    // Browsers request icons unasked; this must not be an update.
    if (/\.(ico|png)$/.test(pathOf(ctx))) throw new NotFound()
    ctx.path = UPDATE_PATH
  } else if (checkIpHosts.includes(host)) {
    ctx.state.dyndns = true
    pathOf(ctx)
    ctx.path = CHECK_IP_PATH
  }
  await next()
}
