import test from 'ava'
import { newDomain, rrset } from '../../support/clients/api.ts'
import { discrepanciesInTheEnd } from '../../support/dns/discrepancies.ts'
import { useServers } from '../../support/harness.ts'
import { startPgbouncer } from '../../support/servers/postgres/pgbouncer.ts'
import { runOurs } from '../../support/servers/programs.ts'
import { environmentFor } from '../../support/servers/service.ts'

const servers = useServers()

test.afterEach.always(() => servers().killServices())

test.serial('through a PgBouncer with pool_mode = session, the service works', async (t) => {
  const bouncer = await startPgbouncer(servers().backends.databaseUrl, 'session')
  t.teardown(bouncer.drop)
  const { api } = await servers().start({ DATABASE_URL: bouncer.url })
  const names = await Promise.all(['a.example', 'b.example', 'c.example'].map((name) => newDomain(api, name)))
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const domain = names[i % 3]!
      return api.put(`/domains/${domain}/rrsets/`, [rrset({ subname: `r${i}` })])
    }),
  )
  for (const { status } of answers) t.is(status, 200)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  await servers().killServices()
})

for (const mode of ['transaction', 'statement'] as const) {
  test.serial(`a PgBouncer with pool_mode = ${mode} is refused, by the service and by a command`, async (t) => {
    const bouncer = await startPgbouncer(servers().backends.databaseUrl, mode)
    t.teardown(bouncer.drop)
    for (const args of [['start'], ['account', 'list']]) {
      const [code, output] = await runOurs(args, environmentFor(servers().backends, { DATABASE_URL: bouncer.url }))
      t.is(code, 1)
      t.regex(output, /^zoneplane: DATABASE_URL leads to a pooler .* Zoneplane needs pool_mode = session/m)
    }
  })
}
