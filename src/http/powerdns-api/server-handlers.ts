import { answer } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { API, SERVER } from './server-representation.ts'

export function showApis(ctx: Context): void {
  answer(ctx, 200, [API.present({})])
}

export function listServers(ctx: Context): void {
  answer(ctx, 200, [SERVER.present({})])
}

export function showServer(ctx: Context): void {
  answer(ctx, 200, SERVER.present({}))
}

/**
 * Responds with an empty list: tenants see no statistics of the nameserver, and the settings of a zone that PowerDNS
 * keeps as metadata are the service's.
 */
export function listNothing(ctx: Context): void {
  answer(ctx, 200, [])
}
