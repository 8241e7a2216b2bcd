import { query } from '../store/database.ts'
import { isMigrated } from '../store/migrate.ts'
import type { System } from '../system.ts'

type Check = 'ok' | 'unavailable'

/** Checks the backends. The service is ready without PowerDNS, because reads still work. */
export async function checkHealth(system: System): Promise<{ ready: boolean; checks: Record<string, Check> }> {
  const [database, migrations, powerdns] = await Promise.all([
    outcome(query(system.db, 'select 1')),
    outcome(isMigrated(system.db)),
    outcome(system.nameserver.ready()),
  ])
  return { ready: database === 'ok' && migrations === 'ok', checks: { database, migrations, powerdns } }
}

/** A check fails by an error or by the result false. */
async function outcome(check: Promise<unknown>): Promise<Check> {
  return (await check.catch(() => false)) === false ? 'unavailable' : 'ok'
}
