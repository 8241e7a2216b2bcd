import { createTransport } from 'nodemailer'
import { MailFailure } from '../errors.ts'
import { MAIL_ANSWER_TIME, MAIL_CONNECT_TIME } from '../limits.ts'
import type { Mailer } from './mailer.ts'

/** What nodemailer tells of a failure. */
interface Failure extends Error {
  code?: string
  /** The SMTP command that the server did not like. */
  command?: string
  /** The server's answer to it. */
  response?: string
}

/** RFC 3463 §3.2: nobody has this address. */
const BAD_ADDRESS = /^5\d\d[ -]5\.1\.\d/

/** The codes that an SMTP server's answer begins with, without its words. */
const CODES = /^\d{3}([ -]\d\.\d{1,3}\.\d{1,3})?/

/**
 * Sends mails by SMTP, each on a connection of its own.
 * @param url `smtp://[user:password@]host[:port]` or `smtps://…`. With a password, an unencrypted connection is not used
 * @param from the sender's address
 */
export function createSmtpMailer(url: string, from: string): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  const transport = createTransport({
    host,
    port: port === '' ? (secure ? 465 : 25) : Number(port),
    secure,
    ...(username !== '' && { auth, requireTLS: !secure }),
    connectionTimeout: MAIL_CONNECT_TIME,
    greetingTimeout: MAIL_CONNECT_TIME,
    dnsTimeout: MAIL_CONNECT_TIME,
    socketTimeout: MAIL_ANSWER_TIME,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return {
    destination: `${protocol}//${hostname}${port === '' ? '' : `:${port}`}`,
    async send({ id, created, to, subject, text }, signal) {
      const message = {
        from: { name: '', address: from },
        // As an object it is one address, whatever it looks like.
        to: { name: '', address: to },
        envelope: { from, to: { name: '', address: to } },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        date: new Date(created),
        // RFC 3834 §5: no out-of-office notes, please.
        headers: { 'Auto-Submitted': 'auto-generated' },
      }
      await transport.sendMail({ ...message, signal }).catch((error: unknown) => {
        throw failure(error as Failure)
      })
    },
  }
}

/** A server's words may quote what it was told, passwords and mails, so only those on addresses are passed on. */
function failure({ code = 'failed', command = '', response, message }: Failure): MailFailure {
  if (response === undefined) return new MailFailure(`${code}: ${message}`)
  const isOnAddress = command === 'MAIL FROM' || command === 'RCPT TO'
  const words = isOnAddress ? response : (CODES.exec(response)?.[0] ?? '')
  const isFinal = command === 'RCPT TO' && BAD_ADDRESS.test(response)
  return new MailFailure(`${code}: ${command}: ${words}`, { isFinal })
}
