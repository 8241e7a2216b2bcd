import type { Visit } from '../../service/actor.ts'
import type { Cursor, Page } from '../../service/pagination.ts'
import { answer, answerEmpty } from './answer.ts'
import type { Context } from './context.ts'
import { answerList } from './paging.ts'

/** What an account has many of, each with an id of its own. */
interface Owned<Row> {
  list(visit: Visit, cursor: Cursor | undefined): Promise<Page<Row>>
  count(visit: Visit): Promise<number>
  get(visit: Visit, id: string): Promise<Row>
}

/** Makes the handlers that show all of them, and the one whose id is in the path. */
export function ownedList<Row>(owned: Owned<Row>, present: (row: Row) => unknown) {
  return {
    list: async (ctx: Context): Promise<void> => {
      await answerList(ctx, {
        ids: 'uuids',
        page: (cursor) => owned.list(ctx.state, cursor),
        total: () => owned.count(ctx.state),
        present,
      })
    },
    show: async (ctx: Context): Promise<void> => {
      answer(ctx, 200, present(await owned.get(ctx.state, ctx.params['id']!)))
    },
  }
}

/** Makes the handler that deletes the one whose id is in the path, or a part of it. */
export function deletion(remove: (visit: Visit, id: string) => Promise<void>) {
  return async function deleteOwned(ctx: Context): Promise<void> {
    await remove(ctx.state, ctx.params['id']!)
    answerEmpty(ctx, 204)
  }
}
