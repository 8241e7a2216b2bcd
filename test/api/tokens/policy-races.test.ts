import type { ExecutionContext } from 'ava'
import { newDomain, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Rounds of requests, each trying to break a rule of contract §6.3. After each round the rules hold.

const service = useService()

const ANY = { domain: null, subname: null, type: null }

interface Shown {
  id: string
  domain: string | null
  subname: string | null
  type: string | null
  perm_write: boolean
}

test('twenty simultaneous requests cannot break the rules of policies', async (t) => {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const { id } = succeeded(await api.post('/auth/tokens/', {}), 201).json as { id: string }
  const token = `/auth/tokens/${id}/`
  const path = `${token}policies/rrsets/`
  const statuses = new Set<number>()
  for (let round = 0; round < depth(10, 200); round++) {
    const present = (await api.get(path)).json as Shown[]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => attempt(api, token, path, domain, present, i)),
    )
    for (const { status, text } of answers) {
      statuses.add(status)
      t.true([200, 201, 204, 400, 404, 409].includes(status), `${status} ${text}`)
    }
    await check(t, api, token, path)
  }
  for (const status of [200, 201, 204, 400]) t.true(statuses.has(status), String(status))
})

/** Sends request number `i` of a round. */
function attempt(api: Client, token: string, path: string, domain: string, present: Shown[], i: number) {
  const fallback = `${path}${present[0]?.id ?? '00000000-0000-4000-8000-000000000000'}/`
  const other = `${path}${present[1]?.id ?? '00000000-0000-4000-8000-000000000000'}/`
  const type = `T${i % 4}`
  switch (i % 10) {
    case 0:
      return api.post(path, { ...ANY, perm_write: i > 10 })
    case 1:
      return api.delete(fallback)
    case 2:
    case 3:
      return api.post(path, { ...ANY, type })
    case 4:
      return api.patch(token, { auto_policy: true })
    case 5:
      return api.patch(token, { auto_policy: false })
    case 6:
      return api.patch(fallback, { perm_write: true })
    case 7:
      return api.post(path, { ...ANY, domain })
    case 8:
      return api.put(other, { ...ANY, type: i > 10 ? 'T2' : null })
    default:
      return api.delete(other)
  }
}

async function check(t: ExecutionContext, api: Client, token: string, path: string): Promise<void> {
  const policies = (await api.get(path)).json as Shown[]
  const { auto_policy: auto } = (await api.get(token)).json as { auto_policy: boolean }
  const scopes = policies.map(({ domain, subname, type }) => JSON.stringify([domain, subname, type]))
  t.is(new Set(scopes).size, scopes.length, 'no place twice')
  const fallback = policies.find(({ domain, subname, type }) => (domain ?? subname ?? type) === null)
  if (policies.length > 0 || auto) t.truthy(fallback, 'a default policy')
  if (auto) t.false(fallback!.perm_write, 'a restrictive one')
}
