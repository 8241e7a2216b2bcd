import * as zonefiles from '../../service/domains/zonefiles.ts'
import { parsedUrl } from '../client.ts'
import type { Context } from '../context.ts'
import { Draft } from '../draft.ts'

export async function exportZonefile(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  using draft = new Draft(ctx)
  const { hostname } = parsedUrl(ctx)
  const parts = await draft.inTurn(() => zonefiles.exportZone(system, domain, hostname, (text) => draft.hold(text)))
  draft.send(200, 'text/dns', parts)
}
