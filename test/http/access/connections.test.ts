import test from 'ava'
import { CONNECTIONS_PER_CLIENT } from '../../../src/limits.ts'
import { exchange, type Held, hold, plainRequest } from '../../support/clients/raw.ts'
import { eventually } from '../../support/eventually.ts'
import { type TestService, withService } from '../../support/harness.ts'

// Contract §16: connections of one client.

const REQUEST = plainRequest('GET /healthz')

/** Whether a new connection from this address is served. */
async function isServed({ url }: TestService, from: string): Promise<boolean> {
  const { answer } = await hold(url, REQUEST, from)
  return (await answer.catch(() => undefined))?.status === 200
}

async function fill({ url }: TestService, from: string): Promise<Held[]> {
  const held: Held[] = []
  for (let i = 0; i < CONNECTIONS_PER_CLIENT; i++) {
    const open = await hold(url, '', from)
    open.answer.catch(() => undefined)
    held.push(open)
  }
  return held
}

function close(held: Held[]): void {
  for (const { socket } of held) socket.destroy()
}

test.serial('a client that has 1,000 connections gets no more until it closes one; others are served', async (t) => {
  await withService({}, async (service) => {
    const held = await fill(service, '127.0.0.2')
    t.false(await isServed(service, '127.0.0.2'))
    t.true(await isServed(service, '127.0.0.3'))
    held[0]!.socket.destroy()
    await eventually(() => isServed(service, '127.0.0.2'))
    close(held)
  })
})

test.serial('a trusted proxy may have any number of connections', async (t) => {
  await withService({ TRUSTED_PROXIES: '127.0.0.2' }, async (service) => {
    const held = await fill(service, '127.0.0.2')
    t.true(await isServed(service, '127.0.0.2'))
    t.is((await exchange(service.url, REQUEST)).status, 200)
    close(held)
  })
})
