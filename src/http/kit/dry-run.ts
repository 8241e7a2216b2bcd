import type Koa from 'koa'
import { Invalid } from '../../errors.ts'
import type { Change } from '../../service/zone/changes.ts'
import type { Terms } from '../../service/zone/conditions.ts'
import { answerItems } from './answer.ts'
import { conditions } from './conditional.ts'
import { parameter, type Context } from './context.ts'
import { CHANGE } from './change-representation.ts'

/** Whether the request is a dry run, if its resource has them (contract §15.3). */
export function isDryRun(ctx: Koa.Context): boolean {
  return parameter(ctx, 'dry_run') === 'true'
}

/** The terms of a write to RRsets. @throws Invalid */
export function terms(ctx: Koa.Context): Terms {
  if (!['true', 'false', undefined].includes(parameter(ctx, 'dry_run'))) {
    throw Invalid.field('dry_run', 'Must be a valid boolean.')
  }
  return { ...conditions(ctx), dryRun: isDryRun(ctx) }
}

/** Responds with what a write has changed, or would change. */
export async function answerChanges(ctx: Context, changes: Change[]): Promise<void> {
  const items = changes.map((change) => CHANGE.present(change))
  await answerItems(ctx, 200, items, 'changes')
}
