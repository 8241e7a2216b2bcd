import type { Overview } from '../../store/zone/overviews.ts'
import * as store from '../../store/zone/overviews.ts'
import { shownTo } from '../activity/activity.ts'
import type { Visit } from '../actor.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { type DomainFilter, filterOf } from './domains.ts'

export type { Overview }

/**
 * Returns a page of the actor's domains as `list` of domains.ts does, with what the first look at each needs. The author
 * of the last change is shown to those who find it in the history (contract §15.13).
 */
export async function list(visit: Visit, wanted: DomainFilter, cursor?: Cursor): Promise<Page<Overview>> {
  const { system, actor } = visit
  const { filter } = await filterOf(visit, wanted)
  if (filter === undefined) return EMPTY
  const page = await store.page(system.db, actor, cursor, filter)
  const shown = (overview: Overview): Overview => {
    return { ...overview, lastChange: overview.lastChange && shownTo(actor, overview.lastChange) }
  }
  return { ...page, rows: page.rows.map(shown) }
}
