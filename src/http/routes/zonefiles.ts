import * as zonefiles from '../../service/domains/zonefiles.ts'
import { parsedUrl } from '../client.ts'
import type { Context } from '../context.ts'
import { Draft } from '../draft.ts'
import { answerChanges, terms } from '../dry-run.ts'

export async function exportZonefile(ctx: Context): Promise<void> {
  using draft = new Draft(ctx)
  const { hostname } = parsedUrl(ctx)
  const parts = await draft.inTurn(() => zonefiles.exportZone(ctx.state, hostname, (text) => draft.hold(text)))
  draft.send(200, 'text/dns', parts)
}

export async function replaceZonefile(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  const { changes, version } = await zonefiles.replace(ctx.state, ctx.state.body() as string, asked)
  ctx.state.version = version
  await answerChanges(ctx, changes)
}
