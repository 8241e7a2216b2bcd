import { newDomain, newRRset, type ShownRRset } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const NOT_FOUND = '{"detail":"Not found."}'

/** A path below `rrsets`, and the subname of the A RRset that it names. */
const NAMING: [path: string, subname: string][] = [
  ['www/A', 'www'],
  ['www.../A', 'www'],
  ['www@/A', 'www'],
  ['www%2e%2e%2e/A', 'www'],
  ['www%40/A', 'www'],
  ['www%2e%2E./A', 'www'],
  ['%77ww/%41', 'www'],
  ['@/A', ''],
  ['%40/A', ''],
  ['.../A', ''],
  ['%2e%2e%2e/A', ''],
  ['%2E.%2e/A', ''],
  ['*/A', '*'],
  ['%2A/A', '*'],
  ['%2a/A', '*'],
  ['*.../A', '*'],
  ['%2a%40/A', '*'],
  ['*.wild/A', '*.wild'],
  ['%2A.wild/A', '*.wild'],
  ['a.b.c/A', 'a.b.c'],
  ['a%2eb.c.../A', 'a.b.c'],
  ['_443._tcp/A', '_443._tcp'],
]

const SUBNAMES = [...new Set(NAMING.map(([, subname]) => subname))]

/** Paths below `rrsets` that resemble those of existing RRsets, but name none. */
const UNMATCHED = [
  '/A',
  '/A/',
  'www%20/A',
  'www/A/A',
  'www....../A',
  'www@@/A',
  'www@.../A',
  'www..../A',
  'www../A',
  '@@/A',
  '....../A',
  '%2E%2E%2E@/A',
  'www%2FA',
  'www/%2FA',
  'www/AAAA',
  'www/SPF',
  'www/TYPE1',
  'www/NONSENSE12345678901234567890',
  'w*w/A',
  'other/A',
]

/** A domain with an A RRset at every subname that is named above; the path of its RRsets. */
async function zone(api: Client): Promise<{ base: string; shown: Map<string, ShownRRset> }> {
  const name = await newDomain(api)
  const shown = new Map<string, ShownRRset>()
  for (const subname of SUBNAMES) shown.set(subname, await newRRset(api, name, { subname }))
  return { base: `/domains/${name}/rrsets`, shown }
}

test('GET shows the RRset that the path names, with and without final slash', async (t) => {
  const { api } = await service().account()
  const { base, shown } = await zone(api)
  for (const [path, subname] of NAMING) {
    for (const slash of ['', '/']) {
      const answer = await api.get(`${base}/${path}${slash}`)
      t.deepEqual([answer.status, answer.text], [200, JSON.stringify(shown.get(subname))], path)
    }
  }
})

test('a path that only resembles that of an RRset is 404, and its DELETE deletes nothing', async (t) => {
  const { api } = await service().account()
  const { base } = await zone(api)
  const before = (await api.get(base)).text
  for (const path of UNMATCHED) {
    for (const method of ['GET', 'PUT', 'PATCH']) {
      const answer = await api.send(method, `${base}/${path}`, method === 'GET' ? undefined : {})
      t.deepEqual([answer.status, answer.text], [404, NOT_FOUND], `${method} ${path}`)
    }
    const { status, text } = await api.delete(`${base}/${path}`)
    t.true(status === 204 ? text === '' : status === 404 && text === NOT_FOUND, `${path}: ${status} ${text}`)
  }
  t.is((await api.get(base)).text, before)
})

test('PATCH, PUT and DELETE accept the same paths as GET', async (t) => {
  const { api } = await service().account()
  const { base } = await zone(api)
  for (const [i, [path, subname]] of NAMING.entries()) {
    const patched = await api.patch(`${base}/${path}/`, { ttl: 100 + i })
    t.is(patched.status, 200, path)
    t.like(patched.json, { subname, ttl: 100 + i })
    const put = await api.put(`${base}/${path}/`, { subname, type: 'A', ttl: 200 + i, records: ['192.0.2.2'] })
    t.is(put.status, 200, path)
    t.like(put.json, { subname, ttl: 200 + i })
  }
  const again = new Set(SUBNAMES)
  for (const [path, subname] of NAMING) {
    t.is((await api.delete(`${base}/${path}/`)).status, 204)
    if (again.delete(subname)) t.is((await api.get(`${base}/${path}/`)).status, 404, path)
  }
})
