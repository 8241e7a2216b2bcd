import type { ExecutionContext } from 'ava'
import type { Answer, Client } from '../../support/clients/client.ts'
import type { TestService } from '../../support/harness.ts'
import { Zone } from '../../support/dns/zone.ts'
import { query, rrsetsOf } from '../../support/dns/wire.ts'

interface RRsetBody {
  records: string[]
  touched: string
}

const WRITERS = 16

/**
 * 16 writers make `writes` writes in total. Each writes to one of the zones: to its own RRset, and to one that all
 * writers of the zone share. Half of them use one process of the service, half another.
 */
export async function writeSideBySide(
  t: ExecutionContext,
  service: TestService,
  clients: [Client, Client],
  names: string[],
  writes: number,
): Promise<void> {
  const zones = await Promise.all(names.map((name) => Zone.create(service, clients[0], name)))
  for (const zone of zones) await zone.put('shared', 'TXT', ['"nobody"'])
  const shared = new Map<Zone, RRsetBody[]>(zones.map((zone) => [zone, []]))

  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const zone = zones[writer % zones.length]!
    const api = clients[writer % 2]!
    let own: string[] | undefined
    for (let i = 0; i < Math.ceil(writes / WRITERS); i++) {
      const records = [`"writer ${writer}, write ${i}"`]
      if (i % 3 === 2) {
        const body = acknowledged(t, await api.patch(path(zone, 'shared'), { records }), 200)
        shared.get(zone)!.push(body)
      } else if (own === undefined) {
        const rrset = { subname: `own${writer}`, type: 'TXT', ttl: 60, records }
        own = acknowledged(t, await api.post(`/domains/${zone.name}/rrsets/`, rrset), 201).records
      } else {
        own = acknowledged(
          t,
          await api.put(path(zone, `own${writer}`), { ...ownKey(writer), ttl: 60, records }),
          200,
        ).records
      }
      if (i % 7 === 6) {
        t.is((await api.delete(path(zone, `own${writer}`))).status, 204)
        own = undefined
      }
    }
    await isStored(t, service, api, zone, `own${writer}`, own)
  })
  await Promise.all(writers)

  for (const [zone, bodies] of shared) {
    const last = bodies.reduce((latest, body) => (body.touched > latest.touched ? body : latest))
    t.is(new Set(bodies.map((body) => body.touched)).size, bodies.length, 'each write has a time of its own')
    await isStored(t, service, clients[0], zone, 'shared', last.records)
  }
}

const ownKey = (writer: number) => ({ subname: `own${writer}`, type: 'TXT' })

function acknowledged(t: ExecutionContext, { status, text, json }: Answer, expected: number): RRsetBody {
  t.is(status, expected, text)
  return json as RRsetBody
}

/** Asserts that the API and DNS have these records, or no RRset at all. */
async function isStored(
  t: ExecutionContext,
  service: TestService,
  api: Client,
  zone: Zone,
  subname: string,
  records: string[] | undefined,
): Promise<void> {
  const { status, json } = await api.get(path(zone, subname))
  t.is(status, records === undefined ? 404 : 200)
  if (records !== undefined) t.deepEqual((json as RRsetBody).records, records)
  const { answers } = await query(service.powerDns, zone.at(subname), 'TXT')
  t.deepEqual(
    rrsetsOf(answers).flatMap((rrset) => rrset.records),
    records ?? [],
  )
}

function path(zone: Zone, subname: string): string {
  return `/domains/${zone.name}/rrsets/${subname}/TXT/`
}
