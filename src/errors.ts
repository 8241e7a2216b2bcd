/** The problems of one object: texts per field; `non_field_errors` for the object as a whole (contract §2.1). */
export type Problems = Record<string, readonly string[]>

/** The input is invalid. `problems` is the response body: one object, or one for each item in request order. */
export class Invalid extends Error {
  readonly problems: Problems | Problems[]

  constructor(problems: Problems | Problems[]) {
    super('invalid input')
    this.problems = problems
  }

  /** Returns a problem of the object as a whole. */
  static object(text: string): Invalid {
    return new Invalid({ non_field_errors: [text] })
  }

  static field(field: string, ...texts: string[]): Invalid {
    return new Invalid({ [field]: texts })
  }
}

/** The RRsets that a write creates would be occluded, or would occlude others (contract §8.10). */
export class Occluded extends Invalid {
  /** The created RRsets, each with its problem. */
  readonly occlusions: readonly { subname: string; type: string; text: string }[]

  constructor(occlusions: Occluded['occlusions']) {
    super({ non_field_errors: occlusions.map(({ text }) => text) })
    this.occlusions = occlusions
  }
}

/** Returns the texts of an error, each with the field, or the RRset, that it is about. */
export function problemTexts({ problems }: Invalid): string[] {
  return [problems]
    .flat()
    .flatMap((item) => Object.entries(item))
    .flatMap(([field, texts]) => texts.map((text) => (field === 'non_field_errors' ? text : `${field}: ${text}`)))
}

/** A precondition of the request does not hold (contract §15.1). */
export class PreconditionFailed extends Error {
  constructor() {
    super('Precondition failed.')
  }
}

/** The request has no valid credentials. */
export class Unauthenticated extends Error {}

/** The caller is authenticated but lacks the permission. */
export class Denied extends Error {
  constructor(text = 'You do not have permission to perform this action.') {
    super(text)
  }
}

/** @param owner with its article @param what in the plural */
export function limitExceeded(owner: string, most: number, what: string): Denied {
  return new Denied(`Limit exceeded: ${owner} can have at most ${most} ${what}.`)
}

/** The resource does not exist, or the caller may not see it. */
export class NotFound extends Error {
  constructor(text = 'Not found.') {
    super(text)
  }
}

/** Returns the value. @throws NotFound if it is undefined */
export function orNotFound<T>(value: T | undefined): T {
  if (value === undefined) throw new NotFound()
  return value
}

/** Turns NotFound into undefined; for `catch`. */
export function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}

/** The request conflicts with the current state. */
export class Conflict extends Error {}

/** An undo would destroy later changes (contract §15.5). */
export class Obstructed extends Conflict {
  /** The RRsets that were changed since, or that would conflict with those that would come back. */
  readonly conflicts: { subname: string; type: string }[]

  constructor(conflicts: { subname: string; type: string }[]) {
    super('Later changes are in the way.')
    this.conflicts = conflicts
  }
}

/** The caller sent too many requests; this one was not executed. */
export class Throttled extends Error {
  /** Whole seconds, at least 1, to wait before a retry. */
  readonly wait: number
  /** The scope whose rate was exceeded (contract §14), or the name of another limit, for the metrics. */
  readonly scope: string

  constructor(wait: number, scope = 'other') {
    super(`Request was throttled. Expected available in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`)
    this.wait = wait
    this.scope = scope
  }
}

/** A backend (Postgres, PowerDNS) or a queue is unavailable now; nothing was changed. */
export class Unavailable extends Error {}

/** The service has no room or time for the request now, although the backends answer. */
export class Busy extends Unavailable {
  /** A sentence for the client. */
  readonly detail: string

  constructor(detail: string, reason = detail) {
    super(reason)
    this.detail = detail
  }

  /** @param reason the resource that the request waited for, for the log */
  static waitedTooLong(reason: string): Busy {
    return new Busy('The request waited too long for its turn.', reason)
  }
}

/** PowerDNS has the change, and Postgres has not stored it: it is taken back. */
class TakenBack extends Unavailable {}

