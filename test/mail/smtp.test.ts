import test from 'ava'
import fc from 'fast-check'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { MailFailure } from '../../src/errors.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { createSmtpMailer } from '../../src/mail/smtp.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'

const FROM = 'dns@example.net'
const MAIL: Mail = {
  id: '0d7a2e2c-6f0e-4a53-8f7e-0b4f3c3c1a11',
  created: '2026-01-31T12:00:00.123456Z',
  to: 'person@example.test',
  subject: 'Confirm your new account',
  text: `Hello,\n\nopen this link:\n\nhttps://dns.example.net/api/v1/v/activate-account/${'a1'.repeat(14)}/\n\n.\n.a\n`,
}

let server: MailServer

test.before(async () => {
  server = await startMailServer()
})

test.after.always(async () => {
  await server.close()
})

test.beforeEach(() => {
  server.received.length = 0
  Object.assign(server.refuse, { recipient: undefined, data: undefined })
})

const never = () => new AbortController().signal

function send(mail: Partial<Mail>, port = server.port, credentials = ''): Promise<void> {
  return createSmtpMailer(`smtp://${credentials}127.0.0.1:${port}`, FROM).send({ ...MAIL, ...mail }, never())
}

test.serial('a mail is plain text, with sender, recipient and date', async (t) => {
  await send({})
  t.is(server.received.length, 1)
  const { from, to, user, mail } = server.received[0]!
  t.deepEqual([from, to, user], [FROM, [MAIL.to], undefined])
  t.is(mail.text, MAIL.text)
  t.is(mail.html, undefined)
  t.deepEqual(mail.attachments, [])
  t.is(mail.subject, MAIL.subject)
  t.deepEqual(mail.from, { name: '', address: FROM })
  t.deepEqual(mail.to, [{ name: '', address: MAIL.to }])
  t.is(mail.date, '2026-01-31T12:00:00.000Z')
  const headers = new Map(mail.headers.map(({ key, value }) => [key, value]))
  t.is(headers.get('auto-submitted'), 'auto-generated')
  t.deepEqual([...headers.keys()].sort(), [
    ...['auto-submitted', 'content-transfer-encoding', 'content-type', 'date', 'from', 'message-id', 'mime-version'],
    ...['subject', 'to'],
  ])
})

test.serial('a mail that is sent again has the same Message-ID', async (t) => {
  await send({})
  await send({})
  const ids = server.received.map(({ mail }) => mail.messageId)
  t.deepEqual(ids, Array(2).fill(`<${MAIL.id}@example.net>`))
})

for (const text of [
  'Grüße, 你好\n',
  `${'long words '.repeat(100)}\n`,
  `${'x'.repeat(2000)}\n`,
  'From here\n',
  '=3D=\n',
]) {
  test.serial(`text arrives unchanged: ${JSON.stringify(text.slice(0, 20))} (${text.length})`, async (t) => {
    await send({ text })
    t.is(server.received[0]!.mail.text, text)
  })
}

for (const to of ['"x,y"@example.test', 'a+b@example.test', "o'neill@example.test"]) {
  test.serial(`${to} is one address`, async (t) => {
    await send({ to })
    const { mail, to: recipients } = server.received[0]!
    t.deepEqual(recipients, [to])
    t.is(mail.to!.length, 1)
    t.is(mail.cc, undefined)
    t.is(mail.bcc, undefined)
  })
}

test.serial('no address or subject adds a header, a recipient or a word to the text', async (t) => {
  const nasty = fc.stringMatching(/^[\r\n\0:<>@,;"\\ a-z]{0,40}$/)
  await fc.assert(
    fc.asyncProperty(nasty, nasty, async (name, subject) => {
      server.received.length = 0
      const sent = await send({
        to: `${name}\r\nBcc: other@example.org\r\n\r\n`,
        subject: `${subject}\r\nCc: x@y.z`,
      }).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof MailFailure)) throw error
          return false
        },
      )
      if (!sent) return server.received.length === 0
      const { mail, to } = server.received[0]!
      return to.length === 1 && mail.headers.length === 9 && mail.cc === undefined && mail.text === MAIL.text
    }),
    // The mail library took this example for two addresses.
    { numRuns: 50, examples: [['@a,', '']] },
  )
  t.pass()
})

test.serial('a refused connection is reported as a temporary failure', async (t) => {
  const other = await startMailServer()
  await other.close()
  const error = await t.throwsAsync(send({}, other.port), { instanceOf: MailFailure })
  t.regex(error.message, /^ESOCKET: connect ECONNREFUSED/)
  t.false(error.isFinal)
})

test.serial('a refusal is reported, with its reason only if the server has not seen the text', async (t) => {
  for (const [refuse, message, isFinal] of [
    [{ recipient: '550 5.1.1 No such user' }, 'EENVELOPE: RCPT TO: 550 5.1.1 No such user', true],
    [{ recipient: '450 4.2.1 Not now' }, 'EENVELOPE: RCPT TO: 450 4.2.1 Not now', false],
    [{ data: '554 5.6.0 I do not like a1a1a1' }, 'EMESSAGE: DATA: 554 5.6.0', false],
    [{ data: '451 Not now' }, 'EMESSAGE: DATA: 451', false],
  ] as const) {
    Object.assign(server.refuse, { recipient: undefined, data: undefined, ...refuse })
    const error = await t.throwsAsync(send({}), { instanceOf: MailFailure })
    t.deepEqual([error.message, error.isFinal], [message, isFinal])
  }
  t.is(server.received.length, 0)
})

test.serial('with a password, neither credentials nor mail are sent to a server without TLS', async (t) => {
  let heard = ''
  const plain = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('220 plain\r\n')
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
      socket.write(chunk.toString().startsWith('EHLO') ? '250-plain\r\n250 AUTH PLAIN LOGIN\r\n' : '502 No\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(plain, 'listening')
  const { port } = plain.address() as AddressInfo
  const error = await t.throwsAsync(send({}, port, 'user:secret@'), { instanceOf: MailFailure })
  t.regex(error.message, /^ETLS: /)
  t.notRegex(heard, /AUTH|MAIL|c2VjcmV0/)
  plain.close()
})

test.serial('a server with an untrusted certificate is refused', async (t) => {
  const encrypted = await startMailServer(0, { secure: true })
  const mailer = createSmtpMailer(`smtps://127.0.0.1:${encrypted.port}`, FROM)
  const error = await t.throwsAsync(mailer.send(MAIL, never()), { instanceOf: MailFailure })
  t.regex(error.message, /certificate/)
  t.is(encrypted.received.length, 0)
  await encrypted.close()
})

test.serial('sending to a silent server fails when it is aborted', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const late = new AbortController()
  const mailer = createSmtpMailer(`smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`, FROM)
  const sending = mailer.send(MAIL, late.signal)
  await once(silent, 'connection')
  late.abort()
  await t.throwsAsync(sending, { instanceOf: MailFailure })
  silent.close()
})

test('the destination for the log contains no password', (t) => {
  t.is(createSmtpMailer('smtps://user:secret@mail.example.net:465', FROM).destination, 'smtps://mail.example.net:465')
  t.is(createSmtpMailer('smtp://user:secret@[::1]', FROM).destination, 'smtp://[::1]')
})
