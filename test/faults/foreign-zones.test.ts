import test from 'ava'
import { query } from '../../src/store/database.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Fate } from '../support/servers/proxy.ts'

// A zone that somebody else made at PowerDNS is refused, and never touched, whatever fails meanwhile (contract §7.3).

const servers = useServers()
let service: TestProcess

test.serial.before('a service is started', async () => {
  service = await servers().start()
})

const CONFLICT = '{"name":["This domain name conflicts with an existing domain, or is disallowed by policy."]}'

const create = (name: string) => service.api.post('/domains/', { name })

/** Makes a zone as an operator would. */
async function makeForeign(name: string): Promise<unknown> {
  const records = [{ content: '192.0.2.99', disabled: false }]
  const { status } = await servers().pdns('POST', '/zones', {
    name: `${name}.`,
    kind: 'Native',
    nameservers: ['ns.foreign.example.'],
    rrsets: [{ name: `www.${name}.`, type: 'A', ttl: 60, records }],
  })
  if (status !== 201) throw new Error(`PowerDNS answered ${status}`)
  return look(name)
}

const look = async (name: string) => (await servers().pdns('GET', `/zones/${name}.`)).json

async function unmarked(zone: string): Promise<void> {
  await eventually(
    async () => (await query(servers().system.db, 'select from marks where zone = :zone', { zone })).length === 0,
  )
}

test.serial('a domain that is a zone of somebody else already is answered 400', async (t) => {
  const zone = await makeForeign('taken.example')
  const answer = await create('taken.example')
  t.is(answer.status, 400)
  t.is(answer.text, CONFLICT)
  t.deepEqual(await look('taken.example'), zone)
})

const fates: Record<string, Fate> = { 'fails with 500': { refuse: 500 }, 'loses the connection': 'cut' }

for (const [how, fate] of Object.entries(fates)) {
  test(`if PowerDNS ${how} when it is asked for the zone, the answer is 503, and 400 later`, async (t) => {
    const name = `asked-${fate === 'cut' ? 'cut' : 'failure'}.example`
    const foreign = await makeForeign(name)
    servers()
      .proxy.stop(({ path }) => path === `/zones/${name}.?rrsets=false`)
      .release(fate)
    t.is((await create(name)).status, 503)
    t.deepEqual(await query(servers().system.db, 'select from marks where zone = :name', { name }), [])
    t.is((await create(name)).text, CONFLICT)
    t.deepEqual(await look(name), foreign)
  })
}

test.serial('a zone made while the domain is being created is left alone, and the answer is 400', async (t) => {
  const name = 'between.example'
  const stopped = servers().proxy.stop(({ method }) => method === 'POST')
  const answering = create(name)
  await stopped.arrived
  const foreign = await makeForeign(name)
  stopped.release('pass')
  const answer = await answering
  t.is(answer.status, 400)
  t.is(answer.text, CONFLICT)
  await unmarked(name)
  t.deepEqual(await look(name), foreign)
})

for (const [how, fate] of Object.entries(fates)) {
  test(`a zone made after a creation that ${how} is left alone by repair`, async (t) => {
    const name = `after-${fate === 'cut' ? 'cut' : 'failure'}.example`
    const stopped = servers().proxy.stop(({ method, body }) => method === 'POST' && body.includes(name))
    const answering = create(name)
    await stopped.arrived
    const foreign = await makeForeign(name)
    stopped.release(fate)
    t.is((await answering).status, 503)
    await unmarked(name)
    t.deepEqual(await look(name), foreign)
    t.is((await create(name)).text, CONFLICT)
    t.deepEqual(await look(name), foreign)
  })

  test(`a zone made after a creation that ${how} is left alone by the retry`, async (t) => {
    const name = `retried-${fate === 'cut' ? 'cut' : 'failure'}.example`
    const stopped = servers().proxy.stop(({ method, body }) => method === 'POST' && body.includes(name))
    const answering = create(name)
    await stopped.arrived
    const foreign = await makeForeign(name)
    stopped.release(fate)
    t.is((await answering).status, 503)
    t.is((await create(name)).text, CONFLICT)
    await unmarked(name)
    t.deepEqual(await look(name), foreign)
  })
}

test.serial('a zone made while the service is dead that was about to create it is left alone', async (t) => {
  const name = 'dead.example'
  const stopped = servers().proxy.stop(({ method }) => method === 'POST')
  const answering = create(name).catch(() => undefined)
  await stopped.arrived
  await service.kill()
  await answering
  stopped.release('cut')
  const foreign = await makeForeign(name)
  service = await servers().start()
  await unmarked(name)
  t.deepEqual(await look(name), foreign)
  t.is((await create(name)).text, CONFLICT)
})

test.serial('once somebody else’s zone is gone, the domain can be created', async (t) => {
  await servers().pdns('DELETE', '/zones/taken.example.')
  t.is((await create('taken.example')).status, 201)
  t.deepEqual(await discrepanciesOf(servers(), 'taken.example'), [])
})
