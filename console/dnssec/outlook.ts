import type { Check } from './chain.ts'
import type { Mood } from './dnssec.ts'

/** Whose turn it is to make a domain secure. */
export type Actor = 'you' | 'nobody' | 'wait' | 'operator'

/** What is left to do for a domain's security. */
export interface Outlook {
  actor: Actor
  mood: Mood
  /** What is left to do, in a sentence without its final dot. */
  title: string
  /** Why, or what comes then. */
  text: string
}

/** What the outlook of a domain depends on. */
export interface Facts {
  check: Check & { problems: string[] }
  isSuspended: boolean
  /** Whether the parent zone is one of the own domains, and lacks records of this one. */
  isParentOwn: boolean
  /** Null: there is none, or it may not be seen. */
  rollover: { phase: string; waits_for: string; add_ds: string[] } | null
}

/** The states in which the domain does not work with the nameservers and the DS record of the parent zone. */
export const BEFORE_ROLLOVERS = ['not-delegated', 'elsewhere', 'mismatch']

/** Says what is left to do, and who does it. */
export function outlookOf({ check, isSuspended, isParentOwn, rollover }: Facts): Outlook {
  if (isSuspended) {
    return {
      actor: 'operator',
      mood: 'bad',
      title: 'Only the operator can act: this domain is suspended',
      text: 'Its nameservers do not answer for it. Please contact the operator.',
    }
  }
  // A DS record is wrong also while it changes, and then the rollover says which one is right.
  const isUrgent = check.checked !== null && BEFORE_ROLLOVERS.includes(check.state) && !rollover?.add_ds.length
  if (rollover !== null && !isUrgent) return ofRollover(rollover)
  if (!isParentOwn) return ofCheck(check)
  return {
    actor: 'you',
    mood: 'wait',
    title: `One step is left: add the records below to ${check.parent}`,
    text: 'It is the zone above, and one of your domains. Then choose “Check now”.',
  }
}

function ofRollover({ phase, waits_for: awaited }: NonNullable<Facts['rollover']>): Outlook {
  if (awaited === 'parent') {
    return {
      actor: 'you',
      mood: 'wait',
      title: 'One step is left for you: replace the DS record at your registrar',
      text: 'Enter the new one below first, and then remove the former one. Some parent zones do both by themselves (CDS).',
    }
  }
  if (awaited === 'signers') {
    return {
      actor: 'you',
      mood: 'wait',
      title: 'One step is left for you: have the other signers publish the new key',
      text: 'The domain has DNSKEY records of other signers. Confirm below when they have it.',
    }
  }
  const isLate = phase === 'await-ds-ttl' || phase === 'unpublish'
  return {
    actor: 'wait',
    mood: 'wait',
    title: 'Nothing to do but wait: the key is being replaced',
    text: isLate
      ? 'The parent zone has the new DS record. The rest needs nobody.'
      : 'Change nothing at your registrar before this page says so.',
  }
}

/** The last step, and its end. */
const THEN = ' Then choose “Check now”: within minutes, at some registrars within a day, it is green here.'

function ofCheck({ state, checked, parent, ds_ttl: ttl, problems }: Facts['check']): Outlook {
  const you = (mood: Mood, title: string, text: string): Outlook => ({ actor: 'you', mood, title, text })
  if (checked === null) {
    return you(
      'none',
      'Not checked yet: choose “Check now”',
      'It shows what the parent zone has, and what is left to do.',
    )
  }
  switch (state) {
    case 'secure':
      return problems.length > 0
        ? you('wait', 'The domain is secure, with a warning', 'Read below what will break, and how to mend it.')
        : {
            actor: 'nobody',
            mood: 'good',
            title: 'Nothing is left to do: the domain is secure',
            text: 'Resolvers that validate detect forged answers.',
          }
    case 'insecure':
      return you(
        'wait',
        'One step is left: give your registrar the DS record',
        'The domain is signed. Resolvers check the signatures once the zone above has its DS record. Some parent zones take it by themselves (CDS).' +
          THEN,
      )
    case 'mismatch':
      return you(
        'bad',
        'Act now: correct the DS record at your registrar',
        'No DS record of the parent zone is one of the key that signs, so resolvers that validate reject the domain.',
      )
    case 'stale':
      return you(
        'wait',
        'One step is left: remove a DS record at your registrar',
        'The domain is secure, but the parent zone also has a DS record of no key that signs.',
      )
    case 'not-delegated':
      return you(
        'wait',
        'Two steps are left: enter the nameservers at your registrar, then the DS record',
        'The parent zone does not have the domain. If nobody has registered it, do that first.' + THEN,
      )
    case 'elsewhere':
      return you(
        'bad',
        'Two steps are left: enter these nameservers at your registrar, then the DS record',
        'The parent zone sends everybody to other nameservers.' + THEN,
      )
    case 'partial':
      return ttl === null
        ? you(
            'wait',
            'Two steps are left: remove the other nameservers at your registrar, then give it the DS record',
            'Keep those that serve the same zone.' + THEN,
          )
        : you(
            'wait',
            'One step may be left: remove the other nameservers at your registrar',
            'If they serve the same zone, nothing is left to do.',
          )
    case 'propagating':
      return {
        actor: 'wait',
        mood: 'wait',
        title: 'Nothing to do but wait: the parent zone is changing',
        text: 'Its servers disagree. After a change this takes minutes, sometimes an hour.',
      }
    // unknown
    default:
      return parent === null
        ? you(
            'none',
            'The first step: have the domain registered, with the nameservers below',
            `The service’s resolver did not find the zone above. If the domain is registered already, nothing is wrong with it: check again later, or ask the operator.`,
          )
        : {
            actor: 'wait',
            mood: 'none',
            title: 'Nothing to do but wait: the zone above does not answer',
            text: 'So it is not known whether the domain is secure. Check again later.',
          }
  }
}
