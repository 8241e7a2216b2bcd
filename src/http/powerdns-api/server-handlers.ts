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

/** Responds with the statistics of the nameserver that tenants see: none. */
export function listStatistics(ctx: Context): void {
  answer(ctx, 200, [])
}