/** The connection to Postgres broke during a commit, and Postgres stays away: perhaps the change is stored. */
export class OutcomeUnknown extends Unavailable {}

/**
 * The kind of a failed call to the nameserver, which determines what is known about the zone afterwards.
 * - refused: the nameserver rejected the content; nothing was applied
 * - conflict: the zone to be created exists already; nothing was applied
 * - absent: the zone does not exist at the nameserver
 * - unreachable: the request was not sent; nothing was applied
 * - failed: the nameserver reported an error, or rejected our credentials; the zone must be read to know its state
 * - unknown: no answer of the nameserver (timeout, connection lost, a gateway answered); it may still apply the request
 */
export type FailureKind = 'refused' | 'conflict' | 'absent' | 'unreachable' | 'failed' | 'unknown'

/** A call to the nameserver failed. The message is for logs; for `refused` it is PowerDNS' reason. */
export class NameserverFailure extends Error {
  readonly kind: FailureKind
  /** The rejected RRset, with its absolute name, if PowerDNS reported it. */
  readonly rrset: { name: string; type: string } | undefined

  constructor(kind: FailureKind, message: string, options?: ErrorOptions & { rrset?: NameserverFailure['rrset'] }) {
    super(message, options)
    this.kind = kind
    this.rrset = options?.rrset
  }
}

/** Returns the error of a write whose storing, or commit, has failed after PowerDNS got the change. */
export function takenBack(error: unknown): unknown {
  const isKnown = error instanceof Unavailable && !(error instanceof OutcomeUnknown)
  return isKnown ? new TakenBack(error.message, { cause: error }) : error
}

/** Returns the error of a write that has asked the nameserver, and sent it nothing yet. */
export function neverSent(error: unknown): unknown {
  return isShown(error) ? new NameserverFailure('unreachable', (error as Error).message, { cause: error }) : error
}

/** Reports whether DNS can show for a moment what a failed write was to change. */
export function isShown(error: unknown): boolean {
  if (error instanceof NameserverFailure) return error.kind === 'failed' || error.kind === 'unknown'
  return error instanceof TakenBack
}

/** Returns the cause of a backend's failure for the client (contract §2.2). */
export function causeOf(error: unknown): string {
  return error instanceof Busy ? error.detail : 'The DNS backend is currently unavailable.'
}

/** Returns what a backend's failure means for a change (contract §2.2). */
export function consequenceOf(error: unknown): string {
  if (error instanceof OutcomeUnknown) return 'Whether the change was made is unknown; please check, then retry.'
  return isShown(error)
    ? 'The change was not made, but DNS can show it for a moment; please retry.'
    : 'Nothing was changed; please retry.'
}

/** Returns the nameserver's rejection of contents that an error is, or has as its cause. */
export function refusalOf(error: unknown): NameserverFailure | undefined {
  if (!(error instanceof NameserverFailure)) return undefined
  return error.kind === 'refused' ? error : refusalOf(error.cause)
}

/**
 * Returns the message of an error, for logs. An error that stands for several has no message of its own: all attempts
 * to connect to the addresses of a name have failed.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Returns the message of an error for the operator: of invalid input all problems, without the names of the fields. */
export function textOf(error: Error): string {
  if (!(error instanceof Invalid)) return error.message
  return [error.problems]
    .flat()
    .flatMap((one) => Object.values(one).flat())
    .join(' ')
}

/** Escapes what a terminal or a mail program would obey, or not show: control, format and separating characters, as JSON does. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** The service cannot start; the message is for the operator. */
export class StartError extends Error {}

/** Reports whether a server cannot listen on an address of IPv6, because the machine lacks that. @param error its StartError */
export function lacksIPv6(host: string, { cause }: { cause?: unknown }): boolean {
  const { code = '' } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
  return ['::', '::1'].includes(host) && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)
}

/** Sending a mail failed, or its outcome is unknown. The message is for logs and contains no secrets. */
export class MailFailure extends Error {
  /** True if the address does not exist, so that a retry is pointless. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal = false } = {}) {
    super(message)
    this.isFinal = isFinal
  }
}
