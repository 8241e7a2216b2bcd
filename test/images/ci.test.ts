import test from 'ava'
import { findPorts, HOST } from '../../src/private-servers/ports.ts'
import { Client } from '../support/clients/client.ts'
import { dig, isServed } from './answers.ts'
import { memory, ready, start, TOKEN } from './ci-container.ts'
import { hasCiImage } from './compose.ts'
import { clear, healthy, stop } from './services.ts'

const withImage = process.env['TEST_IMAGES'] === 'on' && hasCiImage() ? test.serial : test.serial.skip

withImage('the image for CI serves as any user without privileges, from a root that nobody can write to', async (t) => {
  await clear()
  t.teardown(clear)
  const ports = await findPorts({ api: 0, dns: 0 }, [HOST])
  await start(ports)
  await ready(ports)
  await healthy('ci')
  const client = new Client(`http://127.0.0.1:${ports.api}`, TOKEN)
  const rrset = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  const answer = await client.post('/domains/example.test/rrsets/', rrset)
  t.is(answer.status, 201, answer.text)
  const served = await dig(['@127.0.0.1', '-p', String(ports.dns), 'www.example.test', 'A'])
  t.true(isServed(served, 'www.example.test', '192.0.2.1'), served)
  t.log(`${await memory()} MiB (PSS)`)
  t.is(await stop('ci'), 0)
})
