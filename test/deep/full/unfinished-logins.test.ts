import test from 'ava'
import { type Held, hold, plainRequest } from '../../support/clients/raw.ts'
import { useServers } from '../../support/harness.ts'
import { resident } from '../../support/servers/resident.ts'

const servers = useServers()
const CONNECTIONS = 2000
const SIZE = 64 * 1024

test.serial('2,000 unfinished logins keep the process below 400 MiB, and end after 60 seconds', async (t) => {
  const service = await servers().start({ THROTTLE: 'on', NODE_OPTIONS: '--max-old-space-size=1024' })
  const head = plainRequest('POST /api/v1/auth/login/', ['Content-Type: application/json', `Content-Length: ${SIZE}`])
  const start = performance.now()
  const held: Held[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    held.push(await hold(service.url, head + ' '.repeat(SIZE - 1), `127.0.${i % 100}.1`))
  }
  t.is((await service.api.get('/domains/')).status, 200)
  const login = { email: 'nobody@example.test', password: 'wrong password' }
  t.is((await service.anonymous.post('/auth/login/', login)).status, 403)
  const answers = await Promise.all(held.map(({ answer }) => answer))
  const statuses = new Set(answers.map(({ status }) => status))
  t.deepEqual(statuses, new Set([408, 429]))
  const late = answers.find(({ status }) => status === 408)!
  t.is(late.headers['connection'], 'close')
  t.is(late.body, '{"detail":"Request timed out."}')
  t.true(performance.now() - start > 59_000)
  t.is((await service.anonymous.post('/auth/login/', login)).status, 403)
  const peak = resident(service.pid, 'VmHWM') / 1024
  t.true(peak < 400, `${peak} MiB`)
})
