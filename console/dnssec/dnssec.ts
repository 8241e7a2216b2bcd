/** What people read about DNSSEC: names of numbers (IANA's registries), states and phases in words. */

const ALGORITHMS: Record<string, string> = {
  5: 'RSA/SHA-1',
  7: 'RSA/SHA-1',
  8: 'RSA/SHA-256',
  10: 'RSA/SHA-512',
  13: 'ECDSA P-256/SHA-256',
  14: 'ECDSA P-384/SHA-384',
  15: 'Ed25519',
  16: 'Ed448',
}

const DIGESTS: Record<string, string> = { 1: 'SHA-1', 2: 'SHA-256', 4: 'SHA-384' }

const named = (names: Record<string, string>, number: string) =>
  names[number] === undefined ? number : `${number} (${names[number]})`

/** A part of a record as forms of registrars ask for it. */
export interface Part {
  label: string
  /** What to enter. */
  value: string
  /** What to read, if it is more. */
  shown: string
}

/** The parts of a DS record (RFC 4034 §5.1). */
export function partsOfDs(ds: string): Part[] {
  const [tag = '', algorithm = '', type = '', digest = ''] = ds.split(' ')
  return [
    { label: 'Key tag', value: tag, shown: tag },
    { label: 'Algorithm', value: algorithm, shown: named(ALGORITHMS, algorithm) },
    { label: 'Digest type', value: type, shown: named(DIGESTS, type) },
    { label: 'Digest', value: digest, shown: digest },
  ]
}

/** The parts of a DNSKEY record (RFC 4034 §2.1), which some registrars ask for instead. */
export function partsOfDnskey(dnskey: string): Part[] {
  const [flags = '', protocol = '', algorithm = '', ...key] = dnskey.split(' ')
  return [
    { label: 'Flags', value: flags, shown: flags },
    { label: 'Protocol', value: protocol, shown: protocol },
    { label: 'Algorithm', value: algorithm, shown: named(ALGORITHMS, algorithm) },
    { label: 'Public key', value: key.join(''), shown: key.join('') },
  ]
}

/** Names of nameservers, as registrars ask for them. */
export function partsOfNames(names: string[]): Part[] {
  return names.map((name, i) => ({ label: `Nameserver ${i + 1}`, value: name, shown: name }))
}

/** How something is: good, to be waited for, bad, or none of these. */
export type Mood = 'good' | 'wait' | 'bad' | 'none'

/** A state of a delegation (contract §15.9) in a few words. */
interface State {
  short: string
  mood: Mood
  /** What the words do not say. */
  title?: string
}

/** That no check of the delegation has been made. */
export const UNCHECKED = 'unchecked'

export const STATES: Record<string, State> = {
  [UNCHECKED]: {
    short: 'Delegation not checked',
    mood: 'none',
    title: 'Nobody has asked the zone above yet: “Check now” does.',
  },
  unknown: {
    short: 'Delegation not known',
    mood: 'none',
    title: 'The last check could not find out what the zone above has.',
  },
  'not-delegated': { short: 'Not delegated', mood: 'none' },
  elsewhere: { short: 'Other nameservers have it', mood: 'bad' },
  partial: { short: 'Some nameservers are not ours', mood: 'wait' },
  insecure: { short: 'DS missing at registrar', mood: 'wait' },
  secure: { short: 'Secure', mood: 'good' },
  stale: { short: 'A DS too many at registrar', mood: 'wait' },
  mismatch: { short: 'Wrong DS', mood: 'bad' },
  propagating: { short: 'Parent is changing', mood: 'wait' },
}

/** The states of a rollover: whether its owner has to act (contract §15.10). */
const ROLLOVERS: Record<string, State> = {
  'new-ds': { short: 'New DS needed at registrar', mood: 'wait' },
  rollover: { short: 'Key is being replaced', mood: 'wait' },
}

/** The state of a domain that the operator has suspended, whatever its delegation is. */
export const SUSPENDED = 'suspended'

/** A state of a delegation or of a rollover in a few words; an unknown one as it is. */
export function shortState(state: string): State {
  if (state === SUSPENDED) return { short: 'Suspended', mood: 'bad' }
  return STATES[state] ?? ROLLOVERS[state] ?? { short: state, mood: 'none' }
}

/** The phases of a rollover in their order (contract §15.10). */
export const PHASES: Record<string, string> = {
  queued: 'It waits for its turn.',
  sign: 'The new key signs, and is not shown yet.',
  publish: 'Both keys are in the zone, and sign.',
  'await-ds': 'The parent zone has to change its DS record.',
  'await-ds-ttl': 'The parent zone has the new DS record. Resolvers forget the former one.',
  unpublish: 'The former key is not shown any more, and still signs.',
}

/** What a rollover waits for. */
export const WAITS: Record<string, string> = {
  turn: 'other rollovers of the operator',
  nameservers: 'all nameservers to serve the change',
  caches: 'resolvers to forget what they have',
  signers: 'the other signers to show the new key, or your confirmation',
  parent: 'the DS record at the parent',
}

/** A step of a rollover, for people who wait for its end. */
export interface Step {
  title: string
  /** What it does. */
  text: string
  progress: 'done' | 'now' | 'next'
}

/** The steps of a rollover, each the phase of the same place in `PHASES`. Without a new algorithm, some last no time. */
const STEPS = [
  ['Sign', 'The new key signs, too.'],
  ['Publish', 'The zone shows both keys.'],
  ['Wait for the DS record', 'The parent zone replaces it.'],
  ['Let caches expire', 'Resolvers forget the former DS record.'],
  ['Remove the former key', 'The new one stays alone.'],
] as const

/** The five steps of a rollover in this phase. */
export function stepsOf(phase: string): Step[] {
  // `queued` comes before all of them.
  const present = Object.keys(PHASES).indexOf(phase) - 1
  return STEPS.map(([title, text], i) => ({
    title,
    text,
    progress: i < present ? 'done' : i === present ? 'now' : 'next',
  }))
}

/** A step of a rollover in the history (contract §15.5). */
export function stepWords({ action, phase }: { action: string; phase: string | null }): string {
  const deed = { cancel: 'cancelled', confirm: 'confirmed', force: 'forced' }[action]
  if (deed !== undefined) return `Key replacement ${deed}.`
  return phase === null ? 'Key replaced.' : `Key replacement: ${PHASES[phase] ?? phase}`
}
