import { once } from 'node:events'
import { Readable } from 'node:stream'
import { EXPORT_TIME } from '../../limits.ts'
import * as zonefiles from '../../service/domains/zonefiles.ts'
import { parsedUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { answerChanges, terms } from '../kit/terms.ts'

/** Streams a zone file as fast as the client takes it. A later failure breaks the connection. */
export async function exportZonefile(ctx: Context): Promise<void> {
  const breakOff = () => ctx.res.destroy()
  const parts = Readable.from(zonefiles.exportZone(ctx.state, parsedUrl(ctx).hostname, breakOff))
  await once(parts, 'readable')
  const late = setTimeout(breakOff, EXPORT_TIME)
  parts.once('close', () => {
    clearTimeout(late)
  })
  ctx.set('Content-Type', 'text/dns')
  ctx.body = parts
}

export async function replaceZonefile(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  const { changes, version } = await zonefiles.replace(ctx.state, ctx.state.body() as string, asked)
  ctx.state.version = version
  await answerChanges(ctx, changes)
}
