import * as zonefiles from '../../service/domains/zonefiles.ts'
import { parsedUrl } from '../client.ts'
import type { Context } from '../context.ts'
import { Draft } from '../draft.ts'
import { answerChanges, terms } from '../dry-run.ts'

export async function exportZonefile(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  using draft = new Draft(ctx)
  const { hostname } = parsedUrl(ctx)
  const parts = await draft.inTurn(() => zonefiles.exportZone(system, domain, hostname, (text) => draft.hold(text)))
  draft.send(200, 'text/dns', parts)
}

export async function replaceZonefile(ctx: Context): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const asked = terms(ctx)
  const { changes } = await zonefiles.replace(system, actor, domain, body() as string, asked)
  await answerChanges(ctx, changes)
}
