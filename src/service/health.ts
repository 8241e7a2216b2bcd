import { query } from '../store/database.ts'
import { isMigrated } from '../store/migrate.ts'
import type { System } from '../system.ts'

export type Check = 'ok' | 'unavailable'

/** What the service stands on, each asked now. Without PowerDNS reads still work, so it alone does not decide. */
export async function checkHealth(system: System): Promise<{ ready: boolean; checks: Record<string, Check> }> {
  const [database, migrations, powerdns] = await Promise.all([
    outcome(query(system.db, 'select 1')),
    outcome(isMigrated(system.db), true),
    outcome(system.nameserver.ready()),
  ])
  return { ready: database === 'ok' && migrations === 'ok', checks: { database, migrations, powerdns } }
}

async function outcome(check: Promise<unknown>, wanted?: boolean): Promise<Check> {
  try {
    const result = await check
    return wanted === undefined || result === wanted ? 'ok' : 'unavailable'
  } catch {
    return 'unavailable'
  }
}
