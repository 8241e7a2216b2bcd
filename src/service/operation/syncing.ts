import { randomInt } from 'node:crypto'
import { Conflict, NotFound } from '../../errors.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import { NSEC, STANDBY_SCRATCH_ZONE } from '../../nameserver/nameserver.ts'
import { find } from '../../store/primaries.ts'
import * as store from '../../store/standbys.ts'
import type { System } from '../../system.ts'
import { copyAll } from '../repair/standbys.ts'
import { standbyNamed } from './primaries.ts'

// Standbys with databases of their own (primaries.md).

/**
 * Registers a standby with a database of its own, and copies all zones to it.
 * @returns the number of zones, and of those that could not be copied: services go on trying
 * @throws NotFound, NameserverFailure, Unavailable; Conflict if it is the active one, or has the same database
 */
export async function sync(
  system: System,
  name: string,
  tell: (done: number, all: number) => void,
): Promise<{ all: number; left: number }> {
  const { member, known } = await standbyNamed(system, name)
  await member.nameserver.probe()
  if (!(await store.registered(system.db)).includes(name)) {
    if (await hasSameData(system, member))
      throw new Conflict(`${name} has the same database as ${known.name}: there is nothing to copy`)
    // The active one is a standby after a change-over.
    await store.register(system.db, [name, known.name])
  }
  return copyAll(system, member, tell)
}

/** Stops copying to a member. @throws NotFound, Conflict if it is the active one, Unavailable */
export async function forget(system: System, name: string): Promise<void> {
  if ((await find(system.db))?.name === name) throw new Conflict(`${name} is the active primary`)
  if (!(await store.forget(system.db, name))) throw new NotFound(`no zones are copied to ${name}`)
}

/** Reports whether the active nameserver has the data of a standby: it gets a zone that is made there. */
async function hasSameData({ nameserver: active }: System, { nameserver }: Member): Promise<boolean> {
  const lease = { confirm: () => Promise.resolve() }
  const zone = STANDBY_SCRATCH_ZONE
  await nameserver.deleteZone(zone, lease)
  const version = randomInt(1, 2 ** 31)
  await nameserver.createZone({ zone, denial: NSEC, version, rrsets: [], ownCds: false }, [], lease)
  try {
    return (await active.serial(zone)) === version
  } finally {
    await nameserver.deleteZone(zone, lease)
  }
}
