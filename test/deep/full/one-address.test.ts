import test from 'ava'
import { newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import { type Key, keyFor, nsupdate, transferred } from '../../support/clients/dns-update.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { freePort } from '../../support/servers/ports.ts'
import { startExample } from '../../support/servers/postgres/examples.ts'
import type { RestartableServer } from '../../support/servers/secondaries.ts'

// One address for all, as docs/operators/dns-update.md has it: dnsdist with the file of docs/examples.

const servers = useServers()
let first: TestProcess
let dnsdist: RestartableServer
let zone: string
/** Of a token that may be used from 127.0.0.2 alone. */
let key: Key

test.serial.before(async () => {
  const ports = [await freePort(), await freePort()] as const
  const settings = { DNS_UPDATE_HOST: '127.0.0.1', TRUSTED_PROXIES: '127.0.0.1' }
  first = await servers().start({ ...settings, DNS_UPDATE_PORT: String(ports[0]) })
  const second = await servers().start({ ...settings, DNS_UPDATE_PORT: String(ports[1]) })
  const places = new Map([
    [11, ports[0]],
    [12, ports[1]],
    [30, await freePort()],
    [31, servers().powerDns.dnsPort],
  ] as const)
  dnsdist = await startExample('dnsdist.conf', { ports: places, secret: '' })
  zone = await newDomain(second.api)
  await newRRset(second.api, zone, { subname: 'old' })
  const { json } = succeeded(await second.api.post('/auth/tokens/', { allowed_subnets: ['127.0.0.2/32'] }), 201)
  key = await keyFor(second.api, (json as { id: string }).id)
})

test.after.always(() => dnsdist.kill())

const update = (local: string, line: string, options: { tcp?: boolean; zone?: string } = {}) =>
  nsupdate({ port: dnsdist.dnsPort, key, ...options }, `local ${local}`, line)

for (const tcp of [false, true])
  test.serial(
    `${tcp ? 'TCP' : 'UDP'}: updates and questions reach whom they are for, with the client's address`,
    async (t) => {
      const label = `by-${tcp}`
      t.is(await update('127.0.0.2', `add ${label}.${zone} 300 A 192.0.2.1`, { tcp, zone }), 'NOERROR')
      t.is(await update('127.0.0.2', `add more-${label}.${zone} 300 A 192.0.2.1`, { tcp }), 'NOERROR')
      t.is(await update('127.0.0.1', `add no.${zone} 300 A 192.0.2.1`, { tcp, zone }), 'REFUSED')
      t.deepEqual(await lookUp(dnsdist, `${label}.${zone}`, 'A'), ['192.0.2.1'])
      t.deepEqual(await lookUp(dnsdist, `no.${zone}`, 'A'), [])
    },
  )

test.serial('a transfer with the key has what the API shows', async (t) => {
  const lines = await transferred({ port: dnsdist.dnsPort, key, zone, from: '127.0.0.2' })
  t.is(lines.filter((line) => /^old\./.test(line)).length, 1)
  t.is(lines.filter((line) => /DNSKEY|RRSIG/.test(line)).length, 0)
})

test.serial('when the first process is down, the second one takes the updates', async (t) => {
  await first.kill()
  await eventuallyIs(async () => update('127.0.0.2', `add later.${zone} 300 A 192.0.2.1`, { zone }), 'NOERROR')
  t.deepEqual(await lookUp(dnsdist, `later.${zone}`, 'A'), ['192.0.2.1'])
})
