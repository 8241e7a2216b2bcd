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

/** The states of a delegation (contract §15.9): a few words, and whether something is wrong. */
export const STATES: Record<string, { words: string; isBad: boolean }> = {
  unknown: { words: 'Not known yet', isBad: false },
  'not-delegated': { words: 'Not delegated: the parent zone does not have it', isBad: true },
  elsewhere: { words: 'Other nameservers have it', isBad: true },
  partial: { words: 'Some nameservers are not ours', isBad: true },
  insecure: { words: 'Not secure: there is no DS record', isBad: true },
  secure: { words: 'Secure', isBad: false },
  stale: { words: 'Secure, with a DS record too many', isBad: true },
  mismatch: { words: 'Broken: no DS record is right', isBad: true },
  propagating: { words: 'Changing: the parent’s servers disagree', isBad: false },
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

/** A step of a rollover in the history (contract §15.5). */
export function stepWords({ action, phase }: { action: string; phase: string | null }): string {
  const deed = { cancel: 'cancelled', confirm: 'confirmed', force: 'forced' }[action]
  if (deed !== undefined) return `Key replacement ${deed}.`
  return phase === null ? 'Key replaced.' : `Key replacement: ${PHASES[phase] ?? phase}`
}
