import test from 'ava'
import { CONNECTIONS_PER_CLIENT } from '../../../src/limits.ts'
import { newDomain } from '../../support/clients/api.ts'
import { exchange, type Held, hold, plainRequest } from '../../support/clients/raw.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { type TestService, withService } from '../../support/harness.ts'

// Contract §16: connections of one client.

const REQUEST = plainRequest('GET /healthz')

/** A request after which the connection stays open. */
function pipelined(line: string, token: string, body = ''): string {
  const type = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]
  return [`${line} HTTP/1.1`, 'Host: api.test', `Authorization: Token ${token}`, ...type, '', body].join('\r\n')
}

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

/** A connection with a write that waits in PowerDNS, the deletion of the token `spare`, and 30 reads. */
async function holdMany(service: TestService) {
  const { id, secret, api } = await service.account()
  const domain = await newDomain(api)
  const { id: spare } = await addToken(service, id)
  const { secret: manager } = await addToken(service, id, { permManageTokens: true })
  const rrset = JSON.stringify({ subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
  const stopped = service.proxy.stop(({ method }) => method === 'PATCH')
  const held = await hold(
    service.url,
    pipelined(`POST /api/v1/domains/${domain}/rrsets/`, secret, rrset) +
      pipelined(`DELETE /api/v1/auth/tokens/${spare}/`, manager) +
      pipelined('GET /api/v1/', manager).repeat(30),
  )
  await stopped.arrived
  return { ...held, stopped, spare, manager, domain, api }
}

test.serial('of the requests that a client sends at once on a connection, one is in work', async (t) => {
  await withService({}, async (service) => {
    const { socket, answer, stopped, spare, manager } = await holdMany(service)
    // Later requests of other connections are answered meanwhile, and this one's are not begun.
    for (let i = 0; i < 20; i++) t.is((await service.clientOf(manager).get(`/auth/tokens/${spare}/`)).status, 200)
    stopped.release('pass')
    await eventually(async () => (await service.clientOf(manager).get(`/auth/tokens/${spare}/`)).status === 404)
    socket.write(plainRequest('GET /healthz'))
    const { head, body } = await answer
    const statuses = `${head}\r\n${body}`.match(/HTTP\/1\.1 \d{3}/g)
    t.deepEqual(
      statuses,
      ['201', '204', ...Array<string>(31).fill('200')].map((status) => `HTTP/1.1 ${status}`),
    )
  })
})

test.serial('what a client has sent is not begun if its connection is gone', async (t) => {
  await withService({}, async (service) => {
    const { socket, stopped, spare, manager, domain, api } = await holdMany(service)
    socket.destroy()
    stopped.release('pass')
    // The first one is done all the same.
    await eventually(async () => (await api.get(`/domains/${domain}/rrsets/www/A/`)).status === 200)
    t.is((await service.clientOf(manager).get(`/auth/tokens/${spare}/`)).status, 200)
  })
})

test.serial('requests of a connection that is gone leave no places behind', async (t) => {
  await withService({}, async (service) => {
    const { id, secret, api } = await service.account()
    const domain = await newDomain(api)
    const { bodies, readers } = service.system.bounds
    const rrset = JSON.stringify({ subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
    const list = pipelined(`GET /api/v1/domains/${domain}/rrsets/?cursor=`, secret)
    const login = plainRequest('POST /api/v1/auth/login/', ['Content-Type: application/json'], '{}'.padEnd(30_000))
    for (const first of [pipelined(`POST /api/v1/domains/${domain}/rrsets/`, secret, rrset), list, login]) {
      const stopped = service.proxy.stop(({ method }) => method === 'PATCH')
      const { socket } = await hold(service.url, first + (list + login.replace('close', 'keep-alive')).repeat(20))
      if (first.startsWith('POST /api/v1/domains')) await stopped.arrived
      socket.destroy()
      stopped.release('pass')
    }
    // All that one caller can have.
    for (const [budget, caller, count] of [
      [bodies.strangers, 'bodies of 127.0.0.1', 1024 * 1024],
      [readers, `readers of ${id}`, 4],
    ] as const) {
      await eventually(() => {
        const release = budget.tryTake(caller, { count })
        release?.()
        return release !== undefined
      })
    }
    t.is((await api.get(`/domains/${domain}/rrsets/?cursor=`)).status, 200)
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
