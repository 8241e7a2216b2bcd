import * as history from '../../service/domains/domain-history.ts'
import { answer, joinReaders } from '../kit/answer.ts'
import { type Context, parameter } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { answerChanges, terms } from '../kit/terms.ts'
import { ENTRY, readWhen } from './history-representation.ts'

export async function listEntries(ctx: Context): Promise<void> {
  const filter = {
    subname: parameter(ctx, 'subname'),
    type: parameter(ctx, 'type'),
    search: parameter(ctx, 'search'),
  }
  await answerList(ctx, {
    ids: 'uuids',
    filters: ['subname', 'type', 'search'],
    page: (cursor) => history.list(ctx.state, filter, cursor),
    total: () => history.count(ctx.state, filter),
    present: (entry) => ENTRY.present(entry),
  })
}

export async function showEntry(ctx: Context): Promise<void> {
  await joinReaders(ctx)
  answer(ctx, 200, ENTRY.present(await history.get(ctx.state, ctx.params['id']!)))
}

export async function undoEntry(ctx: Context): Promise<void> {
  const { changes, version } = await history.undo(ctx.state, ctx.params['id']!, terms(ctx))
  ctx.state.version = version
  await answerChanges(ctx, changes)
}

export async function restoreDomain(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  const { changes, version } = await history.restore(ctx.state, readWhen(ctx.state.body()), asked)
  ctx.state.version = version
  await answerChanges(ctx, changes)
}
