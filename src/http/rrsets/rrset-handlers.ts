import * as records from '../../service/domains/record-search.ts'
import { tagOf } from '../../service/rrsets/conditions.ts'
import type { RRsetKey } from '../../service/rrsets/rrsets.ts'
import * as rrsets from '../../service/rrsets/rrsets.ts'
import { answer, answerItems } from '../kit/answer.ts'
import { type Context, guard, parametersIn } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { answerChanges, answerWrite, setTag, terms } from '../kit/terms.ts'
import { readItems, readRRset, RRSET } from './rrset-representation.ts'

export async function listRRsets(ctx: Context): Promise<void> {
  const filter = parametersIn(ctx, ['search', 'subname', 'type'])
  await answerList(ctx, {
    ids: 'numbers',
    filters: Object.keys(filter),
    page: (cursor) => rrsets.list(ctx.state, filter, cursor),
    total: () => rrsets.count(ctx.state, filter),
    present: (rrset) => RRSET.present(rrset, ctx.state.domain),
  })
}

/** Responds with RRsets of all domains (contract §15.12). */
export async function searchRRsets(ctx: Context): Promise<void> {
  const asked = parametersIn(ctx, ['content', 'domain', 'name', 'type'])
  await answerList(ctx, {
    ids: 'numbers',
    filters: Object.keys(asked),
    page: (cursor) => records.search(ctx.state, asked, cursor),
    total: () => records.count(ctx.state, asked),
    present: ({ domain, ...rrset }) => RRSET.present(rrset, { name: domain }),
  })
}

/** Serves POST, of one RRset or of an array, and PUT and PATCH of an array. */
export async function writeRRsets(ctx: Context): Promise<void> {
  const method = ctx.method as 'POST' | 'PUT' | 'PATCH'
  const asked = terms(ctx)
  const json = ctx.state.body()
  const isOne = method === 'POST' && !Array.isArray(json)
  const written = isOne
    ? await rrsets.create(ctx.state, readRRset(json), asked)
    : await rrsets.writeMany(ctx.state, method, await readItems(json), asked)
  if (asked.dryRun) return answerChanges(ctx, written)
  ctx.state.version = written.version
  const present = (rrset: rrsets.RRset | undefined) =>
    rrset === undefined ? [] : RRSET.present(rrset, ctx.state.domain)
  const presented = written.rrsets.flatMap(present)
  if (isOne) answer(ctx, 201, presented[0])
  else await answerItems(ctx, method === 'POST' ? 201 : 200, presented)
}

/** The error text about types that the service manages itself. */
export const AUTOMATIC = 'You cannot tinker with the SOA RRset.'

/** Requires a type that the service does not manage itself (contract §1.2, step 5). */
export const refuseAutomaticType = guard(
  (ctx) => {
    rrsets.refuseAutomatic(ctx.params['type']!)
  },
  { errors: { 403: [AUTOMATIC] } },
)

export async function showRRset(ctx: Context): Promise<void> {
  answerRRset(ctx, await rrsets.get(ctx.state, rrsetInPath(ctx)))
}

function answerRRset(ctx: Context, rrset: rrsets.RRset): void {
  setTag(ctx, tagOf(rrset))
  answer(ctx, 200, RRSET.present(rrset, ctx.state.domain))
}

/** Serves PUT and PATCH. */
export async function changeRRset(ctx: Context): Promise<void> {
  const method = ctx.method as 'PUT' | 'PATCH'
  const asked = terms(ctx)
  const input = () => readRRset(ctx.state.body())
  const write = { method, input, terms: asked }
  const written = await rrsets.change(ctx.state, rrsetInPath(ctx), write)
  const [rrset] = written.rrsets
  if (asked.dryRun || rrset === undefined) return answerWrite(ctx, written, asked)
  ctx.state.version = written.version
  answerRRset(ctx, rrset)
}

export async function deleteRRset(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  await answerWrite(ctx, await rrsets.remove(ctx.state, rrsetInPath(ctx), asked), asked)
}

/** Returns the RRset in the path; the spellings of the apex (contract §8.2) become the empty subname. */
function rrsetInPath(ctx: Context): RRsetKey {
  return { subname: ctx.params['subname']!.replace(/(\.\.\.|@)$/, ''), type: ctx.params['type']! }
}
