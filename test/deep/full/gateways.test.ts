import test from 'ava'
import pLimit from 'p-limit'
import { newDomainWithWww } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { depth } from '../../support/depth.ts'
import { discrepanciesOf } from '../../support/dns/discrepancies.ts'
import { eventually } from '../../support/eventually.ts'
import { useServed, useServers } from '../../support/harness.ts'
import { type Call, GATEWAY_BODIES, toZone } from '../../support/servers/proxy.ts'

// A gateway before PowerDNS answers with each status and form of body, and passes the request on later (powerdns.md §2.2).

const servers = useServers()
const service = useServed(servers)

const rrset = (subname: string) => ({ subname, type: 'A', ttl: 300, records: ['192.0.2.2'] })

interface Write {
  what: string
  act: (api: Client, name: string) => Promise<Answer>
  call: (call: Call, name: string) => boolean
}

const isPatch = toZone('PATCH')
const WRITES: Write[] = [
  { what: 'change', act: (api, name) => api.put(`/domains/${name}/rrsets/www/A/`, rrset('www')), call: isPatch },
  {
    what: 'bulk change',
    act: (api, name) => api.put(`/domains/${name}/rrsets/`, [rrset('www'), ...['a', 'b', 'c'].map(rrset)]),
    call: isPatch,
  },
  {
    what: 'creation',
    act: (api, name) => api.post('/domains/', { name }),
    call: ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`),
  },
  {
    what: 'keys of a creation',
    act: (api, name) => api.post('/domains/', { name }),
    call: ({ path }, name) => path === `/zones/${name}./cryptokeys`,
  },
  { what: 'deletion', act: (api, name) => api.delete(`/domains/${name}/`), call: toZone('DELETE') },
]

const SECONDS = [1, 5, 12, 30]
const FORMS = Object.keys(GATEWAY_BODIES) as (keyof typeof GATEWAY_BODIES)[]

/** Each status with each form; over these, each write with each time. The short form has each write, time and form. */
const ALL = Array.from({ length: 200 }, (_, i) => 400 + i).flatMap((status) => FORMS.map((form) => ({ status, form })))
const ROWS = ALL.map((row, i) => {
  const turn = Math.floor(i / FORMS.length)
  return { ...row, write: WRITES[turn % WRITES.length]!, seconds: SECONDS[Math.floor(turn / WRITES.length) % 4]! }
}).slice(0, depth(WRITES.length * SECONDS.length * FORMS.length, ALL.length))

/** So many at a time, most of which only wait. */
const room = pLimit(16)

for (const { status, form, write, seconds } of ROWS) {
  const title = `a gateway answers ${status} (${form}) to a ${write.what}, and passes it on after ${seconds} s: nothing lasts`
  test(title, (t) =>
    room(async () => {
      const name = `g${status}-${form}.example`
      const { api } = service()
      if (!/creation/.test(write.what)) await newDomainWithWww(api, name)
      const stopped = servers().proxy.stop((call) => write.call(call, name))
      const answering = write.act(api, name)
      const call = await stopped.arrived
      stopped.release({ gateway: status, form, later: 1000 * seconds })
      const answer = await answering
      t.is(answer.status, 503)
      t.regex(answer.text, /The change was not made, but DNS can show it for a moment/)
      await eventually(() => call.to)
      await eventually(async () => (await discrepanciesOf(servers(), name)).length === 0)
      const { status: shown } = await api.get(`/domains/${name}/rrsets/a/A/`)
      t.is(shown, 404)
    }),
  )
}
