import type { RRsetState } from '../../service/zone/rrsets.ts'
import type { Step } from '../../service/zone/history.ts'

/** An RRset before and after a write; null: it does not exist (contract §15.3). */
export function presentChange({ subname, type, before, after }: Step) {
  return { subname, type, before: presentState(before), after: presentState(after) }
}

function presentState(state: Pick<RRsetState, 'ttl' | 'records'> | undefined) {
  return state === undefined ? null : { ttl: state.ttl, records: state.records }
}
