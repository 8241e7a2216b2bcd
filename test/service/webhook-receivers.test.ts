import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { projectFolder } from '../../src/installation/project.ts'
import { post, readUrl } from '../../src/service/webhooks/receivers.ts'
import { readConfig } from '../../src/settings/config.ts'
import { type Certificate, makeAuthority } from '../clients/support/authority.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startReceiver } from '../support/webhooks/receivers.ts'

// Which addresses receivers of webhooks may have (contract §22.5).

const config = readConfig({})
const BODY = { headers: {}, body: '{}' }
const NONE = { answer: null, problem: 'The receiver has no public address.' }
const NO_TLS = 'TLS failed: is the certificate valid for this name?'
const built = (file: string) => join(projectFolder(), 'build', 'src', file)
const never = new AbortController().signal

for (const url of [
  // Schemes, slashes, users, fragments, ports, final dots.
  ...['http://example.org/', 'ftp://example.org/', 'javascript:alert(1)', 'blob:https://example.org/1', ''],
  ...['https:example.org', 'https:/example.org/', 'https:///example.org/', '//example.org/', 'example.org', 'https://'],
  ...['https://user@example.org/', 'https://:@example.org/', 'https://127.0.0.1@example.org/'],
  ...['https://example.org:443@127.0.0.1/', 'https://example.org#@10.0.0.1/', 'https://example.org/?#'],
  ...['https://example.org:0/', 'https://example.org:442/', 'https://example.org:1023/', 'https://example.org:65536/'],
  ...['https://example.org:000022/', 'https://example.org:-1/', 'https://example.org:+443/', 'https://example.org:x/'],
  ...['https://example.org./', 'https://example.org../', 'https://localhost./', 'https://127.0.0.1./'],
  // What readers of URLs repair, and what nobody sees.
  ...['https://example.org\\@10.0.0.1/', 'https:\\\\10.0.0.1/', 'https:////127.0.0.1/', 'ｈttps://example.org/'],
  ...['https://exa\nmple.org/', 'https://example.org/\t', ' https://10.0.0.1/', 'https://example.org:443 /'],
  ...['https://example.org/\0', 'https://example.org/ HTTP/1.1', 'https://example.org/\r\nHost: x'],
  ...['https://lo\u00adcalhost/', 'https://127.0.0.1\u200b/', '\ufeffhttps://example.org/', 'https://a.org/\u2028'],
  ...['https://exa\ud800mple.org/', 'https://exa%00mple.org/', 'https://example.org%2f@x/', 'https://%5b::1%5d/'],
  ...['https://xn--/', `https://example.org/${'x'.repeat(2_000)}`],
  // Numbers that are no addresses, or of several bases.
  ...['https://4294967296/', 'https://1.2.3.256/', 'https://1.2.3.4.5/', 'https://foo.127.0.0.1/', 'https://0x/'],
  ...['https://①②⑦.0.0.1/', 'https://𝟙𝟚𝟟.0.0.1/', 'https://१२७.0.0.1/', 'https://127%E3%80%820.0.1/'],
  // Networks of IPv6, and what they have of IPv4.
  ...['https://[::1]/', 'https://[::]/', 'https://[::ffff:7f00:1]/', 'https://[::127.0.0.1]/', 'https://[127.0.0.1]/'],
  ...['https://[64:ff9b::808:808]/', 'https://[64:ff9b:1::a00:1]/', 'https://[2002:808:808::]/', 'https://[2001::1]/'],
  ...['https://[fe80::1]/', 'https://[fe80::1%25eth0]/', 'https://[fd00:ec2::254]/', 'https://[ff02::1]/'],
  ...['https://[2001:db8::1]/', 'https://[3fff:fff::1]/', 'https://[4000::1]/', 'https://[1fff::1]/'],
]) {
  test(`no receiver is at ${JSON.stringify(url.slice(0, 60))}`, (t) => {
    t.true('problem' in readUrl(config, url))
  })
}

/** The first and the last addresses of networks that are not public. */
const NOT_PUBLIC = ['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'].concat(
  ...['127.0.0.0', '127.255.255.255', '169.254.0.0', '169.254.255.255', '172.16.0.0', '172.31.255.255'],
  ...['192.168.0.0', '192.168.255.255', '192.0.0.0', '192.0.0.255', '192.88.99.0', '192.88.99.255'],
  ...['198.18.0.0', '198.19.255.255', '224.0.0.0', '255.255.255.255', '192.0.2.0', '192.0.2.255'],
  ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255'],
)

