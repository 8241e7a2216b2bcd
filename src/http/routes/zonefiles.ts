import * as zonefiles from '../../service/domains/zonefiles.ts'
import { parsedUrl } from '../client.ts'
import { answerText, type Context } from '../context.ts'

export async function exportZonefile(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  answerText(ctx, 200, await zonefiles.exportZone(system, domain, parsedUrl(ctx).hostname), 'text/dns')
}
