import { Invalid, NotFound } from '../../errors.ts'
import type { Asked } from '../../service/activity/activity.ts'
import * as activity from '../../service/activity/activity.ts'
import { timeIn } from '../../service/domains/domain-history.ts'
import { isUuid } from '../../service/ids.ts'
import type { Cursor } from '../../service/pagination.ts'
import { readTime, type Timestamp } from '../../time.ts'
import { answerStream } from '../kit/answer.ts'
import { type Context, parameter } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { ACTIVITY } from './activity-representation.ts'

/** The filters, by the names of their query parameters. */
export const FILTERS = ['domain', 'token', 'person', 'source', 'type', 'since', 'until', 'search'] as const

export const LINES = 'application/x-ndjson'

/** Lists what happened; to clients that accept them, all in lines of JSON. */
export async function listActivity(ctx: Context): Promise<void> {
  const asked = askedIn(ctx)
  if (ctx.get('Accept').toLowerCase().includes(LINES)) {
    const cursor = cursorIn(ctx)
    await answerStream(ctx, 200, LINES, (breakOff) => linesOf(activity.stream(ctx.state, asked, cursor, breakOff)))
  } else
    await answerList(ctx, {
      ids: 'uuids',
      filters: FILTERS,
      page: (cursor) => activity.list(ctx.state, asked, cursor),
      total: () => activity.count(ctx.state),
      present: (entry) => ACTIVITY.present(entry),
    })
}

async function* linesOf(pages: AsyncIterable<activity.Activity[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((entry) => `${JSON.stringify(ACTIVITY.present(entry))}\n`).join('')
}

/** @throws Invalid */
function askedIn(ctx: Context): Asked {
  const { since, until, ...texts } = Object.fromEntries(
    FILTERS.map((name) => [name, parameter(ctx, name) || undefined]),
  ) as Partial<Record<(typeof FILTERS)[number], string>>
  return { ...texts, since: timeOf('since', since), until: timeOf('until', until) }
}

/** @throws Invalid */
function timeOf(name: string, text: string | undefined): Timestamp | undefined {
  const time = text === undefined ? undefined : readTime(text)
  if (text !== undefined && time === undefined)
    throw Invalid.field(name, 'Must be a time such as 2026-01-31T12:00:00Z.')
  return time
}

/** Reads where an earlier stream has ended: the id of its last entry, which has its time. @throws NotFound */
function cursorIn(ctx: Context): Cursor | undefined {
  const id = parameter(ctx, 'cursor') || undefined
  if (id === undefined) return undefined
  const created = isUuid(id) ? timeIn(id) : undefined
  if (created === undefined) throw new NotFound('Invalid cursor')
  return { towards: 'older', created, id }
}
