import { NotFound } from '../../errors.ts'
import { PAGE_SIZE } from '../../limits.ts'
import { isUuid } from '../../service/ids.ts'
import type { Cursor, Page } from '../../service/pagination.ts'
import { fromMicroseconds, microseconds } from '../../time.ts'
import { answer, joinReaders } from './answer.ts'
import { baseUrl } from './caller.ts'
import { type Context, parameter } from './context.ts'
import { Refusal } from './refusal.ts'

/** A list, and its parameters of paging (contract §4). */
export interface Listing<Row> {
  /** The form of the entries' ids. */
  ids: keyof typeof IDS
  /** The query parameters that filter the entries. */
  filters?: readonly string[]
  page: (cursor: Cursor | undefined) => Promise<Page<Row>>
  /** Counts the entries; called only if they do not fit on one page. */
  total: () => Promise<number>
  present: (row: Row) => unknown
}

const IDS = {
  numbers: (id: string) => /^\d{1,15}$/.test(id),
  uuids: isUuid,
}

/** Responds with a list, or with the page of it that the query asks for (contract §4). */
export async function answerList<Row>(ctx: Context, listing: Listing<Row>): Promise<void> {
  const { ids, filters = [], page, total, present } = listing
  const cursor = parameter(ctx, 'cursor')
  const position = cursor ? readCursor(cursor, ids) : undefined
  await joinReaders(ctx)
  const { rows, newer, older } = await page(position)
  const first = link(ctx, filters, 'first')
  if (cursor !== undefined) {
    const links = [first, newer && link(ctx, filters, 'prev', newer), older && link(ctx, filters, 'next', older)]
    ctx.set('Link', links.filter(Boolean).join(', '))
  } else if (older !== undefined) {
    ctx.set('Link', first)
    const limit = `You can query up to ${PAGE_SIZE} items at a time (${await total()} total).`
    throw new Refusal(400, `Pagination required. ${limit} Please use the \`first\` page link (see Link header).`)
  }
  answer(ctx, 200, rows.map(present))
}

function link(ctx: Context, filters: readonly string[], relation: string, cursor?: Cursor): string {
  const parameters = new URLSearchParams({ cursor: cursor === undefined ? '' : printCursor(cursor) })
  for (const name of filters) {
    const value = parameter(ctx, name)
    if (value !== undefined) parameters.set(name, value)
  }
  parameters.sort()
  return `<${baseUrl(ctx)}${ctx.path.replace(/\/?$/, '/')}?${parameters.toString()}>; rel="${relation}"`
}

/** Prints `o` (older) or `n` (newer), the microseconds since the epoch, and the id. */
function printCursor({ towards, created, id }: Cursor): string {
  return `${towards[0]}${microseconds(created)}-${id}`
}

function readCursor(text: string, ids: keyof typeof IDS): Cursor {
  const [, direction, time, id = ''] = /^([on])(-?\d{1,18})-(.*)$/s.exec(text) ?? []
  const created = fromMicroseconds(BigInt(time ?? 0))
  if (created === undefined || !IDS[ids](id)) throw new NotFound('Invalid cursor')
  return { towards: direction === 'o' ? 'older' : 'newer', created, id }
}
