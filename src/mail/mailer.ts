import type { Timestamp } from '../time.ts'

/** A plain-text mail to one address. */
export interface Mail {
  /** The Message-ID, which identifies a mail that arrives twice. */
  id: string
  created: Timestamp
  to: string
  subject: string
  text: string
}

/** Delivers mails. */
export interface Mailer {
  /** A server or a folder, for the log; contains no secret. */
  readonly destination: string
  /**
   * Resolves once the server or the folder has the mail.
   * @param signal aborts the attempt; then it is unknown whether the mail was accepted
   * @throws MailFailure
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}
