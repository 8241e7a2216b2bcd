import type Koa from 'koa'
import { NotFound } from '../../errors.ts'
import { calledHost } from '../client.ts'
import type { State } from '../context.ts'
import { pathOf } from './paths.ts'

export const UPDATE_PATH = '/update'
export const CHECK_IP_PATH = '/nic/checkip.html'

/** On host names that are for dynDNS alone, every path is that of the one thing they do (contract §10.1). */
export async function hostNames(ctx: Koa.ParameterizedContext<State>, next: Koa.Next): Promise<void> {
  const { updateHosts, checkIpHosts } = ctx.state.system.config
  const host = calledHost(ctx, ctx.state.system.config)
    .replace(/\.?(:\d*)?$/, '')
    .toLowerCase()
  if (updateHosts.includes(host)) {
    ctx.state.dyndns = true
    // What browsers ask for by themselves.
    if (/\.(ico|png)$/.test(pathOf(ctx))) throw new NotFound()
    ctx.path = UPDATE_PATH
  } else if (checkIpHosts.includes(host)) {
    ctx.state.dyndns = true
    pathOf(ctx)
    ctx.path = CHECK_IP_PATH
  }
  await next()
}
