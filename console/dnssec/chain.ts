import { counted } from '../rrsets/rrset.ts'
import { type Mood, STATES } from './dnssec.ts'

/** A zone of a chain of trust, and what links the zone above to it. */
export interface Link {
  /** With final dot; words if its name is not known. */
  zone: string
  about: string
  /** Undefined for the root. `none`: nobody has checked it. */
  join?: { words: string; mood: Mood }
}

/** What a check is needed for here (contract §15.9). */
export interface Check {
  state: string
  checked: string | null
  parent: string | null
  ds_ttl: number | null
  nameservers: { problem: string | null }[]
}

/** What the parent zone has for the domain, by the state of the check. */
const JOINS: Record<string, string> = {
  'not-delegated': 'not delegated',
  elsewhere: 'other nameservers',
  insecure: 'no DS record',
  secure: 'DS record',
  stale: 'a DS record too many',
  mismatch: 'wrong DS record',
  propagating: 'changing',
}

/**
 * The chain of trust from the root to a domain, as far as somebody has checked it: the check asks the direct parent alone, so
 * of the zones above it, only the root is known.
 * @param tags the key tags of the keys that sign; empty if they are not known
 */
export function chainOf(name: string, check: Check, tags: string[], isSuspended: boolean): Link[] {
  const { parent } = check
  const above: Link[] =
    parent === ''
      ? [{ zone: '.', about: parentWords(check) }]
      : [
          { zone: '.', about: 'the root' },
          {
            zone: parent === null ? 'the zone above' : `${parent}.`,
            about: parentWords(check),
            join: { words: 'not checked', mood: 'none' },
          },
        ]
  const keys = tags.length === 0 ? '' : `, ${tags.length === 1 ? 'key' : 'keys'} ${tags.join(' and ')}`
  const about = isSuspended ? 'suspended: its nameservers do not answer' : `signed here${keys}`
  return [...above, { zone: `${name}.`, about, join: joinOf(check) }]
}

function parentWords({ checked, parent, nameservers }: Check): string {
  if (checked === null) return 'not asked yet'
  if (parent === null) return 'not found'
  const answering = nameservers.filter(({ problem }) => problem === null).length
  return answering === 0 ? 'does not answer' : `${answering} of ${counted(nameservers.length, 'server')} answered`
}

function joinOf({ checked, state, ds_ttl: ttl }: Check): Required<Link>['join'] {
  if (checked === null) return { words: 'not checked', mood: 'none' }
  // Such a domain may have DS records: the state is about its nameservers.
  if (state === 'partial')
    return ttl === null ? { words: JOINS['insecure']!, mood: 'wait' } : { words: 'DS record', mood: 'good' }
  const words = JOINS[state]
  return words === undefined ? { words: 'not known', mood: 'none' } : { words, mood: STATES[state]!.mood }
}
