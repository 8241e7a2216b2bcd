import type { Timestamp } from '../time.ts'

/** A mail of plain text to one address. */
export interface Mail {
  /** Becomes the Message-ID: a mail that arrives twice can be known by it. */
  id: string
  created: Timestamp
  to: string
  subject: string
  text: string
}

/** Where mails go. */
export interface Mailer {
  /** For the log: a server or a folder, nothing secret. */
  readonly destination: string
  /**
   * Hands a mail over; when this resolves, it is in other hands.
   * @param signal ends the attempt; whether the mail has arrived is not known then
   * @throws MailFailure
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}
