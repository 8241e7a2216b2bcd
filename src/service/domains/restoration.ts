import { NotFound } from '../../errors.ts'
import * as domains from '../../store/domains.ts'
import { buried } from '../../store/history.ts'
import type { System } from '../../system.ts'
import type { Timestamp } from '../../time.ts'
import { operatorFor } from '../tokens/actor.ts'
import { NO_CONDITIONS } from '../zone/conditions.ts'
import { create } from './domains.ts'
import { restore } from './history.ts'

/**
 * For the operator: brings back a deleted domain, for the account that had it; or, with a time, makes one that exists
 * what it was then.
 * @param at undefined: as it was when it was deleted
 * @throws NotFound, Invalid, Denied
 */
export async function bringBack(system: System, name: string, at: Timestamp | undefined): Promise<void> {
  const present = await domains.find(system.db, name)
  if (present !== undefined && at !== undefined) {
    const access = { system, actor: operatorFor(present.ownerId), domain: present }
    await restore(access, { at }, { ...NO_CONDITIONS, dryRun: false })
    return
  }
  const deleted = present ?? (await buried(system.db, name, null))
  if (deleted === undefined) throw new NotFound(`There is no deleted domain ${name}, or its history is gone.`)
  const input = { name, restore: true, problems: {} }
  await create(system, operatorFor(deleted.ownerId), at === undefined ? input : { ...input, at })
}
