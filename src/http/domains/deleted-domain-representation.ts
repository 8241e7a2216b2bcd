import type { RestorableDomain } from '../../service/domains/deleted-domains.ts'
import { STRING, TIME } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** A deleted domain that its account can restore (contract §15.5). */
export const DELETED_DOMAIN = representation<RestorableDomain>()(['DeletedDomain'], {
  name: { read: STRING, text: 'The name, for the request that restores it.', example: 'example.com' },
  deleted: { read: TIME, text: 'The time of its deletion.' },
  restorable_until: { read: TIME, text: 'How long it can be restored, at least.' },
})
