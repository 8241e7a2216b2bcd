import { absolute } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import * as domains from '../../store/domains/domains.ts'
import * as keys from '../../store/domains/keys.ts'
import type { System } from '../../system.ts'
import { storeKeys } from '../secrets/signing-keys.ts'
import { openPublication } from '../zone/publication.ts'

/** Stores the keys of zones that a version without stored keys made. Locked zones wait for the next time. */
export async function keepMissingKeys(system: System, stopping?: AbortSignal): Promise<void> {
  for (const name of await keys.missing(system.db)) {
    if (stopping?.aborted === true) return
    try {
      await using publication = await openPublication(system, 'repair')
      const domain = await domains.lockIfFree(publication.trx, name)
      if (domain === undefined || domain === 'busy') continue
      const signing = await system.nameserver.signingKeys(absolute(name))
      await storeKeys(system, publication.trx, domain, signing, { only: true })
      publication.changes(name)
      await publication.commit()
    } catch (error) {
      // Repair creates an absent zone, and stores its new keys.
      if (!(error instanceof NameserverFailure) || error.kind === 'unreachable') throw error
      system.log.warn('could not store keys of zone', { zone: name, reason: error.message })
    }
  }
}
