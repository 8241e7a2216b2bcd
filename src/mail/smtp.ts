import { MailFailure } from '../errors.ts'
import type { Mailer } from './mailer.ts'

/** The timeouts in milliseconds for connecting to a mail server, and for its answers. */
const MAIL_CONNECT_TIME = 20_000
const MAIL_ANSWER_TIME = 120_000

/** An error of nodemailer. */
interface Failure extends Error {
  code?: string
  /** The SMTP command that failed. */
  command?: string
  /** The server's answer to the command. */
  response?: string
}

/** The address does not exist (RFC 3463 §3.2). */
const BAD_ADDRESS = /^5\d\d[ -]5\.1\.\d/

/** The codes at the start of an SMTP server's answer. */
const CODES = /^\d{3}([ -]\d\.\d{1,3}\.\d{1,3})?/

/**
 * Sends mails by SMTP, each over a new connection.
 * @param url `smtp://[user:password@]host[:port]` or `smtps://…`; with a user, `smtp:` requires STARTTLS
 * @param from the sender's address
 */
export function createSmtpMailer(url: string, from: string): Mailer {
  const { protocol, host, hostname, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  const options = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 465 : 25) : Number(port),
    secure,
    ...(username !== '' && { auth, requireTLS: !secure }),
    connectionTimeout: MAIL_CONNECT_TIME,
    greetingTimeout: MAIL_CONNECT_TIME,
    dnsTimeout: MAIL_CONNECT_TIME,
    socketTimeout: MAIL_ANSWER_TIME,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return {
    destination: `${protocol}//${host}`,
    async send({ id, created, to, subject, text }, signal) {
      const message = {
        from: { name: '', address: from },
        // nodemailer parses a string as a list of addresses, but not an object.
        to: { name: '', address: to },
        envelope: { from, to: { name: '', address: to } },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        date: new Date(created),
        // Suppresses out-of-office replies (RFC 3834 §5).
        headers: { 'Auto-Submitted': 'auto-generated' },
      }
      // Not earlier, because it would be a part of each start.
      const { createTransport } = await import('nodemailer')
      await createTransport(options)
        .sendMail({ ...message, signal })
        .catch((error: unknown) => {
          throw failure(error as Failure)
        })
    },
  }
}

/** Returns the error for a server's answer, with its text only if it is about an address: others may quote secrets. */
function failure({ code = 'failed', command = '', response, message }: Failure): MailFailure {
  if (response === undefined) return new MailFailure(`${code}: ${message}`)
  const isAboutAddress = command === 'MAIL FROM' || command === 'RCPT TO'
  const answer = isAboutAddress ? response : (CODES.exec(response)?.[0] ?? '')
  const isFinal = command === 'RCPT TO' && BAD_ADDRESS.test(response)
  return new MailFailure(`${code}: ${command}: ${answer}`, { isFinal })
}
