import test from 'ava'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { post, readUrl } from '../../src/service/webhooks/receivers.ts'
import { readConfig } from '../../src/settings/config.ts'
import { startReceiver } from '../support/webhooks/receivers.ts'

// Which addresses receivers of webhooks may have (contract §22.5).

const config = readConfig({})
const BODY = { headers: {}, body: '{}' }
const NONE = { answer: null, problem: 'The receiver has no public address.' }
const never = new AbortController().signal

for (const url of [
  ...[
    'http://example.org/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'gopher://example.org/',
    'javascript:alert(1)',
  ],
  ...[
    'https:example.org',
    'https:/example.org/',
    'https:///example.org/',
    '//example.org/',
    'example.org',
    '',
    'https://',
  ],
  ...[
    'https://user@example.org/',
    'https://user:pass@example.org/',
    'https://@example.org/',
    'https://example.org#@10.0.0.1/',
  ],
  ...[
    'https://example.org\\@10.0.0.1/',
    'https:\\\\10.0.0.1/',
    'https://exa\nmple.org/',
    ' https://10.0.0.1/',
    'https://example.org/\t',
  ],
  ...['https://example.org:22/', 'https://example.org:25/', 'https://example.org:0/', 'https://example.org:80/'],
  ...[
    'https://example.org:65536/',
    'https://example.org./',
    'https://localhost./',
    `https://example.org/${'x'.repeat(2_000)}`,
  ],
  ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://017700000001/'],
  ...['https://0177.0.0.1/', 'https://0x7f.0x0.0x0.0x1/', 'https://127.0.0.1./', 'https://0/', 'https://0.0.0.0/'],
  ...['https://１２７.０.０.１/', 'https://127。0。0。1/', 'https://%31%32%37.0.0.1/', 'https://①②⑦.0.0.1/'],
  ...['https://10.0.0.1/', 'https://172.31.255.255/', 'https://192.168.0.1/', 'https://169.254.169.254/latest/'],
  ...[
    'https://100.64.0.1/',
    'https://192.0.0.192/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
  ],
  ...[
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
  ],
  ...['https://[64:ff9b::10.0.0.1]/', 'https://[64:ff9b:1::a00:1]/', 'https://[2002:a00:1::]/', 'https://[2001::1]/'],
  ...[
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[fc00::1]/',
    'https://[fec0::1]/',
  ],
  ...['https://[ff02::1]/', 'https://[fd00:ec2::254]/', 'https://[::ffff:0:127.0.0.1]/', 'https://[100::1]/'],
]) {
  test(`no receiver is at ${JSON.stringify(url.slice(0, 60))}`, (t) => {
    t.true('problem' in readUrl(config, url))
  })
}

test('receivers may be at names, at public addresses, and at high ports', (t) => {
  for (const [text, url] of [
    ['https://hooks.example.com/dns?x=1', 'https://hooks.example.com/dns?x=1'],
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com/'],
    ['https://8.8.8.8:8443/', 'https://8.8.8.8:8443/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ] as const) {
    t.deepEqual(readUrl(config, text), { url })
  }
})

test('in networks of the operator they may be without TLS, but nowhere else', (t) => {
  const near = readConfig({ WEBHOOK_NETWORKS: '10.1.0.0/16, ::1' })
  for (const url of ['http://10.1.2.3:80/', 'https://10.1.2.3/', 'http://[::1]:8080/'])
    t.deepEqual(readUrl(near, url), { url: new URL(url).href })
  for (const url of ['http://10.2.0.1/', 'http://8.8.8.8/', 'http://[::2]/'])
    t.true('problem' in readUrl(near, url), url)
})

/** A resolver that gives each name these addresses, one after the other; then none. */
async function startResolver(addresses: string[]) {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address: client }) => {
    const isA = question.readUInt16BE(question.indexOf(0, 12) + 1) === 1
    const address = isA ? addresses.shift() : undefined
    const end = question.indexOf(0, 12) + 5
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(0x8180, 2)
    header.fill(0, 6)
    header.writeUInt16BE(address === undefined ? 0 : 1, 6)
    const octets = (address ?? '').split('.').map(Number)
    const record = address === undefined ? [] : [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...octets]
    socket.send(Buffer.concat([header, question.subarray(12, end), Buffer.from(record)]), port, client)
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

test('TLS is required, and must be valid', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const near = readConfig({ WEBHOOK_NETWORKS: '127.0.0.1' })
  const { answer, problem } = await post(near, { url: receiver.url.replace('http:', 'https:'), ...BODY }, never)
  t.is(answer, null)
  t.not(problem, null)
  t.deepEqual(receiver.received, [])
})
