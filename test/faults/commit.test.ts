import test from 'ava'
import { begin, query } from '../../src/store/database.ts'
import { newDomain, newDomainWithWww } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { type CommitFate, type PostgresProxy, startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'
import { unrepaired } from '../support/state/marks.ts'

// The connection to Postgres breaks while a write commits (crashes.md).

const servers = useServers()
let proxy: PostgresProxy
let service: OwnService
/** With several, the commit also asks which one is active. */
let withTwo: OwnService

test.serial.before('services are started behind a proxy of Postgres', async () => {
  const { databaseUrl, pdnsApiUrl } = servers().backends
  proxy = await startPostgresProxy(databaseUrl)
  service = await servers().serve({ DATABASE_URL: proxy.url })
  const PDNS_API_URL = `${pdnsApiUrl}, http://127.0.0.1:1`
  withTwo = await servers().serve({ DATABASE_URL: proxy.url, PDNS_API_URL, PDNS_FAILOVER: '0' })
})

const SERVICES = { 'one PowerDNS': () => service, 'two PowerDNS': () => withTwo }

test.afterEach.always(() => {
  proxy.refuse(false)
  proxy.atCommit(() => 'pass')
})

test.after.always(async () => {
  await servers().killServices()
  await proxy.close()
})

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })
const NOT_MADE = {
  detail:
    'The DNS backend is currently unavailable. The change was not made, but DNS can show it for a moment; please retry.',
}

/** Applies a fate to the next COMMIT of a write to a zone; later ones pass. */
function once(fate: CommitFate): void {
  let isDone = false
  proxy.atCommit(() => {
    if (isDone) return 'pass'
    isDone = true
    return fate
  })
}

/** Applies a fate to the COMMIT of the write whose push is held back, not to that of its mark. */
async function writeWith({ api }: OwnService, name: string, address: string, atPush: () => void | Promise<void>) {
  const push = servers().proxy.stop(({ method }) => method === 'PATCH')
  const answering = api.put(`/domains/${name}/rrsets/www/A/`, rrset(address))
  await push.arrived
  await atPush()
  push.release('pass')
  return answering
}

for (const [what, of] of Object.entries(SERVICES)) {
  test.serial(
    `with ${what}, a write whose commit is carried out is answered 200, although the connection breaks`,
    async (t) => {
      const name = await newDomainWithWww(service.api)
      const answer = await writeWith(of(), name, '192.0.2.2', () => {
        once('swallow')
      })
      t.is(answer.status, 200)
      t.like((await service.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.2'] })
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    },
  )

  for (const fate of ['cut', 'forget'] as const) {
    test.serial(
      `with ${what}, a write whose commit is not carried out (${fate}) is answered 503 and leaves nothing`,
      async (t) => {
        const name = await newDomainWithWww(service.api)
        const answer = await writeWith(of(), name, '192.0.2.2', () => {
          once(fate)
        })
        t.is(answer.status, 503)
        t.deepEqual(answer.json, NOT_MADE)
        t.like((await service.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
        t.deepEqual(await discrepanciesOf(servers(), name), [])
      },
    )
  }

  test.serial(`with ${what}, if Postgres stays away, the answer says that the outcome is unknown`, async (t) => {
    const name = await newDomainWithWww(service.api)
    const answer = await writeWith(of(), name, '192.0.2.2', () => {
      proxy.refuse(true)
      // The idle connections of the pools break, too.
      proxy.atCommit(() => {
        setImmediate(() => {
          proxy.cut()
        })
        return 'swallow'
      })
    })
    t.is(answer.status, 503)
    t.deepEqual(answer.json, {
      detail:
        'The DNS backend is currently unavailable. Whether the change was made is unknown; please check, then retry.',
    })
    t.truthy(answer.headers['retry-after'])
    proxy.refuse(false)
    proxy.atCommit(() => 'pass')
    await eventuallyIs(async () => (await service.api.get(`/domains/${name}/rrsets/www/A/`)).status, 200)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })

  test.serial(`with ${what}, a write whose mark is locked at its end is answered 503 and leaves nothing`, async (t) => {
    const name = await newDomainWithWww(service.api)
    await using lock = await begin(servers().system.pools.writers)
    const answer = await writeWith(of(), name, '192.0.2.2', async () => {
      await query(lock.db, 'select from marks where zone = :name for update', { name })
    })
    t.is(answer.status, 503)
    t.regex((answer.json as { detail: string }).detail, /The change was not made, but DNS can show it/)
    await lock.commit()
    await eventuallyIs(() => unrepaired(servers(), name), [])
    t.like((await service.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })
}

test.serial('a token whose commit is carried out is answered 201, although the connection breaks', async (t) => {
  const before = (await service.api.get('/auth/tokens/')).json as unknown[]
  once('swallow')
  const answer = await service.api.post('/auth/tokens/', { name: 'made' })
  t.is(answer.status, 201)
  const { token } = answer.json as { token: string }
  t.is((await service.clientOf(token).get('/domains/')).status, 200)
  t.is(((await service.api.get('/auth/tokens/')).json as unknown[]).length, before.length + 1)
})

test.serial('the answer about a rollover is what was committed, although Postgres fails afterwards', async (t) => {
  const name = await newDomain(service.api, 'rolled.example')
  const path = `/domains/${name}/rollover/`
  /** Postgres is away from the moment at which the keys go to PowerDNS: they are committed then. */
  const failingAfter = async (send: () => Promise<Answer>) => {
    const publication = servers().proxy.stop(({ method }) => method !== 'GET')
    const answering = send()
    await publication.arrived
    proxy.refuse(true)
    proxy.cut()
    publication.release('pass')
    const answer = await answering
    proxy.refuse(false)
    await eventuallyIs(async () => (await service.api.get('/domains/')).status, 200)
    await eventuallyIs(() => unrepaired(servers(), name), [])
    return answer
  }
  const begun = await failingAfter(() => service.api.post(path, {}))
  t.is(begun.status, 201)
  // What it waits for may be done since.
  const found = (await service.api.get(path)).json as { waits_for: string }
  t.deepEqual(found, { ...(begun.json as object), waits_for: found.waits_for })
  t.is((await failingAfter(() => service.api.delete(path))).status, 204)
  t.is((await service.api.get(path)).status, 404)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})
