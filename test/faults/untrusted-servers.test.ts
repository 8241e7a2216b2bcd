import test from 'ava'
import { createServer as createHttpsServer } from 'node:https'
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'
import { NameserverFailure } from '../../src/errors.ts'
import { Api } from '../../src/nameserver/powerdns/api.ts'
import { openDatabase, query } from '../../src/store/database.ts'
import { listen } from '../support/servers/ports.ts'

// PowerDNS and Postgres over TLS, with certificates that nobody vouches for. The mail server is in test/mail.

test('PowerDNS with an untrusted certificate does not get the API key', async (t) => {
  const { private: key, cert } = await generate()
  const server = createHttpsServer({ key, cert }, () => {
    t.fail('a request arrived')
  })
  const api = new Api({ url: `https://127.0.0.1:${await listen(server)}`, key: 'secret', connections: 1 })
  const error = await t.throwsAsync(api.call('GET', '/zones', 5_000), { instanceOf: NameserverFailure })
  t.regex(error.message, /self-signed certificate/)
  await api.close()
  server.close()
})

for (const [what, answer, reason] of [
  ['with an untrusted certificate', 'S', /self-signed certificate/],
  ['that refuses TLS', 'N', /does not support SSL/],
] as const) {
  test(`with sslmode=verify-full, Postgres ${what} does not get the password`, async (t) => {
    const { private: key, cert } = await generate()
    const encrypted = createTlsServer({ key, cert }, (socket) => {
      socket.on('data', () => t.fail('something arrived'))
    }).on('tlsClientError', () => undefined)
    const server = createServer((socket) => {
      socket.once('data', (octets) => {
        // The request for TLS, and nothing else (PostgreSQL, "Message Formats").
        t.is(octets.toString('hex'), '0000000804d2162f')
        socket.on('error', () => undefined).write(answer)
        if (answer === 'S') encrypted.emit('connection', socket)
        else socket.on('data', () => t.fail('something arrived'))
      })
    })
    const db = openDatabase(`postgres://user:secret@127.0.0.1:${await listen(server)}/x?sslmode=verify-full`, 1)
    t.regex((await t.throwsAsync(query(db, 'select'))).message, reason)
    await db.end()
    server.close()
  })
}
