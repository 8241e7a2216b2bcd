import type Koa from 'koa'
import { Invalid, PreconditionFailed } from '../../errors.ts'
import { stringify } from '../../flow/slices.ts'
import { proposePtr } from '../../service/reverse/ptr-proposals.ts'
import type { Conditions, Terms } from '../../service/rrsets/conditions.ts'
import type { Written } from '../../service/zone/changes.ts'
import { answerEmpty, answerText } from './answer.ts'
import { CHANGE, PTR_PROPOSAL } from './change-representation.ts'
import { type Context, flag, guard, parameter } from './context.ts'

/** Reads the preconditions in the headers (contract §15.1; RFC 9110 §13.1). Weak tags never match in `If-Match`. */
export function conditions(ctx: Koa.Context): Conditions {
  const match = tags(ctx.headers['if-match'], { weak: false })
  const noneMatch = tags(ctx.headers['if-none-match'], { weak: true })
  // A condition of wrong syntax does not hold.
  return noneMatch?.length === 0 ? { match: [], noneMatch } : { match, noneMatch }
}

/** Requires that a write to a resource without tags has no condition on one: nobody would compare it (contract §15.1). */
export const refuseTags = guard(
  (ctx) => {
    if (![undefined, '*'].includes(ctx.headers['if-match']?.trim())) throw new PreconditionFailed()
  },
  { errors: { 412: [] } },
)

/** Reads the tags in a header, undefined without it; none if its syntax is wrong. */
function tags(header: string | undefined, { weak }: { weak: boolean }): string[] | '*' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  const member = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`
  if (!new RegExp(`^[ \\t,]*${member}(?:[ \\t]*,[ \\t,]*${member})*[ \\t,]*$`).test(header)) return []
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, mark, tag]) => (weak || mark === undefined ? tag! : []))
}

/** Sets the `ETag` header, on which the client can make a later write conditional. */
export function setTag(ctx: Koa.Context, tag: string): void {
  ctx.set('ETag', `"${tag}"`)
}

/** Reports whether the request is a dry run, if its resource has them (contract §15.3). */
export function isDryRun(ctx: Koa.Context): boolean {
  return parameter(ctx, 'dry_run') === 'true'
}

const NO_DRY_RUNS = 'Not supported here.'

/** Rejects the request for a dry run of a write that has none, instead of carrying it out (contract §15.3). */
export const refuseDryRun = guard(
  (ctx) => {
    if (![undefined, 'false'].includes(parameter(ctx, 'dry_run'))) throw Invalid.field('dry_run', NO_DRY_RUNS)
  },
  { errors: { 400: [NO_DRY_RUNS] }, problems: ['dry_run'] },
)

/** Reads the terms of a write to RRsets. @throws Invalid */
export function terms(ctx: Koa.Context): Terms {
  const dryRun = flag(ctx, 'dry_run')
  const ptr = parameter(ctx, 'ptr')
  if (![undefined, 'propose'].includes(ptr)) throw Invalid.field('ptr', 'Must be propose.')
  if (ptr !== undefined && !dryRun) throw Invalid.field('ptr', 'Needs dry_run=true.')
  return { dryRun, ...conditions(ctx) }
}

/** Responds like `answerChanges` to a dry run, and without a body to a write. */
export async function answerWrite(ctx: Context, written: Written, { dryRun }: Terms): Promise<void> {
  if (dryRun) return answerChanges(ctx, written)
  ctx.state.version = written.version
  answerEmpty(ctx, 204)
}

/** Responds with the changes that a write has made, or would make, and with PTR proposals if the terms are for them. */
export async function answerChanges(ctx: Context, { changes, version }: Written): Promise<void> {
  ctx.state.version = version
  const items = await stringify(changes, (change) => CHANGE.present(change))
  const ptr = parameter(ctx, 'ptr') === undefined ? [] : [await proposePtr(ctx.state, changes)]
  const more = ptr.map((proposals) => `,"ptr":${JSON.stringify(proposals.map((each) => PTR_PROPOSAL.present(each)))}`)
  answerText(ctx, 200, `{"changes":${items}${more.join('')}}`, 'application/json')
}
