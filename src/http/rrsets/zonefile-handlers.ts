import * as zonefiles from '../../service/domains/zonefiles.ts'
import { answerStream } from '../kit/answer.ts'
import { parsedUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { answerChanges, terms } from '../kit/terms.ts'

/** Streams a zone file. */
export async function exportZonefile(ctx: Context): Promise<void> {
  const { hostname } = parsedUrl(ctx)
  await answerStream(ctx, 200, 'text/dns', (breakOff) => zonefiles.exportZone(ctx.state, hostname, breakOff))
}

export async function replaceZonefile(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  await answerChanges(ctx, await zonefiles.replace(ctx.state, ctx.state.body() as string, asked))
}