/** How digits and dots can be written. */
const DIGITS = fc.constantFrom('', '０１２３４５６７８９', '𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗')
const DOT = fc.constantFrom('.', '。', '．', '｡', '%2e')

test('no receiver is at an address that is not public, however it is written', (t) => {
  const base = fc.constantFrom(['', 10], ['0x', 16], ['0', 8], ['0000', 8]) as fc.Arbitrary<[string, number]>
  const bases = fc.array(base, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.constantFrom(...NOT_PUBLIC), bases, DIGITS, DOT, (address, written, digits, dot) => {
      const octets = address.split('.').map(Number)
      // The last number has all octets that are left.
      const numbers = written.map((_, i) =>
        (i < written.length - 1 ? [octets[i]!] : octets.slice(i)).reduce((sum, octet) => sum * 256 + octet, 0),
      )
      const texts = numbers.map((number, i) => written[i]![0] + number.toString(written[i]![1]))
      const disguised = texts.map((text) => text.replace(/\d/g, (digit) => Array.from(digits)[Number(digit)] ?? digit))
      const host = disguised.join(dot)
      t.is(new URL(`https://${host}/`).hostname, address)
      t.true('problem' in readUrl(config, `https://${host}/`), host)
    }),
    { numRuns: 1000 },
  )
})

test('receivers may be at names, at public addresses, and at high ports', (t) => {
  for (const [text, url] of [
    ['https://hooks.example.com/dns?x=1', 'https://hooks.example.com/dns?x=1'],
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com/'],
    ['https://8.8.8.8:8443/', 'https://8.8.8.8:8443/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '100.63.255.255', '100.128.0.0', '198.17.255.255'].map(
      (address) => [`https://${address}/`, `https://${address}/`] as const,
    ),
    ['https://[2001:200::1]/', 'https://[2001:200::1]/'],
    ['https://example.org:1024/', 'https://example.org:1024/'],
  ] as const) {
    t.deepEqual(readUrl(config, text), { url })
  }
})

test('in networks of the operator they may be without TLS, but nowhere else', (t) => {
  const near = readConfig({ WEBHOOK_NETWORKS: '10.1.0.0/16, ::1' })
  for (const url of ['http://10.1.2.3:80/', 'https://10.1.2.3/', 'http://[::1]:8080/'])
    t.deepEqual(readUrl(near, url), { url: new URL(url).href })
  for (const url of [
    ...['http://10.0.255.255/', 'http://10.2.0.1/', 'http://8.8.8.8/', 'http://[::2]/', 'http://user@10.1.0.1/'],
    // Other spellings of what is allowed lead elsewhere.
    ...['http://[::ffff:10.1.0.1]/', 'http://[64:ff9b::10.1.0.1]/', 'http://[2002:a01:1::]/'],
  ])
    t.true('problem' in readUrl(near, url), url)
})

test('no receiver is at an address of this machine, unless the operator allows it', async (t) => {
  const real = os.networkInterfaces
  t.teardown(() => {
    os.networkInterfaces = real
    syncBuiltinESMExports()
  })
  const url = 'https://8.8.4.4:5432/'
  const sixth = 'https://[2606:4700::7]:5432/'
  t.deepEqual([readUrl(config, url), readUrl(config, sixth)], [{ url }, { url: sixth }])
  const [lo] = Object.values(real()).flatMap((each) => each ?? [])
  os.networkInterfaces = () => ({ up: ['8.8.4.4', '2606:4700:0:0::7'].map((address) => ({ ...lo!, address })) })
  syncBuiltinESMExports()
  for (const each of [url, sixth]) {
    t.true('problem' in readUrl(config, each))
    t.deepEqual(await post(config, { url: each, ...BODY }, never), NONE)
  }
  t.deepEqual(readUrl(readConfig({ WEBHOOK_NETWORKS: '8.8.4.4' }), url), { url })
})

