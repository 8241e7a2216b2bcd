import * as dyndns from '../../service/domains/dyndns.ts'
import { clientAddress } from '../client.ts'
import { answerText, parameters, type Context, type Middleware } from '../context.ts'
import { presentGood, readHosts, readOwnHosts, readUpdates } from '../representations/dyndns.ts'

/** Finds out which names an update is about, and the domain that they lie in (contract §10.3). */
export const findHosts: Middleware = async function findHosts(ctx, next) {
  const { system, actor, user } = ctx.state
  const query = parameters(ctx)
  const hosts = readHosts(query, user) ?? [(await dyndns.onlyDomain(system, actor)).name]
  ctx.state.hosts = hosts
  ctx.state.domain = await dyndns.domainOf(system, actor, [...hosts, ...readOwnHosts(query)])
  await next()
}

export async function update(ctx: Context): Promise<void> {
  const { system, actor, domain, hosts } = ctx.state
  const updates = readUpdates(parameters(ctx), hosts, clientAddress(ctx, system.config.trustedProxies))
  await dyndns.update(system, actor, domain, updates)
  answerText(ctx, 200, presentGood(updates))
}

/** Tells a client its address (contract §10.1). */
export async function showAddress(ctx: Context): Promise<void> {
  answerText(ctx, 200, clientAddress(ctx, ctx.state.system.config.trustedProxies))
}
