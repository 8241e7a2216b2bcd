import { query } from '../../../src/store/database.ts'
import { eventually } from '../eventually.ts'
import type { TestServers } from '../harness.ts'

/** The zones that wait for a repair. @param only whether this one does */
export async function unrepaired(
  { system }: Pick<TestServers, 'system'>,
  only: string | null = null,
): Promise<string[]> {
  const sql = 'select zone from marks where not settled and zone = coalesce(:only, zone)'
  return (await query<{ zone: string }>(system.db, sql, { only })).map(({ zone }) => zone)
}

/** The zones that are marked after a crash of Postgres. */
export async function markedZones({ system }: TestServers): Promise<string[]> {
  let zones: string[] = []
  // The pool may not have noticed yet that its connections broke.
  await eventually(async () => {
    const rows = await query<{ zone: string }>(system.db, 'select zone from marks').catch(() => undefined)
    zones = rows?.map(({ zone }) => zone) ?? []
    return rows !== undefined
  })
  return zones
}

/**
 * Ends the time after a crash of Postgres in which requests may arrive whose marks were lost, and the watching of zones:
 * nothing is under way. So the next crash finds writes that are not watched.
 */
export async function endDoubt({ system }: Pick<TestServers, 'system'>): Promise<void> {
  await query(system.db, 'update incarnations set doubtful_until = now() where doubtful_until > now()')
  await query(system.db, 'delete from marks where settled')
}