/** A resolver that gives each name these addresses, one answer after the other; then none. */
async function startResolver(answers: (string | string[])[]) {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address: client }) => {
    const isA = question.readUInt16BE(question.indexOf(0, 12) + 1) === 1
    const addresses = [(isA ? answers.shift() : undefined) ?? []].flat()
    const end = question.indexOf(0, 12) + 5
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(0x8180, 2)
    header.fill(0, 6)
    header.writeUInt16BE(addresses.length, 6)
    const records = addresses.map((address) => [
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      4,
      ...address.split('.').map(Number),
    ])
    socket.send(Buffer.concat([header, question.subarray(12, end), Buffer.from(records.flat())]), port, client)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { endpoint: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

test('a name is resolved once for each attempt, and the connection goes to an address that was examined', async (t) => {
  const receiver = await startReceiver('127.0.0.2')
  const resolver = await startResolver(['127.0.0.2', '127.0.0.1', '10.0.0.1', '127.0.0.2'])
  t.teardown(async () => {
    resolver.close()
    await receiver.close()
  })
  const near = readConfig({ RESOLVERS: resolver.endpoint, WEBHOOK_NETWORKS: '127.0.0.2' })
  const url = `http://rebinding.example.org:${new URL(receiver.url).port}/`
  t.deepEqual(await post(near, { url, ...BODY }, never), { answer: 204, problem: null })
  t.deepEqual(await post(near, { url, ...BODY }, never), NONE)
  t.deepEqual(await post(near, { url, ...BODY }, never), NONE)
  t.deepEqual(await post(near, { url, ...BODY }, never), { answer: 204, problem: null })
  t.is(receiver.received.length, 2)
})

test('names of this machine, private addresses, and names that do not exist all look the same', async (t) => {
  const resolver = await startResolver(['127.0.0.1', '169.254.169.254'])
  t.teardown(() => {
    resolver.close()
  })
  const strict = readConfig({ RESOLVERS: resolver.endpoint })
  for (const url of [
    ...['https://a.example.org/', 'https://b.example.org/', 'https://absent.example.org/', 'https://localhost/'],
    ...['https://127.0.0.1/', 'https://[::1]/', 'http://8.8.8.8/'],
  ]) {
    t.deepEqual(await post(strict, { url, ...BODY }, never), NONE, url)
  }
})

test('of many addresses of a name, only four are tried, and only those that are allowed', async (t) => {
  const receiver = await startReceiver('127.0.0.9')
  const some = ['127.0.0.2', '10.0.0.1', '127.0.0.3', '127.0.0.4', '169.254.169.254']
  const resolver = await startResolver([
    [...some, '127.0.0.9'],
    [...some, '127.0.0.5', '127.0.0.9', ...Array<string>(15).fill('127.0.0.6')],
  ])
  t.teardown(async () => {
    resolver.close()
    await receiver.close()
  })
  const near = readConfig({ RESOLVERS: resolver.endpoint, WEBHOOK_NETWORKS: '127.0.0.0/8' })
  const url = `http://many.example.org:${new URL(receiver.url).port}/`
  t.deepEqual(await post(near, { url, ...BODY }, never), { answer: 204, problem: null })
  t.deepEqual(await post(near, { url, ...BODY }, never), { answer: null, problem: 'The connection was refused.' })
  t.is(receiver.received.length, 1)
})

/** Lets a server listen until the end of a test, and resolves with its port. */
async function portOf(t: ExecutionContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

for (const endless of ['HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', '\r\n']) {
  test(`a receiver that sends ${JSON.stringify(endless)} without end is left at once`, async (t) => {
    const server = createServer((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(endless.repeat(1_000)));
      }
      socket.on('error', () => undefined).on('drain', more)
      socket.once('data', more)
    })
    const near = readConfig({ WEBHOOK_NETWORKS: '127.0.0.1' })
    const url = `http://127.0.0.1:${await portOf(t, server)}/`
    t.deepEqual(await post(near, { url, ...BODY }, never), { answer: null, problem: 'The connection failed.' })
  })
}

test('what comes before a short header does no harm', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end('\r\nHTTP/1.1 100 X\r\n\r\nHTTP/1.1 103 X\r\n\r\nHTTP/1.1 204 X\r\n\r\n'))
  })
  const near = readConfig({ WEBHOOK_NETWORKS: '127.0.0.1' })
  const url = `http://127.0.0.1:${await portOf(t, server)}/`
  t.deepEqual(await post(near, { url, ...BODY }, never), { answer: 204, problem: null })
})

