import { gzipSync } from 'node:zlib'
import type { Account } from '../../support/clients/accounts.ts'
import { type Held, hold, plainRequest, type RawAnswer } from '../../support/clients/raw.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { fill } from '../../support/state/budgets.ts'

// Contract §1.8: how many octets of bodies are held, for each caller and for all.

/** Octets of the largest body. */
const LARGEST = 4 * 1024 * 1024

const service = useService({ BODY_LIMIT: String(LARGEST) })
const THROTTLED = '{"detail":"Request was throttled. Expected available in 1 second."}'

const held: Held[] = []
const account = useAccount(service)

test.afterEach.always('the connections are closed', () => {
  for (const { socket } of held.splice(0)) socket.destroy()
})

/** Begins a request, and sends these octets of a body that does not end. */
async function begin(path: string, headers: string[], octets: number, from?: string): Promise<Held> {
  const head = plainRequest(`POST ${path}`, ['Content-Type: application/json', ...headers])
  const unfinished = await hold(service().url, head + ' '.repeat(octets), from)
  held.push(unfinished)
  return unfinished
}

const login = (octets: number, from: string) => begin('/api/v1/auth/login/', ['Content-Length: 65000'], octets, from)
const creation = (octets: number, { secret }: Account) =>
  begin('/api/v1/domains/', [`Content-Length: ${LARGEST}`, `Authorization: Token ${secret}`], octets)

/** Begins so many requests, and waits until their octets have arrived. */
async function beginAll(count: number, octets: number, begun: (octets: number, i: number) => Promise<Held>) {
  const unfinished = await Promise.all(Array.from({ length: count }, (_, i) => begun(octets, i)))
  await eventually(() => unfinished.every(({ socket }) => socket.writableLength === 0))
  return unfinished
}

const firstOf = (unfinished: Held[]): Promise<RawAnswer> => Promise.race(unfinished.map(({ answer }) => answer))

/** The status of a complete login of nobody. @param size octets of its body */
async function statusOfLogin(from: string, size = 60_000): Promise<number> {
  const body = '{"email":"nobody@example.test","password":"wrong password"}'.padEnd(size)
  const octets = plainRequest('POST /api/v1/auth/login/', ['Content-Type: application/json'], body)
  return (await (await hold(service().url, octets, from)).answer).status
}

const json = (body: string) => ({ body, headers: { 'content-type': 'application/json' } })

const statusOfCreation = async ({ api }: Account, size = 2) =>
  (await api.post('/domains/', undefined, json('{}'.padEnd(size)))).status

test('octets that are announced have no places', async (t) => {
  await beginAll(600, 0, (octets, i) => login(octets, `127.0.1.${i >> 3}`))
  t.is(await statusOfLogin('127.0.1.0'), 403)
  await beginAll(20, 0, (octets) => creation(octets, account()))
  t.is(await statusOfCreation(account(), LARGEST), 400)
})

test("an address has 1 MiB of bodies at most: beyond that its slow ones are ended, and others' are not", async (t) => {
  const slow = await beginAll(17, 60_000, (octets) => login(octets, '127.0.0.2'))
  const other = await login(60_000, '127.0.0.3')
  t.is(await statusOfLogin('127.0.0.3'), 403)
  t.is(await statusOfLogin('127.0.0.2'), 403)
  t.is((await firstOf(slow)).status, 408)
  t.is(await Promise.race([other.answer, Promise.resolve('open')]), 'open')
})

test('addresses with slow bodies leave room for others, and lose it to those who wait', async (t) => {
  const slow = await beginAll(524, 64_000, (octets, i) => login(octets, `127.0.1.${i >> 4}`))
  t.is(await statusOfLogin('127.0.2.1', 100), 403)
  t.is(await statusOfCreation(account()), 400)
  t.is(await statusOfLogin('127.0.2.1'), 403)
  t.is((await firstOf(slow)).status, 408)
})

test('three accounts with slow bodies leave room for others, and lose it to those who wait', async (t) => {
  const accounts = await Promise.all(Array.from({ length: 3 }, () => service().account()))
  const slow = await beginAll(12, LARGEST - 100_000, (octets, i) => creation(octets, accounts[i % 3]!))
  t.is(await statusOfCreation(account()), 400)
  t.is(await statusOfCreation(account(), LARGEST), 400)
  t.is((await firstOf(slow)).status, 408)
})

test("an account's API tokens leave its logins their places", async (t) => {
  const { id } = account()
  const login = await addToken(service(), id, { mfa: true, permCreateDomain: true })
  const free = fill(service().system.bounds.bodies.accounts, `bodies of ${id}`)
  t.is((await login.api.post('/domains/', undefined, json('{}'.padEnd(LARGEST)))).status, 400)
  free()
})

for (const [who, send] of [
  ['a stranger', async () => service().anonymous.post('/auth/login/', {})],
  ['a token', async () => account().api.post('/domains/', {})],
] as const) {
  test(`without room, a body of ${who} waits, and is then 429`, async (t) => {
    const { strangers, accounts } = service().system.bounds.bodies
    const free = [fill(strangers, 'bodies of 127.0.0.1'), fill(accounts, `bodies of ${account().id}`)]
    const answer = await send()
    t.deepEqual([answer.status, answer.text], [429, THROTTLED])
    const waiting = send()
    for (const release of free) release()
    t.is((await waiting).status, 400)
  })
}

test('compressed bodies have places for the octets that they become', async (t) => {
  const { id, secret } = account()
  const free = fill(service().system.bounds.bodies.accounts, `bodies of ${id}`)
  const body = gzipSync(Buffer.alloc(LARGEST - 10, ' '))
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', Authorization: `Token ${secret}` }
  const send = async () => (await fetch(`${service().url}/api/v1/domains/`, { method: 'POST', headers, body })).status
  t.is(await send(), 429)
  free()
  t.is(await send(), 400)
})

test('a client may leave after its body was refused', async (t) => {
  const { socket, answer } = await begin('/api/v1/auth/login/', ['Transfer-Encoding: chunked'], 0, '127.0.0.5')
  socket.write(`20000\r\n${' '.repeat(0x20000)}\r\n2\r\n{`)
  socket.on('data', () => socket.resetAndDestroy())
  await answer
  t.is(await statusOfLogin('127.0.0.5'), 403)
})
