import test from 'ava'
import { query, transaction } from '../../../src/store/database.ts'
import * as rights from '../../../src/store/tokens/rights.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { person } from '../../support/clients/people.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'

// Contract §14, with the rates as shipped and real requests: whatever tokens and strangers send, the owner logs in, lists
// and ends tokens, and writes. What windows allow is tested in the model's time (service/lock-out.test.ts).

const service = useService({ THROTTLE: 'on', TRUSTED_PROXIES: '127.0.0.1' })

/** Sends requests, a few at a time, and counts the statuses of the answers. */
async function flood(requests: number, send: (i: number) => Promise<Answer>): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  let next = 0
  const client = async () => {
    while (next < requests) {
      const { status } = await send(next++)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return statuses
}

/** An account with a domain, and its owner, who has not logged in yet. */
async function victim() {
  const owner = await person(service())
  const { api } = await addToken(service(), owner.id, { permCreateDomain: true })
  const own = await newDomain(api)
  return { ...owner, domain: own }
}

const change = (api: Client, name: string, octet: number) =>
  api.put(`/domains/${name}/rrsets/`, [{ subname: 'www', type: 'A', ttl: 60, records: [`192.0.2.${octet}`] }])

test.serial('after floods of tokens and strangers, the owner logs in, lists and ends tokens, and writes', async (t) => {
  const { id, credentials, domain } = await victim()
  const other = await person(service())
  const hostile = [
    await addToken(service(), id),
    await addToken(service(), id, { permManageTokens: true }),
    await addToken(service(), other.id, { userOverrideId: id }),
    await addToken(service(), id),
    await addToken(service(), id),
  ]
  await addPolicies(service(), hostile[0]!.id, { write: false })
  const home = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  const floods = [
    ...hostile.flatMap(({ api }) => [
      flood(150, () => api.get('/')),
      flood(150, () => api.get('/domains/')),
      flood(150, () => api.get(`/domains/${domain}/zonefile/`)),
      flood(100, () => api.patch(`/domains/${domain}/rrsets/`, undefined, { body: '{' })),
      flood(50, (i) => change(api, domain, i)),
    ]),
    flood(550, () => hostile[1]!.api.get('/auth/tokens/')),
    flood(300, () => service().anonymous.get('/', home)),
    flood(50, (i) => service().anonymous.post('/auth/login/', { ...credentials, password: `wrong ${i}` }, {
      headers: { 'x-forwarded-for': `198.51.100.${i}` },
    })), // prettier-ignore
  ]
  const answers = await Promise.all(floods)
  t.true(answers.filter((statuses) => 429 in statuses).length > 5)
  const login = await service().anonymous.post('/auth/login/', credentials, home)
  t.is(login.status, 200)
  const session = service().clientOf((login.json as { token: string }).token)
  t.is((await session.get('/auth/tokens/')).status, 200)
  t.is((await change(session, domain, 200)).status, 200)
  for (const token of hostile) t.is((await session.delete(`/auth/tokens/${token.id}/`)).status, 204)
  for (const token of hostile) t.is((await token.api.get('/')).status, 401)
})

test.serial('a write waits for one of each other token, not for all that they have sent before', async (t) => {
  const { id, domain } = await victim()
  const hostile = await addToken(service(), id)
  const login = await addToken(service(), id, { mfa: true })
  let answered = 0
  const sent = Array.from({ length: 15 }, async (_, i) => {
    await change(hostile.api, domain, i)
    answered++
  })
  await Promise.race(sent)
  t.is((await change(login.api, domain, 200)).status, 200)
  t.true(answered < 10, `${answered} of 15`)
  await Promise.all(sent)
})

test.serial('while API tokens wait to change each other, the owner ends one', async (t) => {
  const { id } = await victim()
  const managing = await addToken(service(), id, { permManageTokens: true })
  const [busy, ended] = [await addToken(service(), id), await addToken(service(), id)]
  const login = await addToken(service(), id, { mfa: true, permManageTokens: true })
  let isWaiting = true
  const waiting = await transaction(service().system.db, async (trx) => {
    // As a write of the token does until it is stored.
    await rights.lock(trx, [`token ${busy.id}`], [])
    const change = managing.api.patch(`/auth/tokens/${busy.id}/`, { name: 'x' }).finally(() => (isWaiting = false))
    const locks = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    await eventually(async () => (await query(trx, locks)).length > 0)
    t.is((await login.api.delete(`/auth/tokens/${ended.id}/`)).status, 204)
    t.true(isWaiting)
    return { change }
  })
  t.is((await waiting.change).status, 200)
})
