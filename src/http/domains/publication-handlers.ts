import { Invalid } from '../../errors.ts'
import { PUBLICATION_WAIT } from '../../limits.ts'
import { statusOf, versionOf } from '../../service/domains/serving-status.ts'
import { answer } from '../kit/answer.ts'
import { parameter, type Context } from '../kit/context.ts'
import { patience } from '../middleware/report-publication.ts'
import { PUBLICATION } from './publication-representation.ts'

export async function showPublication(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  const publication = versionOf(domain, integer(ctx, 'version', 'A valid integer is required.'))
  const wait = integer(ctx, 'wait', TOO_LONG) ?? 0
  if (wait > PUBLICATION_WAIT) throw Invalid.field('wait', TOO_LONG)
  answer(ctx, 200, PUBLICATION.present(await statusOf(system, publication, patience(ctx, wait))))
}

const TOO_LONG = `Must be a whole number of seconds from 0 to ${PUBLICATION_WAIT}.`

/** @throws Invalid with the message if the query parameter is no whole number of up to ten digits */
function integer(ctx: Context, name: string, message: string): number | undefined {
  const text = parameter(ctx, name)
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text)) throw Invalid.field(name, message)
  return Number(text)
}
