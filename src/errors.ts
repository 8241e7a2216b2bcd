/** What is wrong with one object: texts per field; `non_field_errors` for the object as a whole (contract §2.1). */
export type Problems = Record<string, readonly string[]>

/** The input breaks the rules. `problems` is already the body: one object, or one per item in request order. */
export class Invalid extends Error {
  readonly problems: Problems | Problems[]

  constructor(problems: Problems | Problems[]) {
    super('invalid input')
    this.problems = problems
  }

  /** A problem of the object as a whole. */
  static object(text: string): Invalid {
    return new Invalid({ non_field_errors: [text] })
  }

  static field(field: string, ...texts: string[]): Invalid {
    return new Invalid({ [field]: texts })
  }
}

/** What the caller made a condition of his request does not hold (contract §15.1). */
export class PreconditionFailed extends Error {
  constructor() {
    super('Precondition failed.')
  }
}

/** No valid credentials were presented. */
export class Unauthenticated extends Error {}

/** The caller is known, and may not do this. */
export class Denied extends Error {
  constructor(text = 'You do not have permission to perform this action.') {
    super(text)
  }
}

/** There is no such thing, or the caller may not know of it. */
export class NotFound extends Error {
  constructor(text = 'Not found.') {
    super(text)
  }
}

/** For `catch`: undefined in place of what was not found. */
export function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}

/** What is asked for contradicts what is there by now. */
export class Conflict extends Error {}

/** Too much was asked for; nothing was done. */
export class Throttled extends Error {
  /** Whole seconds, at least 1, until it is worth asking again. */
  readonly wait: number

  constructor(wait: number) {
    super(`Request was throttled. Expected available in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`)
    this.wait = wait
  }
}

/** Something behind us (Postgres, PowerDNS, a queue for a zone) does not do its part now; nothing was changed. */
export class Unavailable extends Error {}

/**
 * How a call to the nameserver failed; it decides what is known about the zone afterwards.
 * - refused: it answered that the content is not acceptable; nothing was applied
 * - conflict: the zone to be created exists already; nothing was applied
 * - absent: the zone does not exist there
 * - unreachable: the request never left; nothing was applied
 * - failed: it answered that it failed, or refused our credentials; what is applied must be looked at
 * - unknown: no answer (time limit, connection lost); it may still be applied later
 */
export type FailureKind = 'refused' | 'conflict' | 'absent' | 'unreachable' | 'failed' | 'unknown'

/** The nameserver did not do what it was asked to. The message is for logs; of a refusal it is PowerDNS' reason. */
export class NameserverFailure extends Error {
  readonly kind: FailureKind
  /** The RRset that was refused, by its absolute name, if PowerDNS told. */
  readonly rrset: { name: string; type: string } | undefined

  constructor(kind: FailureKind, message: string, options?: ErrorOptions & { rrset?: NameserverFailure['rrset'] }) {
    super(message, options)
    this.kind = kind
    this.rrset = options?.rrset
  }
}

/** What the service stands on is not there at start; the message is for the operator. */
export class StartError extends Error {}

/** A mail was not handed over, or nobody knows whether it was. The message is for logs and holds nothing secret. */
export class MailFailure extends Error {
  /** Nobody has this address: to try again is of no use. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal = false } = {}) {
    super(message)
    this.isFinal = isFinal
  }
}
