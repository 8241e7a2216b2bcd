import { NotFound } from '../errors.ts'
import { PAGE_SIZE, PORTION } from '../limits.ts'
import type { Cursor, Page } from '../service/pagination.ts'
import { isUuid } from '../service/tokens/ids.ts'
import { fromMicroseconds, microseconds } from '../time.ts'
import { baseUrl } from './client.ts'
import { parameter, type Context } from './context.ts'
import { Draft } from './draft.ts'
import { Refusal } from './refusal.ts'

/** A list and how to page through it (contract §4). */
export interface Listing<Row> {
  /** The form of the entries' ids. */
  ids: keyof typeof IDS
  /** The query parameters that filter the entries. */
  filters?: string[]
  page: (cursor: Cursor | undefined) => Promise<Page<Row>>
  /** The number of entries; called only if they do not fit on one page. */
  total: () => Promise<number>
  present: (row: Row) => unknown
}

const IDS = {
  numbers: (id: string) => /^\d{1,15}$/.test(id),
  uuids: isUuid,
}

/** Responds with a list, or with the page of it that the query asks for (contract §4). */
export async function answerList<Row>(ctx: Context, listing: Listing<Row>): Promise<void> {
  const { ids, filters = [], total } = listing
  const cursor = parameter(ctx, 'cursor')
  using draft = new Draft(ctx)
  const position = cursor ? readCursor(cursor, ids) : undefined
  const { entries, newer, older } = await draft.inTurn(() => draw(draft, listing, position))
  const first = link(ctx, filters, 'first')
  if (cursor !== undefined) {
    const links = [first, newer && link(ctx, filters, 'prev', newer), older && link(ctx, filters, 'next', older)]
    ctx.set('Link', links.filter(Boolean).join(', '))
  } else if (older !== undefined) {
    ctx.set('Link', first)
    const limit = `You can query up to ${PAGE_SIZE} items at a time (${await total()} total).`
    throw new Refusal(400, `Pagination required. ${limit} Please use the \`first\` page link (see Link header).`)
  }
  draft.send(200, 'application/json', [Buffer.from('['), ...entries, Buffer.from(']')])
}

/** The page from a cursor on as JSON without brackets, made portion by portion, since entries may be large. */
async function draw<Row>(
  draft: Draft,
  { page, present }: Listing<Row>,
  cursor?: Cursor,
): Promise<{ entries: Buffer[]; newer: Cursor | undefined; older: Cursor | undefined }> {
  const towards = cursor?.towards ?? 'older'
  const entries: Buffer[] = []
  const add = (rows: Row[]) => {
    if (rows.length === 0) return
    const portion = draft.hold(JSON.stringify(rows.map(present)).slice(1, -1))
    const separator = entries.length === 0 ? [] : [Buffer.from(',')]
    if (towards === 'older') entries.push(...separator, portion)
    else entries.unshift(portion, ...separator)
  }
  const near = await page(cursor)
  add(near.rows)
  let far = near
  for (let count = PORTION; count < PAGE_SIZE && far[towards] !== undefined; count += PORTION) {
    far = await page(far[towards])
    add(far.rows)
  }
  return towards === 'older'
    ? { entries, newer: near.newer, older: far.older }
    : { entries, newer: far.newer, older: near.older }
}

function link(ctx: Context, filters: string[], relation: string, cursor?: Cursor): string {
  const parameters = new URLSearchParams({ cursor: cursor === undefined ? '' : printCursor(cursor) })
  for (const name of filters) {
    const value = parameter(ctx, name)
    if (value !== undefined) parameters.set(name, value)
  }
  parameters.sort()
  return `<${baseUrl(ctx)}${ctx.path.replace(/\/?$/, '/')}?${parameters.toString()}>; rel="${relation}"`
}

/** `o` (older) or `n` (newer), the microseconds since the epoch, and the id. */
function printCursor({ towards, created, id }: Cursor): string {
  return `${towards[0]}${microseconds(created)}-${id}`
}

function readCursor(text: string, ids: keyof typeof IDS): Cursor {
  const [, direction, time, id = ''] = /^([on])(-?\d{1,18})-(.*)$/s.exec(text) ?? []
  const created = fromMicroseconds(BigInt(time ?? 0))
  if (created === undefined || !IDS[ids](id)) throw new NotFound('Invalid cursor')
  return { towards: direction === 'o' ? 'older' : 'newer', created, id }
}
