import { HEALTH_TIME } from '../../limits.ts'
import { query } from '../../store/database.ts'
import { isMigrated } from '../../store/migrate.ts'
import { lags } from '../../store/standbys.ts'
import type { System } from '../../system.ts'

/** The seconds that a change may wait to be copied to a standby. */
const STANDBY_LAG = 60

type Check = 'ok' | 'unavailable'

export interface Health {
  /** `stopping`: it still works, but gets no requests from balancers that ask. */
  status: 'ready' | 'unavailable' | 'stopping'
  /** The results; absent while the process stops. */
  checks?: Record<string, Check>
}

/** The latest check, running or at most HEALTH_TIME old, by the pool of a system, of which each request has a copy. */
const latest = new WeakMap<System['db'], Promise<Health>>()

/**
 * Returns the state of the backends, for all callers from one check: none begins before HEALTH_TIME has passed since
 * the end of the last one, so callers without token cannot keep the backends busy. A stopping process says so at once.
 */
export async function checkHealth(system: System): Promise<Health> {
  if (system.stopping.aborted) return { status: 'stopping' }
  const known = latest.get(system.db)
  if (known !== undefined) return known
  const checked = check(system)
  latest.set(system.db, checked)
  void checked.then(() => setTimeout(() => latest.delete(system.db), HEALTH_TIME).unref())
  return checked
}

/** Runs in the language of the constraints of writes, whose library new connections have to load. */
const TRIAL = 'do $$ begin end $$'

/**
 * Checks the backends: Postgres on a connection of a few seconds at most, because older ones can work where new ones no
 * longer do. The service is ready without PowerDNS, because reads still work.
 */
async function check(system: System): Promise<Health> {
  const [database, migrations, powerdns, standbys] = await Promise.all([
    outcome(query(system.pools.counters, TRIAL)),
    outcome(isMigrated(system.db)),
    outcome(system.nameserver.ready()),
    system.primaries.standbys.length > 0 && outcome(areCurrent(system)),
  ])
  const isReady = database === 'ok' && migrations === 'ok'
  return {
    status: isReady ? 'ready' : 'unavailable',
    checks: { database, migrations, powerdns, ...(standbys === false ? {} : { standbys }) },
  }
}

/** Reports whether no standby is far behind, or lacks zones because none are copied to it. */
async function areCurrent({ pools, primaries }: System): Promise<boolean> {
  const known = await lags(pools.counters)
  return primaries.standbys.every(({ name, lacksZones }) => {
    const lag = known.get(name)
    return lag === undefined ? lacksZones !== true : lag.age <= STANDBY_LAG
  })
}

/** Awaits a check, which fails by an error or by the result false. */
async function outcome(check: Promise<unknown>): Promise<Check> {
  return (await check.catch(() => false)) === false ? 'unavailable' : 'ok'
}
