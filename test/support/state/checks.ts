import type { Trouble } from '../../../src/service/delegation/planning.ts'
import * as store from '../../../src/store/domains/delegations.ts'
import * as domains from '../../../src/store/domains/domains.ts'
import type { Timestamp } from '../../../src/time.ts'
import type { TestService } from '../harness.ts'

/** The trouble of a domain that never had any. */
export const NO_TROUBLE: Trouble = { settled: null, trouble: null, since: null, told: false, mailed: null }

/** Stores a check of a domain that has found this state at its parent. Returns its time. */
export async function storeCheck({ system }: TestService, name: string, state: string): Promise<Timestamp> {
  const { db } = system
  const { id } = (await domains.find(db, name))!
  const checked = system.now()
  const found = { observation: '{"parent":"test","servers":[],"nameservers":[]}', problems: [] }
  await store.put(db, id, { ...NO_TROUBLE, ...found, state, checked, waits: null, due: checked })
  return checked
}
