import { freshName, newDomain, newRRset, newZone, rrset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { storeCheck } from '../../support/state/checks.ts'
import { entriesOf, type ShownEntry } from '../../support/state/history.ts'
import { statementsOf } from '../../support/statements.ts'

// Contract §15.13: what the first look at each domain needs.

const service = useService()

interface Shown {
  name: string
  rrsets: number
  last_change: Pick<ShownEntry, 'created' | 'source' | 'owner' | 'token'> | null
  delegation: { state: string; checked: string | null }
  rollover: string | null
}

const shown = (answer: Answer) => succeeded(answer, 200).json as Shown[]

async function overviewOf(api: Client, domain: string): Promise<Shown | undefined> {
  return shown(await api.get('/domains/?overview=true')).find(({ name }) => name === domain)
}

/** The members that the newest entry of a domain's history has, too. */
async function newestFor(api: Client, domain: string) {
  const { created, source, owner, token } = (await entriesOf(api, domain))[0]!
  return { created, source, owner, token }
}

test('it is the list of domains, each with its size, its last change and its last check', async (t) => {
  const { account, api, domain } = await newZone(service(), rrset(), rrset({ subname: 'mail' }))
  const fresh = await newDomain(api)
  const checked = await storeCheck(service(), domain, 'insecure')
  const [first, second] = shown(await api.get('/domains/?overview=true'))
  const plain = succeeded(await api.get('/domains/'), 200)
  t.is(plain.text, succeeded(await api.get('/domains/?overview=false'), 200).text)
  const [, known] = plain.json as object[]
  const last = await newestFor(api, domain)
  t.is(
    JSON.stringify(second),
    JSON.stringify({
      ...known,
      rrsets: 3,
      last_change: last,
      delegation: { state: 'insecure', checked },
      rollover: null,
    }),
  )
  t.like(last, { source: 'api', token: { id: account.tokenId } })
  t.like(first, {
    ...{ name: fresh, rrsets: 1, last_change: await newestFor(api, fresh) },
    delegation: { state: 'unknown', checked: null },
  })
  succeeded(await api.delete(`/domains/${domain}/rrsets/www/A/`), 204)
  t.like(await overviewOf(api, domain), { rrsets: 2, last_change: await newestFor(api, domain) })
  await service().sql('delete from history where domain_id = (select id from domains where name = :domain)', {
    domain,
  })
  t.like(await overviewOf(api, domain), { rrsets: 2, last_change: null })
})

test('it says to all who see the domain that its keys are being replaced', async (t) => {
  const { account, api, domain } = await newZone(service())
  const reader = await addToken(service(), account.id)
  t.like(await overviewOf(reader.api, domain), { rollover: null })
  succeeded(await api.post(`/domains/${domain}/rollover/`, {}), 201)
  t.like(await overviewOf(reader.api, domain), { rollover: 'publish' })
  succeeded(await api.delete(`/domains/${domain}/rollover/`), 204)
  t.like(await overviewOf(reader.api, domain), { rollover: null })
})

test('it combines with `owns_qname` and `search`, and not with `deleted`', async (t) => {
  const { api, domain } = await newZone(service(), rrset())
  const other = await newDomain(api)
  const overview = await overviewOf(api, domain)
  for (const [filter, expected] of [
    [`owns_qname=www.${domain}`, [overview]],
    [`owns_qname=www.${domain}&cursor=`, [overview]],
    [`owns_qname=www.${domain}&search=${other}`, []],
    ['owns_qname=test', []],
    [`search=${domain.toUpperCase()}`, [overview]],
    ['search=!', []],
  ] as const)
    t.deepEqual(shown(await api.get(`/domains/?overview=true&${filter}`)), [...expected], filter)
  for (const [parameters, text] of [
    ['overview=yes', 'Must be a valid boolean.'],
    ['overview=', 'Must be a valid boolean.'],
    ['overview=true&deleted=true', 'Cannot be combined with deleted.'],
  ]) {
    const { status, json } = await api.get(`/domains/?${parameters}`)
    t.deepEqual([status, json], [400, { overview: [text] }], parameters)
  }
})

test('nobody learns more of a last change than from the history', async (t) => {
  const { account, api, domain } = await newZone(service(), rrset())
  const hidden = await newDomain(api)
  const stranger = await service().account()
  const writer = await addToken(service(), stranger.id, { name: 'theirs', userOverrideId: account.id })
  await newRRset(writer.api, domain, { subname: 'by-another' })
  const author = { source: 'api', token: { id: writer.id, name: 'theirs' } }
  t.like(await overviewOf(api, domain), { last_change: author })
  const nobody = { owner: null, token: null }
  const reader = await addToken(service(), account.id)
  for (const each of [reader, writer]) {
    const overview = await overviewOf(each.api, domain)
    t.deepEqual(overview!.last_change, await newestFor(each.api, domain))
    t.like(overview!.last_change, nobody)
  }
  // An override token with policies sees the domains that they name.
  t.not(await overviewOf(writer.api, hidden), undefined)
  await addPolicies(service(), writer.id, { write: true }, { domain, write: false })
  t.deepEqual(
    shown(await writer.api.get('/domains/?overview=true')).map(({ name, last_change }) => [name, last_change!.token]),
    [[domain, null]],
  )
  t.deepEqual(shown(await writer.api.get(`/domains/?overview=true&owns_qname=${hidden}`)), [])
  // Restricted tokens of the account see all.
  await addPolicies(service(), reader.id, { write: false }, { domain, write: true })
  t.deepEqual(
    shown(await reader.api.get('/domains/?overview=true')).map(({ name }) => name),
    [hidden, domain],
  )
  t.deepEqual(shown(await stranger.api.get('/domains/?overview=true')), [])
  t.deepEqual(shown(await stranger.api.get(`/domains/?overview=true&owns_qname=${domain}`)), [])
})

test('a page costs as many statements as the list, reads one entry of each history, and leads to the next', async (t) => {
  const { id, api } = await service().account()
  const prefix = freshName()
  await service().sql(
    `with added as (
       insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
       select n || '.' || :prefix, :id, 60, 1, n, now() - interval '1 second' * n, now(), now()
       from generate_series(1, 1010) as n returning id, name
     ), checked as (
       insert into delegations (domain_id, due, state, observation, problems)
       select id, now(), 'secure', '{}', '{}' from added where mod(cast(split_part(name, '.', 1) as integer), 2) = 0
     )
     insert into history (id, domain_id, created, version, source, owner_id, count, changes)
       select gen_random_uuid(), id, now() - interval '1 minute' * n, 1, case when n = 0 then 'undo' else 'api' end, :id, 1, '[]'
       from added, generate_series(0, 9) as n`,
    { id, prefix },
  )
  const statements = async (path: string) => {
    const found: string[][] = []
    while (found.length < 3) found.push(await statementsOf(async () => api.get(path)))
    // Where a key is being replaced, the service looks each second.
    return found.reduce((least, each) => (each.length < least.length ? each : least))
  }
  const ofList = await statements('/domains/?cursor=')
  const ofOverview = await statements('/domains/?cursor=&overview=true')
  t.is(ofOverview.length, ofList.length)
  const pages = [await api.get('/domains/?cursor=&overview=true')]
  for (;;) {
    const [, next] = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(String(pages.at(-1)!.headers['link'])) ?? []
    if (next === undefined) break
    pages.push(await api.get(next))
  }
  const all = pages.flatMap(shown)
  t.deepEqual(
    all.map(({ rrsets }) => rrsets),
    Array.from({ length: 1010 }, (_, i) => i + 1),
  )
  t.true(all.every(({ last_change }) => last_change!.source === 'undo'))
  t.true(all.every(({ rrsets, delegation }) => delegation.state === (rrsets % 2 === 0 ? 'secure' : 'unknown')))
  const [previous] = /<[^>]*>; rel="prev"/.exec(String(pages.at(-1)!.headers['link'])) ?? []
  t.true(previous!.includes('overview=true'))
  // Postgres' own account of what it read.
  const page = ofOverview.find((text) => text.includes('history'))!
  await service().sql('analyze domains, history, delegations')
  const plan = await service().sql<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, summary off) ${literal(page, id)}`,
  )
  const lines = plan.map((row) => row['QUERY PLAN'])
  t.true(
    lines.some((line) => /history_page on history .*rows=1(\.00)? loops=501/.test(line)),
    lines.join('\n'),
  )
  t.true(
    lines.some((line) => /delegations_pkey on delegations .*loops=501/.test(line)),
    lines.join('\n'),
  )
})

/** A statement of an account's token with values in place of its parameters. */
function literal(statement: string, accountId: string): string {
  return statement.replaceAll(/\$1\b/g, `cast('${accountId}' as uuid)`)
}
