import test from 'ava'
import { transaction } from '../../../src/store/database.ts'
import * as rights from '../../../src/store/tokens/rights.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { person } from '../../support/clients/people.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { openPatiently } from '../../support/servers/postgres/databases.ts'
import { isFull } from '../../support/state/budgets.ts'
import { waitingForRights } from '../../support/state/transactions.ts'

// Contract §14, with the rates as shipped and real requests: whatever tokens and strangers send, the owner logs in, lists
// and ends tokens, and writes. What windows allow is tested in the model's time (service/lock-out.test.ts).

const service = useService({ THROTTLE: 'on', TRUSTED_PROXIES: '127.0.0.1' })

const putZonefile = (api: Client, name: string) =>
  api.put(`/domains/${name}/zonefile/`, undefined, {
    body: `$ORIGIN ${name}.\n@ 3600 NS ns1.example.\nwww 60 A 192.0.2.1\n`,
    headers: { 'content-type': 'text/dns' },
  })

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
  // Together, they fill the windows that the account's API tokens share.
  const managing = [
    hostile[1]!,
    ...(await Promise.all(Array.from({ length: 3 }, () => addToken(service(), id, { permManageTokens: true })))),
  ]
  const home = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  const floods = [
    ...hostile.flatMap(({ api }) => [
      flood(150, () => api.get('/')),
      flood(150, () => api.get('/domains/')),
      flood(150, () => api.get(`/domains/${domain}/zonefile/`)),
      flood(100, () => api.patch(`/domains/${domain}/rrsets/`, undefined, { body: '{' })),
      flood(50, (i) => change(api, domain, i)),
    ]),
    ...managing.map(({ api }) => flood(550, () => api.get('/auth/tokens/'))),
    flood(300, () => service().anonymous.get('/', home)),
    flood(50, (i) => service().anonymous.post('/auth/login/', { ...credentials, password: `wrong ${i}` }, {
      headers: { 'x-forwarded-for': `198.51.100.${i}` },
    })), // prettier-ignore
  ]
  const answers = await Promise.all(floods)
  // How many, depends on how fast the machine is.
  t.true(answers.some((statuses) => 429 in statuses))
  const login = await service().anonymous.post('/auth/login/', credentials, home)
  t.is(login.status, 200)
  const session = service().clientOf((login.json as { token: string }).token)
  t.is((await session.get('/auth/tokens/')).status, 200)
  t.is((await change(session, domain, 200)).status, 200)
  for (const token of hostile) t.is((await session.delete(`/auth/tokens/${token.id}/`)).status, 204)
  for (const token of hostile) t.is((await token.api.get('/')).status, 401)
})

for (const [what, send] of [
  ['a write', (api: Client, name: string) => change(api, name, 200)],
  ['a zone file', (api: Client, name: string) => putZonefile(api, name)],
] as const) {
  test.serial(`${what} of a login waits for one of all API tokens, however many have sent some`, async (t) => {
    const { id, domain } = await victim()
    const login = await addToken(service(), id, { mfa: true })
    const hostile = await Promise.all(Array.from({ length: 15 }, () => addToken(service(), id)))
    let answered = 0
    const sent = hostile.flatMap(({ api }) =>
      Array.from({ length: 3 }, async () => {
        await send(api, domain)
        answered++
      }),
    )
    await Promise.race(sent)
    t.is((await send(login.api, domain)).status, 200)
    t.true(answered < 20, `${answered} of 45`)
    await Promise.all(sent)
  })
}

test.serial('a write waits for one of each other token, not for all that they have sent before', async (t) => {
  const { id, domain } = await victim()
  const [hostile, other] = [await addToken(service(), id), await addToken(service(), id)]
  let answered = 0
  const sent = Array.from({ length: 15 }, async (_, i) => {
    await change(hostile.api, domain, i)
    answered++
  })
  await Promise.race(sent)
  t.is((await change(other.api, domain, 200)).status, 200)
  t.true(answered < 10, `${answered} of 15`)
  await Promise.all(sent)
})

test.serial('while tokens of many accounts wait to change others, reads go on', async (t) => {
  const accounts = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { id } = await person(service())
      return {
        managing: await addToken(service(), id, { permManageTokens: true }),
        busy: await addToken(service(), id),
      }
    }),
  )
  const { id } = await victim()
  const { api } = await addToken(service(), id)
  const own = openPatiently(service().backends.databaseUrl, 1)
  const changes = await transaction(own, async (trx) => {
    // As writes of the tokens do until they are stored.
    await rights.lock(
      trx,
      accounts.map(({ busy }) => `token ${busy.id}` as const),
      [],
    )
    const changes = accounts.map(({ managing, busy }) => managing.api.patch(`/auth/tokens/${busy.id}/`, { name: 'x' }))
    await eventually(() => isFull(service().system.bounds.rights))
    for (let i = 0; i < 10; i++) t.is((await api.get('/domains/')).status, 200)
    return changes
  })
  for (const changed of changes) t.is((await changed).status, 200)
  await own.end()
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
    await eventually(async () => (await waitingForRights(trx)) > 0)
    t.is((await login.api.delete(`/auth/tokens/${ended.id}/`)).status, 204)
    t.true(isWaiting)
    return { change }
  })
  t.is((await waiting.change).status, 200)
})
