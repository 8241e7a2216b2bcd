import test from 'ava'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { sendHeld } from '../support/clients/api.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { unrepaired } from '../support/state/marks.ts'

// If somebody else made a zone at PowerDNS, the domain cannot be created, and the service never changes the zone,
// whatever fails meanwhile (contract §7.3).

const servers = useServers()
let service: OwnService

test.serial.before('a service is started', async () => {
  service = await servers().serve()
})

const CONFLICT = '{"name":["This domain name conflicts with an existing domain, or is disallowed by policy."]}'

const isQuestion = (name: string) => (call: Call) => call.path === `/zones?zone=${name}.&dnssec=false`
const isCreation = (name: string) => (call: Call) => call.method === 'POST' && call.body.includes(name)
const create = (name: string) => service.api.post('/domains/', { name })

/** Makes a zone directly at PowerDNS, like an operator; returns it as PowerDNS shows it. */
async function makeForeignZone(name: string): Promise<unknown> {
  const records = [{ content: '192.0.2.99', disabled: false }]
  const { status } = await servers().pdns('POST', '/zones', {
    name: `${name}.`,
    kind: 'Native',
    nameservers: ['ns.foreign.example.'],
    rrsets: [{ name: `www.${name}.`, type: 'A', ttl: 60, records }],
  })
  if (status !== 201) throw new Error(`PowerDNS answered ${status}`)
  return zoneAtPowerDns(name)
}

const zoneAtPowerDns = async (name: string) => (await servers().pdns('GET', `/zones/${name}.`)).json

const isRepaired = (zone: string) => eventuallyIs(() => unrepaired(servers(), zone), [])

const fates: Record<string, Fate> = { 'fails with 500': { refuse: 500 }, 'loses the connection': 'cut' }

for (const [how, fate] of Object.entries(fates)) {
  test(`if PowerDNS ${how} when asked whether the zone exists, the answer is 503, and a retry is answered 400`, async (t) => {
    const name = `asked-${fate === 'cut' ? 'cut' : 'failure'}.example`
    const foreign = await makeForeignZone(name)
    servers().proxy.stop(isQuestion(name)).release(fate)
    t.is((await create(name)).status, 503)
    t.deepEqual(await unrepaired(servers(), name), [])
    t.is((await create(name)).text, CONFLICT)
    t.deepEqual(await zoneAtPowerDns(name), foreign)
  })
}

test.serial('nothing is marked before PowerDNS has said whether it has the zone', async (t) => {
  const name = 'unknown.example'
  const { answering, release } = await sendHeld(servers(), isQuestion(name), () => create(name))
  // Meanwhile another creation, which begins later, is marked, published and answered.
  const { api } = await createAccount(servers().system, service.url)
  t.is((await api.post('/domains/', { name: 'known.example' })).status, 201)
  t.deepEqual(await query(servers().system.db, 'select from marks where zone = :name', { name }), [])
  release('pass')
  t.is((await answering).status, 201)
})

test.serial('a zone that somebody else makes during the creation is left alone, and the answer is 400', async (t) => {
  const name = 'between.example'
  const { answering, release } = await sendHeld(servers(), 'POST', () => create(name))
  const foreign = await makeForeignZone(name)
  release('pass')
  const answer = await answering
  t.is(answer.status, 400)
  t.is(answer.text, CONFLICT)
  await isRepaired(name)
  t.deepEqual(await zoneAtPowerDns(name), foreign)
})

for (const [how, fate] of Object.entries(fates)) {
  for (const first of ['repair', 'a retry']) {
    test(`if a creation ${how} after somebody else made the zone, ${first} leaves the zone alone`, async (t) => {
      const name = `${first.replace('a ', '')}-${fate === 'cut' ? 'cut' : 'failure'}.example`
      const { answering, release } = await sendHeld(servers(), isCreation(name), () => create(name))
      const foreign = await makeForeignZone(name)
      release(fate)
      t.is((await answering).status, 503)
      if (first === 'repair') await isRepaired(name)
      t.deepEqual(await zoneAtPowerDns(name), foreign)
      t.is((await create(name)).text, CONFLICT)
      await isRepaired(name)
      t.deepEqual(await zoneAtPowerDns(name), foreign)
    })
  }
}

test.serial('a zone that somebody else makes after the creating service was killed is left alone', async (t) => {
  const name = 'dead.example'
  await service.stop()
  const victim = await servers().start()
  const stopped = servers().proxy.stop(({ method }) => method === 'POST')
  const answering = victim.api.post('/domains/', { name }).catch(() => undefined)
  await stopped.arrived
  await victim.kill()
  await answering
  stopped.release('cut')
  const foreign = await makeForeignZone(name)
  service = await servers().serve()
  await isRepaired(name)
  t.deepEqual(await zoneAtPowerDns(name), foreign)
  t.is((await create(name)).text, CONFLICT)
})

test.serial('once somebody else’s zone is deleted, the domain can be created', async (t) => {
  await makeForeignZone('taken.example')
  t.is((await create('taken.example')).text, CONFLICT)
  await servers().pdns('DELETE', '/zones/taken.example.')
  t.is((await create('taken.example')).status, 201)
  t.deepEqual(await discrepanciesOf(servers(), 'taken.example'), [])
})
