import type { Account } from '../../support/clients/accounts.ts'
import { type Held, hold, plainRequest, type RawAnswer } from '../../support/clients/raw.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §1.3: how many octets of unfinished bodies are held, for each caller and for all.

const service = useService()
const THROTTLED = '{"detail":"Request was throttled. Expected available in 1 second."}'

const held: Held[] = []
const account = useAccount(service)
const other = useAccount(service)

test.afterEach.always('the connections are closed', () => {
  for (const { socket } of held.splice(0)) socket.destroy()
})

/** Begins a request with a body that does not end. */
async function begin(path: string, headers: string[], from?: string): Promise<Held> {
  const head = plainRequest(`POST ${path}`, ['Content-Type: application/json', ...headers])
  const unfinished = await hold(service().url, `${head}2\r\n{}\r\n`, from)
  held.push(unfinished)
  return unfinished
}

const CHUNKED = 'Transfer-Encoding: chunked'
const login = (from: string) => begin('/api/v1/auth/login/', [CHUNKED], from)
const creation = ({ secret }: Account) => begin('/api/v1/domains/', [CHUNKED, `Authorization: Token ${secret}`])

/** Begins so many requests, and returns the first answer to one of them. */
async function firstAnswer(count: number, begun: (i: number) => Promise<Held>): Promise<RawAnswer> {
  const unfinished = await Promise.all(Array.from({ length: count }, (_, i) => begun(i)))
  return Promise.race(unfinished.map(({ answer }) => answer))
}

/** The status of a complete login of nobody. @param size octets of its body */
async function statusOfLogin(from: string, size = 32 * 1024): Promise<number> {
  const body = '{"email":"nobody@example.test","password":"wrong password"}'.padEnd(size)
  const octets = plainRequest('POST /api/v1/auth/login/', ['Content-Type: application/json'], body)
  return (await (await hold(service().url, octets, from)).answer).status
}

test('an address has unfinished bodies of 1 MiB at most, and others are not affected', async (t) => {
  const { status, body } = await firstAnswer(17, () => login('127.0.0.2'))
  t.deepEqual([status, body], [429, THROTTLED])
  t.is(await statusOfLogin('127.0.0.2'), 429)
  t.is(await statusOfLogin('127.0.0.3'), 403)
  for (const { socket } of held) socket.destroy()
  await eventuallyIs(() => statusOfLogin('127.0.0.2'), 403)
})

test('addresses have unfinished bodies of 32 MiB at most together', async (t) => {
  const { status } = await firstAnswer(513, (i) => login(`127.0.1.${i >> 3}`))
  t.is(status, 429)
  t.is(await statusOfLogin('127.0.2.1'), 429)
  t.is(await statusOfLogin('127.0.2.1', 100), 403, 'a small one still arrives')
  t.is((await account().api.post('/domains/', {})).status, 400)
  for (const { socket } of held) socket.destroy()
  await eventuallyIs(() => statusOfLogin('127.0.2.1'), 403)
})

test('an account has four unfinished bodies at most of the largest size, and others are not affected', async (t) => {
  const { status, body } = await firstAnswer(5, () => creation(account()))
  t.deepEqual([status, body], [429, THROTTLED])
  t.is((await account().api.get('/domains/')).status, 200)
  t.is((await other().api.post('/domains/', {})).status, 400)
  for (const { socket } of held) socket.destroy()
  await eventuallyIs(async () => (await account().api.post('/domains/', {})).status, 400)
})

test('while three accounts hold the room of all with bodies that do not arrive, others can send small ones', async (t) => {
  const accounts = await Promise.all(Array.from({ length: 3 }, () => service().account()))
  const { status } = await firstAnswer(13, (i) => creation(accounts[i % 3]!))
  t.is(status, 429)
  t.is((await other().api.post('/domains/', {})).status, 400)
  t.is((await other().api.post('/domains/', { zonefile: ' '.repeat(16 * 1024) })).status, 429)
})

test('a body whose length is announced counts with this length', async (t) => {
  const short = () => begin('/api/v1/domains/', ['Content-Length: 10', `Authorization: Token ${account().secret}`])
  for (let i = 0; i < 40; i++) await short()
  t.is((await account().api.post('/domains/', {})).status, 400)
})

test('a client may leave after its body was refused', async (t) => {
  const { socket, answer } = await begin('/api/v1/auth/login/', [CHUNKED], '127.0.0.5')
  socket.write(`20000\r\n${' '.repeat(0x20000)}\r\n2\r\n{`)
  socket.on('data', () => socket.resetAndDestroy())
  await answer
  t.is(await statusOfLogin('127.0.0.5'), 403)
})
