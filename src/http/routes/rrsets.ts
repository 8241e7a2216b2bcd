import type { RRsetKey } from '../../service/tokens/policies.ts'
import { tagOf } from '../../service/zone/conditions.ts'
import * as rrsets from '../../service/zone/rrsets.ts'
import type { RRset } from '../../service/zone/rrsets.ts'
import { conditions, setTag } from '../conditional.ts'
import { answer, answerEmpty, answerItems, parameter, type Context, type Middleware } from '../context.ts'
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

/** Creates one RRset, or many. */
export async function createRRsets(ctx: Context): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const json = body()
  if (Array.isArray(json)) await writeMany(ctx, 'POST', json, 201)
  else {
    const rrset = await rrsets.create(system, actor, domain, readRRset(json), conditions(ctx))
    answer(ctx, 201, presentRRset(domain, rrset))
  }
}

export async function replaceRRsets(ctx: Context): Promise<void> {
  await writeMany(ctx, 'PUT', ctx.state.body(), 200)
}

export async function patchRRsets(ctx: Context): Promise<void> {
  await writeMany(ctx, 'PATCH', ctx.state.body(), 200)
}

async function writeMany(ctx: Context, method: 'POST' | 'PUT' | 'PATCH', json: unknown, status: number): Promise<void> {
  const { system, actor, domain } = ctx.state
  const written = await rrsets.writeMany(system, actor, domain, method, await readItems(json), conditions(ctx))
  const presented = written.map((rrset) => presentRRset(domain, rrset))
  await answerItems(ctx, status, presented)
}

/** Lets through what is not about a type that the service makes itself (contract §1.2, step 5). */
export const refuseAutomaticType: Middleware = async function refuseAutomaticType(ctx, next) {
  rrsets.refuseAutomatic(ctx.params['type']!)
  await next()
}

export async function showRRset(ctx: Context): Promise<void> {
  const { system, domain } = ctx.state
  answerRRset(ctx, await rrsets.get(system, domain, place(ctx)))
}

function answerRRset(ctx: Context, rrset: RRset): void {
  setTag(ctx, tagOf(rrset))
  answer(ctx, 200, presentRRset(ctx.state.domain, rrset))
}

export async function replaceRRset(ctx: Context): Promise<void> {
  await changeRRset(ctx, 'PUT')
}

export async function patchRRset(ctx: Context): Promise<void> {
  await changeRRset(ctx, 'PATCH')
}

async function changeRRset(ctx: Context, method: 'PUT' | 'PATCH'): Promise<void> {
  const { system, actor, domain, body } = ctx.state
  const rrset = await rrsets.change(system, actor, domain, place(ctx), method, () => readRRset(body()), conditions(ctx))
  if (rrset === undefined) answerEmpty(ctx, 204)
  else answerRRset(ctx, rrset)
}

export async function deleteRRset(ctx: Context): Promise<void> {
  const { system, actor, domain } = ctx.state
  await rrsets.remove(system, actor, domain, place(ctx), conditions(ctx))
  answerEmpty(ctx, 204)
}

/** The RRset that the path names; its apex forms are translated here (contract §8.2). */
function place(ctx: Context): RRsetKey {
  return { subname: ctx.params['subname']!.replace(/(\.\.\.|@)$/, ''), type: ctx.params['type']! }
}
