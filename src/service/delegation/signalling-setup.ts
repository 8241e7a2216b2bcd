import * as domains from '../../store/domains/domains.ts'
import type { System } from '../../system.ts'
import { operatorFor } from '../actor.ts'
import { create } from '../domains/creation.ts'
import { withKeys } from '../domains/keys.ts'
import { signallingZones } from '../names/signalling-zones.ts'

/** A signalling zone, and what the zone above it must have. */
export interface SignallingSetup {
  name: string
  /** True if it was made just now. */
  isNew: boolean
  /** The contents of its DS records. */
  ds: string[]
}

/**
 * Makes the signalling zones of all our nameservers that are not there yet (contract §15.11), as domains of this account.
 * @throws Invalid if another account has a domain above or below one; Denied, Unavailable, NameserverFailure
 */
export async function setUpSignalling(system: System, accountId: string): Promise<SignallingSetup[]> {
  const setups: SignallingSetup[] = []
  for (const name of signallingZones(system.config)) {
    const present = await domains.find(system.db, name)
    const { keys } =
      present === undefined
        ? await create(system, operatorFor(accountId), { name, problems: {} })
        : await withKeys(system, present)
    setups.push({ name, isNew: present === undefined, ds: keys.flatMap(({ ds }) => ds) })
  }
  return setups
}
