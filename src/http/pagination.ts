import { NotFound } from '../errors.ts'
import { PAGE_SIZE } from '../limits.ts'
import type { Cursor, Page } from '../service/pagination.ts'
import { fromMicroseconds, microseconds } from '../time.ts'
import { baseUrl } from './client.ts'
import { answer, parameter, type Context } from './context.ts'
import { Refusal } from './refusal.ts'

/** A list that is answered whole if it is short, and else in pages. */
export interface Listing<Row> {
  /** What the ids of its entries are. */
  ids: keyof typeof IDS
  /** The query parameters that choose among the entries. */
  filters?: string[]
  page: (cursor: Cursor | undefined) => Promise<Page<Row>>
  /** How many entries there are; asked for only if they do not fit on one page. */
  total: () => Promise<number>
  present: (row: Row) => unknown
}

const IDS = {
  numbers: /^\d{1,15}$/,
  uuids: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
}

/** Answers with a list, or the page of it that the query asks for (contract §4). */
export async function answerList<Row>(ctx: Context, listing: Listing<Row>): Promise<void> {
  const { ids, filters = [], page, total, present } = listing
  const asked = parameter(ctx, 'cursor')
  const { rows, newer, older } = await page(asked ? readCursor(asked, ids) : undefined)
  if (asked !== undefined) {
    const links = [link(ctx, filters, 'first', ''), newer && link(ctx, filters, 'prev', writeCursor(newer))]
    ctx.set('Link', [...links, older && link(ctx, filters, 'next', writeCursor(older))].filter(Boolean).join(', '))
  } else if (older !== undefined) {
    ctx.set('Link', link(ctx, filters, 'first', ''))
    const limit = `You can query up to ${PAGE_SIZE} items at a time (${await total()} total).`
    throw new Refusal(400, `Pagination required. ${limit} Please use the \`first\` page link (see Link header).`)
  }
  answer(ctx, 200, rows.map(present))
}

function link(ctx: Context, filters: string[], relation: string, cursor: string): string {
  const parameters = new URLSearchParams({ cursor })
  for (const name of filters) {
    const value = parameter(ctx, name)
    if (value !== undefined) parameters.set(name, value)
  }
  parameters.sort()
  const path = ctx.path.replace(/\/?$/, '/')
  return `<${baseUrl(ctx, ctx.state.system.config)}${path}?${parameters.toString()}>; rel="${relation}"`
}

/** `o` (older) or `n` (newer), the microseconds since the epoch, and the id. */
function writeCursor({ towards, created, id }: Cursor): string {
  return `${towards[0]}${microseconds(created)}-${id}`
}

function readCursor(text: string, ids: keyof typeof IDS): Cursor {
  const [, direction, time, id = ''] = /^([on])(-?\d{1,18})-(.*)$/s.exec(text) ?? []
  const created = fromMicroseconds(BigInt(time ?? 0))
  if (created === undefined || !IDS[ids].test(id)) throw new NotFound('Invalid cursor')
  return { towards: direction === 'o' ? 'older' : 'newer', created, id }
}
