import { tagOf } from '../../service/zone/conditions.ts'
import * as rrsets from '../../service/zone/rrsets.ts'
import type { RRsetKey } from '../../service/zone/rrsets.ts'
import { conditions, setTag } from '../conditional.ts'
import { answer, answerEmpty, answerItems } from '../answer.ts'
import { guard, parameter, type Context } from '../context.ts'
import { answerList } from '../pagination.ts'
import { presentRRset, readItems, readRRset } from '../representations/rrset.ts'

export async function listRRsets(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  const filter = { subname: parameter(ctx, 'subname'), type: parameter(ctx, 'type') }
  await answerList(ctx, {
    ids: 'numbers',
    filters: ['subname', 'type'],
    page: (cursor) => rrsets.list(system, domain, filter, cursor),
    total: () => rrsets.count(system, domain, filter),
    present: (rrset) => presentRRset(domain, rrset),
  })
}

/** Serves POST, of one RRset or of an array, and PUT and PATCH of an array. */
export async function writeRRsets(ctx: Context): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const method = ctx.method as 'POST' | 'PUT' | 'PATCH'
  const json = body()
  if (method === 'POST' && !Array.isArray(json)) {
    const rrset = await rrsets.create(system, actor, domain, readRRset(json), conditions(ctx))
    answer(ctx, 201, presentRRset(domain, rrset))
    return
  }
  const written = await rrsets.writeMany(system, actor, domain, method, await readItems(json), conditions(ctx))
  const presented = written.map((rrset) => presentRRset(domain, rrset))
  await answerItems(ctx, method === 'POST' ? 201 : 200, presented)
}

/** Requires a type that the service does not manage itself (contract §1.2, step 5). */
export const refuseAutomaticType = guard((ctx) => {
  rrsets.refuseAutomatic(ctx.params['type']!)
})

export async function showRRset(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  answerRRset(ctx, await rrsets.get(system, domain, keyOf(ctx)))
}

function answerRRset(ctx: Context, rrset: rrsets.RRset): void {
  setTag(ctx, tagOf(rrset))
  answer(ctx, 200, presentRRset(ctx.state.domain, rrset))
}

/** Serves PUT and PATCH. */
export async function changeRRset(ctx: Context): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const method = ctx.method as 'PUT' | 'PATCH'
  const input = () => readRRset(body())
  const rrset = await rrsets.change(system, actor, domain, keyOf(ctx), method, input, conditions(ctx))
  if (rrset === undefined) answerEmpty(ctx, 204)
  else answerRRset(ctx, rrset)
}

export async function deleteRRset(ctx: Context): Promise<void> {
  const { system, actor, domain } = ctx.state
  await rrsets.remove(system, actor, domain, keyOf(ctx), conditions(ctx))
  answerEmpty(ctx, 204)
}

/** The RRset in the path; the spellings of the apex (contract §8.2) become the empty subname. */
function keyOf(ctx: Context): RRsetKey {
  return { subname: ctx.params['subname']!.replace(/(\.\.\.|@)$/, ''), type: ctx.params['type']! }
}
