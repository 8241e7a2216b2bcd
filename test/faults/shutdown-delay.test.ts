import { Pool } from 'undici'
import { newDomain, rrset } from '../support/clients/api.ts'
import { eventuallyHas } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'

const servers = useServers()

/** The longest, in seconds. */
const DELAY = 40

test.afterEach.always(() => servers().killServices())

test('during SHUTDOWN_DELAY, the readiness is 503 and everything else is answered as before; a second signal ends it', async (t) => {
  const service = await servers().start({ SHUTDOWN_DELAY: String(DELAY) })
  const name = await newDomain(service.api)
  t.is((await service.anonymous.get('//root/readyz')).status, 200)
  const start = performance.now()
  service.signal('SIGTERM')
  await eventuallyHas(() => service.output(), 'SIGTERM: stopping')
  const ready = await service.anonymous.get('//root/readyz')
  t.deepEqual([ready.status, ready.text], [503, '{"status":"stopping"}'])
  t.is(ready.headers['retry-after'], '5')
  t.is((await service.anonymous.get('//root/healthz')).status, 200)
  t.is((await service.api.post(`/domains/${name}/rrsets/`, rrset())).status, 201)
  // Whoever keeps connections open is told to open no more requests on them.
  const pool = new Pool(service.url, { connections: 1 })
  const { headers, body } = await pool.request({ path: '/healthz', method: 'GET' })
  await body.dump()
  t.is(headers['connection'], 'close')
  await pool.destroy()
  service.signal('SIGTERM')
  t.is(await service.ended, 0)
  t.true(performance.now() - start < DELAY * 1_000, 'the second signal did not end it')
})

test('after SHUTDOWN_DELAY, the service ends by itself', async (t) => {
  const service = await servers().start({ SHUTDOWN_DELAY: '1' })
  service.signal('SIGTERM')
  t.is(await service.ended, 0)
})
