import { relative } from '../../dns/names.ts'
import * as store from '../../store/domains/domains.ts'
import * as spent from '../../store/domains/spent.ts'
import type { System } from '../../system.ts'

/**
 * Returns the names, sorted, and serials of the foreign zones, without the catalog zone; in linear time, for the
 * operator.
 */
export async function strangers(system: System): Promise<{ name: string; serial: number }[]> {
  const names = (await store.versions(system.db)).map(({ name }) => name)
  const ours = new Set<string | undefined>([...names, system.config.catalogZone])
  const zones = [...(await system.nameserver.serials())].map(([zone, serial]) => ({ name: relative(zone), serial }))
  return zones.filter(({ name }) => !ours.has(name)).sort((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * Keeps the serials of the foreign zones, and returns their names, sorted. Some may have been domains that a restored
 * backup, or a new primary, does not know; and domains of these names begin above these serials.
 */
export async function keepStrangers(system: System): Promise<string[]> {
  const found = await strangers(system)
  await spent.spend(system.db, found)
  return found.map(({ name }) => name)
}