/** Returns the problem of a request to each URL, sent by a process of its own that trusts an authority. */
async function postAll(urls: string[], resolver: { endpoint: string }, authority: { file: string }): Promise<string[]> {
  const program = `const { post } = await import('${built('service/webhooks/receivers.js')}')
    const { readConfig } = await import('${built('settings/config.js')}')
    const config = readConfig({ RESOLVERS: '${resolver.endpoint}', WEBHOOK_NETWORKS: '127.0.0.1' })
    for (const url of process.argv.slice(1))
      console.log((await post(config, { url, headers: {}, body: '{}' }, new AbortController().signal)).problem)`
  // Node reads the certificates that it trusts besides at its start. The other variable must have no effect.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority.file, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const args = ['--input-type=module', '-e', program, ...urls]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return stdout.trim().split('\n')
}

test('TLS is required, and its certificate must be valid for the name', async (t) => {
  const [authority, stranger] = [await makeAuthority(newFolder()), await makeAuthority(newFolder())]
  const cases: [name: string, certificate: Certificate, problem: string | null][] = [
    ['right', await authority.issue(['right.example.org']), null],
    ['other', await authority.issue(['right.example.org']), NO_TLS],
    ['strange', await stranger.issue(['strange.example.org']), NO_TLS],
    ['expired', await authority.issue(['expired.example.org'], new Date(Date.now() - 3_600_000)), NO_TLS],
  ]
  const resolver = await startResolver(cases.map(() => ['127.0.0.1']))
  let received = 0
  const urls: string[] = []
  for (const [name, certificate] of cases) {
    const server = createHttpsServer(certificate, (_, response) => {
      received++
      response.writeHead(204).end()
    })
    urls.push(`https://${name}.example.org:${await portOf(t, server)}/`)
  }
  const plain = await startReceiver()
  t.teardown(async () => {
    resolver.close()
    await plain.close()
  })
  urls.push(plain.url.replace('http:', 'https:'))
  const problems = await postAll(urls, resolver, authority)
  // Without TLS, the receiver may close before it is clear what is wrong.
  t.not(problems.pop(), 'null')
  t.deepEqual(
    problems,
    cases.map(([, , problem]) => String(problem)),
  )
  t.is(received, 1)
  t.deepEqual(plain.received, [])
})

test('a receiver gets no second handshake of TLS 1.2', async (t) => {
  const authority = await makeAuthority(newFolder())
  const certificate = await authority.issue(['again.example.org'])
  let begun = 0
  const handshakes: (Error | null)[] = []
  const server = createTlsServer({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
    begun++
    socket.on('error', () => undefined)
    socket.renegotiate({}, (error) => {
      handshakes.push(error)
      socket.end('HTTP/1.1 204 X\r\n\r\n')
    })
  })
  const resolver = await startResolver([['127.0.0.1']])
  t.teardown(() => {
    resolver.close()
  })
  const url = `https://again.example.org:${await portOf(t, server)}/`
  const [problem] = await postAll([url], resolver, authority)
  t.not(problem, 'null')
  t.is(begun, 1)
  t.deepEqual(handshakes, [])
})

test('names, connections, TLS and headers that come slowly or never have the ten seconds together', async (t) => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const listen = async (welcome: (socket: Socket) => void) => {
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined))
      welcome(socket)
    })
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
    })
    return portOf(t, server)
  }
  const silence = await listen(() => undefined)
  const drips = await listen((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x: y\r\n'), 500)
    socket.once('close', () => {
      clearInterval(timer)
    })
  })
  t.teardown(() => silent.close())
  const near = readConfig({ RESOLVERS: `127.0.0.1:${silent.address().port}`, WEBHOOK_NETWORKS: '127.0.0.1' })
  const urls = [
    'http://a.example.org/',
    `http://127.0.0.1:${silence}/`,
    `https://127.0.0.1:${silence}/`,
    `http://127.0.0.1:${drips}/`,
  ]
  const answers = await Promise.all(urls.map((url) => post(near, { url, ...BODY }, never)))
  t.deepEqual(
    answers,
    urls.map(() => ({ answer: null, problem: 'There was no answer within 10 seconds.' })),
  )
})
