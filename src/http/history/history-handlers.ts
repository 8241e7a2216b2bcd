import * as history from '../../service/domains/domain-history.ts'
import { answer, joinReaders } from '../kit/answer.ts'
import { type Context, parametersIn } from '../kit/context.ts'
import { answerList } from '../kit/paging.ts'
import { answerChanges, terms } from '../kit/terms.ts'
import { ENTRY, readWhen } from './history-representation.ts'

export async function listEntries(ctx: Context): Promise<void> {
  const filter = parametersIn(ctx, ['subname', 'type', 'search'])
  await answerList(ctx, {
    ids: 'uuids',
    filters: Object.keys(filter),
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
  await answerChanges(ctx, await history.undo(ctx.state, ctx.params['id']!, terms(ctx)))
}

export async function restoreDomain(ctx: Context): Promise<void> {
  const asked = terms(ctx)
  await answerChanges(ctx, await history.restore(ctx.state, readWhen(ctx.state.body()), asked))
}
