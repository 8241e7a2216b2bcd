import test from 'ava'
import { query } from '../../src/store/database.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { loginOf } from '../support/clients/members.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { startReceiver } from '../support/webhooks/receivers.ts'

// Processes that die while they tell webhooks something (contract §22.3).

const servers = useServers()
const SETTINGS = { WEBHOOK_NETWORKS: '127.0.0.1' }

test('of two processes, one dies at each step: nothing is lost, and the order is kept', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const first = await servers().start(SETTINGS)
  const { api: login } = await loginOf({ system: servers().system, url: first.url }, servers().owner.id)
  succeeded(await login.post('/webhooks/', { url: receiver.url, events: ['rrsets', 'domains'] }), 201)

  // It dies when the receiver has something that it has not taken yet.
  receiver.answer = () => {
    first.signal('SIGKILL')
  }
  const domain = await newDomain(first.api)
  await first.ended
  const [id] = receiver.received.map((each) => each.id)
  receiver.answer = (response) => response.writeHead(204).end()

  // These two do everything at once; one of them dies after writes that nobody was told of, or while it tells of them.
  const [second, third] = await Promise.all([servers().start(SETTINGS), servers().start(SETTINGS)])
  const names = Array.from({ length: 6 }, (_, i) => `n${i}`)
  for (const subname of names) await newRRset(second.api, domain, { subname })
  await second.kill()
  await newRRset(third.api, domain, { subname: 'last' })

  const ids = () => [...new Set(receiver.received.map((each) => each.id))]
  await eventually(() => ids().length === 8)
  t.is(ids()[0], id)
  const told = ids().map((each) => receiver.received.find((received) => received.id === each)!.data!)
  const entries = await query<{ id: string }>(
    servers().system.db,
    'select id from history where domain_id is not null order by created, id',
  )
  t.deepEqual(
    told.map((each) => each.id),
    entries.map((each) => each.id),
  )
  await eventually(async () => {
    const waiting = await query(servers().system.db, `select from webhook_deliveries where status = 'waiting'`)
    return waiting.length === 0
  })
})
