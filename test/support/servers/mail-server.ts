import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { listen } from './ports.ts'

/** A mail that the server has received: the envelope, and the content as parsed by another library. */
export interface Received {
  from: string
  to: string[]
  /** The user that has logged in to send it. */
  user: string | undefined
  /** Whether it arrived over TLS. */
  encrypted: boolean
  raw: string
  mail: Email
  /** When, as `performance.now()`. */
  at: number
}

/** A real SMTP server that accepts every mail unless a test makes it refuse. */
export interface MailServer {
  port: number
  /** In the order of arrival. */
  received: Received[]
  /** The reply with which it refuses a recipient, or a mail after its content; undefined: it accepts. */
  refuse: { recipient: string | undefined; data: string | undefined }
  /** Closes all connections and stops listening. */
  close(): Promise<void>
}

/** A refusal: an SMTP reply code and a text. */
class Refusal extends Error {
  readonly responseCode: number

  constructor(reply: string) {
    super(reply.slice(4))
    this.responseCode = Number(reply.slice(0, 3))
  }
}

/** @param port 0: any that is free */
export async function startMailServer(port = 0, options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: Received[] = []
  const refuse: MailServer['refuse'] = { recipient: undefined, data: undefined }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onRcptTo(_address, _session, done) {
      done(refuse.recipient === undefined ? null : new Refusal(refuse.recipient))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString()
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const to = rcptTo.map(({ address }) => address)
        void PostalMime.parse(raw).then((mail) => {
          if (refuse.data !== undefined) {
            done(new Refusal(refuse.data))
            return
          }
          const how = { user: session.user as string | undefined, encrypted: session.secure }
          received.push({ from, to, ...how, raw, mail, at: performance.now() })
          done()
        })
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  return {
    port: await listen(server.server, port),
    received,
    refuse,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(resolve)
      })
    },
  }
}
