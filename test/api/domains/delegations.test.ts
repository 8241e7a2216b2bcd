import { STATES } from '../../../src/service/delegation/checks.ts'
import { freshName, newDomain, newZone, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { storeCheck } from '../../support/state/checks.ts'
import { statementsOf } from '../../support/statements.ts'

// Contract §15.9: the states of all domains.

const service = useService()

interface Shown {
  domain: string
  state: string
  checked: string | null
}

const shown = (answer: Answer) => succeeded(answer, 200).json as Shown[]

async function domainsIn(api: Client, state: string): Promise<string[]> {
  return shown(await api.get(`/delegations/?state=${state}`)).map(({ domain }) => domain)
}

test('it has the last check of each domain, the newest domain first; unknown without a check', async (t) => {
  const { api } = await service().account()
  t.deepEqual(shown(await api.get('/delegations/')), [])
  const [old, middle, young] = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const ofOld = await storeCheck(service(), old, 'insecure')
  await storeCheck(service(), middle, 'insecure')
  const ofMiddle = await storeCheck(service(), middle, 'secure')
  const answer = await api.get('/delegations/')
  t.is(
    succeeded(answer, 200).text,
    JSON.stringify([
      { domain: young, state: 'unknown', checked: null },
      { domain: middle, state: 'secure', checked: ofMiddle },
      { domain: old, state: 'insecure', checked: ofOld },
    ]),
  )
  t.is(answer.headers['link'], undefined)
  for (const { domain, ...check } of answer.json as Shown[]) {
    const { json } = succeeded(await api.get(`/domains/${domain}/delegation/`), 200)
    t.like(json, check)
  }
  t.deepEqual(await domainsIn(api, 'insecure'), [old])
})

test('`state` finds the domains in each state', async (t) => {
  const { api } = await service().account({ limitDomains: null })
  const unchecked = await newDomain(api)
  for (const state of Object.keys(STATES)) {
    const domain = await newDomain(api)
    await storeCheck(service(), domain, state)
    t.deepEqual(await domainsIn(api, state), state === 'unknown' ? [domain, unchecked] : [domain])
  }
})

for (const text of ['safe', 'Secure', '', ' secure', '"', 'toString']) {
  test(`another state is refused: ${JSON.stringify(text)}`, async (t) => {
    const { api } = await service().account()
    for (const cursor of ['', '&cursor=']) {
      const { status, json } = await api.get(`/delegations/?state=${encodeURIComponent(text)}${cursor}`)
      t.deepEqual([status, json], [400, { state: [`"${text}" is not a valid choice.`] }])
    }
  })
}

test('pages and totals are those of what is found, and a page costs the same statements', async (t) => {
  const { id, api } = await service().account()
  const prefix = freshName()
  await service().sql(
    `with added as (
       insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
       select n || '.' || :prefix, :id, 60, 1, 0, now() - interval '1 second' * n, now(), now()
       from generate_series(1, 1010) as n returning id, name
     )
     insert into delegations (domain_id, due, state, observation, problems)
       select id, now(), 'insecure', '{}', '{}' from added where mod(cast(split_part(name, '.', 1) as integer), 2) = 0`,
    { id, prefix },
  )
  for (const [filter, total] of [
    ['', 1010],
    ['state=unknown', 505],
  ] as const) {
    const required = await api.get(`/delegations/?${filter}`)
    t.is(required.status, 400)
    t.true(required.text.includes(`(${total} total)`), required.text)
    t.true(String(required.headers['link']).endsWith(`/delegations/?cursor=${filter && `&${filter}`}>; rel="first"`))
  }
  const numbers = (answer: Answer) => shown(answer).map(({ domain }) => Number(domain.split('.')[0]))
  const linked = async (answer: Answer, relation: string) => {
    const [, url] = new RegExp(`<[^>]*/api/v1([^>]*)>; rel="${relation}"`).exec(String(answer.headers['link']))!
    return succeeded(await api.get(url!), 200)
  }
  const first = succeeded(await api.get('/delegations/?state=insecure&cursor='), 200)
  const last = await linked(first, 'next')
  const even = Array.from({ length: 505 }, (_, i) => 2 * i + 2)
  t.deepEqual([...numbers(first), ...numbers(last)], even)
  t.deepEqual(numbers(await linked(last, 'prev')), numbers(first))
  t.is((await api.get('/delegations/?cursor=x')).text, '{"detail":"Invalid cursor"}')

  const statements = (owner: Client) => statementsOf(async () => owner.get('/delegations/?cursor='))
  const few = await service().account()
  await newDomain(few.api)
  t.deepEqual(await statements(api), await statements(few.api))
})

test('a token finds the domains that it sees', async (t) => {
  const { account, api, domain } = await newZone(service(), {})
  const hidden = await newDomain(api)
  for (const name of [domain, hidden]) await storeCheck(service(), name, 'secure')
  const owner = await service().account()
  const override = await addToken(service(), owner.id, { userOverrideId: account.id })
  t.deepEqual(await domainsIn(override.api, 'secure'), [hidden, domain])
  await addPolicies(service(), override.id, { write: true }, { domain, write: false })
  t.deepEqual(await domainsIn(override.api, 'secure'), [domain])
  t.deepEqual(shown(await owner.api.get('/delegations/')), [])
  const restricted = await addToken(service(), account.id)
  await addPolicies(service(), restricted.id, { write: false })
  t.deepEqual(await domainsIn(restricted.api, 'secure'), [hidden, domain])
})
