import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLAIM_LIFETIME } from '../../src/limits.ts'
import { IDLE_TIMEOUT } from '../../src/store/connections/session.ts'
import { startWithCaches } from '../support/caches.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { newDomainWithWww, sendHeld } from '../support/clients/api.ts'
import { addressAt, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServed, useServers } from '../support/harness.ts'
import type { Call } from '../support/servers/proxy.ts'
import { breakTransactions } from '../support/state/transactions.ts'

// The sender of a request stands still, or PowerDNS takes long (crashes.md). The tests
// after the first one wait for IDLE_TIMEOUT, at the same time.

const servers = useServers()
const service = useServed(servers)

const rrset = (address: string, subname = 'www') => ({ subname, type: 'A', ttl: 300, records: [address] })
const write = ({ api }: Pick<OwnService, 'api'>, name: string, address: string) =>
  api.put(`/domains/${name}/rrsets/www/A/`, rrset(address))
const isPatch = ({ method }: Call) => method === 'PATCH'
const isPatchOf = (name: string) => (call: Call) => isPatch(call) && call.path === `/zones/${name}.`
/** The question for the zone's serial, before its change is sent, by a service that asks the API. */
const isQuestion = ({ method, path }: Call) => method === 'GET' && path.startsWith('/zones?zone=stood-still.example.')

/** The address of `www` at PowerDNS. */
const served = (name: string) => addressAt(servers(), `www.${name}`, name)

test.serial('a process that stood still sends nothing after another has taken over', async (t) => {
  const name = 'stood-still.example'
  await newDomainWithWww(service().api, name)
  const first = await startWithCaches(servers())
  const { answering, release } = await sendHeld(servers(), isQuestion, () => write(first, name, '192.0.2.2'))
  first.signal('SIGSTOP')
  await breakTransactions(servers())
  t.is((await write(service(), name, '192.0.2.3')).status, 200)
  servers().proxy.calls.length = 0
  release('pass')
  // For longer than it relies on its claim.
  await sleep(CLAIM_LIFETIME)
  first.signal('SIGCONT')
  t.is((await answering).status, 503)
  t.deepEqual(servers().proxy.calls.filter(isPatch), [])
  t.is(await served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  await first.kill()
})

test('a process that stands still loses the zone to others after IDLE_TIMEOUT', async (t) => {
  const name = 'stands-still.example'
  await newDomainWithWww(service().api, name)
  const first = await servers().start()
  const { answering, release } = await sendHeld(servers(), isPatchOf(name), () => write(first, name, '192.0.2.2'))
  first.signal('SIGSTOP')
  t.is((await write(service(), name, '192.0.2.3')).status, 503)
  await eventuallyIs(async () => (await write(service(), name, '192.0.2.3')).status, 200)
  release('cut')
  first.signal('SIGCONT')
  t.is((await answering).status, 503)
  t.is(await served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('a push may take longer than IDLE_TIMEOUT', async (t) => {
  const name = 'long-push.example'
  // A large write takes all the room of its account.
  const { api } = await createAccount(servers().system, service().url)
  t.is((await api.post('/domains/', { name })).status, 201)
  const push = servers().proxy.stop(isPatchOf(name))
  // PowerDNS has more time for many RRsets.
  const many = Array.from({ length: 2_000 }, (_, i) => rrset('192.0.2.2', `n${i}`))
  const answering = api.patch(`/domains/${name}/rrsets/`, many)
  await push.arrived
  await sleep(IDLE_TIMEOUT + 1_000)
  push.release('pass')
  t.is((await answering).status, 200)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})
