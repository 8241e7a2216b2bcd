import { trimHistory } from '../../../src/service/domains/retention.ts'
import { newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { person } from '../../support/clients/people.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { commandsOn } from '../../support/command-line.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { activityLines, activityOf, type ShownActivity } from '../../support/state/activity.ts'
import { entriesOf } from '../../support/state/history.ts'

// What happened in an account (contract §15.15).

const service = useService()
const zoneplane = commandsOn(() => service().system)

const typesOf = (entries: ShownActivity[]) => entries.map(({ type }) => type)

test('the histories of all domains, also of deleted ones, are there in the order of time', async (t) => {
  const { api, tokenId } = await service().account()
  const [one, other] = [await newDomain(api), await newDomain(api)]
  await newRRset(api, one)
  succeeded(await api.post(`/domains/${other}/rrsets/`, rrset(), { headers: { 'zoneplane-message': 'why' } }), 201)
  succeeded(await api.delete(`/domains/${other}/`), 204)
  const deleted = await activityOf(api)
  t.deepEqual(
    deleted.map(({ type, domain, count }) => [type, domain, count]),
    [
      ['domain_deleted', other, 2],
      ['rrsets_changed', other, 1],
      ['rrsets_changed', one, 1],
      ['domain_created', other, 1],
      ['domain_created', one, 1],
    ],
  )
  const [newest] = await entriesOf(api, one)
  const { email } = succeeded(await api.get('/auth/account/'), 200).json as { email: string }
  t.deepEqual(deleted[2], {
    ...{ id: newest!.id, created: newest!.created, type: 'rrsets_changed', domain: one, version: newest!.version },
    ...{ source: 'api', owner: email, token: { id: tokenId, name: '' }, request_id: newest!.request_id },
    ...{ message: null, count: 1, rollover: null, subject: null, address: null, changes: newest!.changes },
  })
  t.is(deleted[1]!.message, 'why')
  succeeded(await api.post('/domains/', { name: other, restore: true }), 201)
  t.deepEqual(typesOf(await activityOf(api, { domain: other })), [
    ...['domain_returned', 'domain_deleted', 'rrsets_changed', 'domain_created'],
  ])
})

test('so are log-ins, tokens, policies, members, limits and transfers, without secrets', async (t) => {
  const { credentials, id, email } = await person(service())
  succeeded(await service().anonymous.post('/auth/login/', credentials), 200)
  await service().anonymous.post('/auth/login/', { ...credentials, password: 'wrong one' })
  const login = succeeded(await service().anonymous.post('/auth/login/', credentials), 200).json as {
    id: string
    token: string
  }
  const api = new Client(service().url, login.token)
  const domain = await newDomain(api)
  const made = succeeded(await api.post('/auth/tokens/', { name: 'ci' }), 201).json as { id: string; token: string }
  const path = `/auth/tokens/${made.id}/`
  succeeded(await api.patch(path, { name: 'ci 2' }), 200)
  succeeded(
    await api.post(`${path}policies/rrsets/`, { domain: null, subname: null, type: null, perm_write: false }),
    201,
  )
  succeeded(await api.post('/auth/members/', { email: 'guest@example.org', role: 'viewer' }), 201)
  succeeded(await api.put(`/domains/${domain}/transfers/`, { addresses: [], notify: [], tsig: true }), 200)
  t.true((await zoneplane('account', 'set-limit', email, '--domains', '7'))[0])
  succeeded(await api.delete(path), 204)
  const entries = await activityOf(api)
  const [deleted, limited, transferred, invited, restricted, changed, created, , in2] = entries
  t.deepEqual(typesOf(entries), [
    ...['token_deleted', 'account_changed', 'transfers_changed', 'member_invited', 'policy_created'],
    ...['token_changed', 'token_created', 'domain_created', 'login_succeeded', 'login_failed', 'login_succeeded'],
  ])
  const by = { owner: email, token: { id: login.id, name: 'login' }, source: 'api', address: '127.0.0.1' }
  const subject = { token: made.id, policy: null, factor: null, member: null, webhook: null, state: null, name: null }
  t.like(created, { ...by, subject, version: null, count: null, changes: null })
  t.like(changed, { ...by, subject })
  t.like(deleted, { ...by, subject })
  t.like(limited, { owner: null, token: null, source: 'operator', address: null })
  t.like(transferred, { ...by, domain })
  t.is(invited!.subject!.name, 'guest@example.org')
  t.is(restricted!.subject!.token, made.id)
  t.like(in2, { owner: email, token: null, source: 'password', subject: { token: login.id, name: 'login' } })
  t.regex(created!.request_id!, /^[0-9a-f-]{36}$/)
  const all = JSON.stringify(await activityLines(api))
  for (const secret of [login.token, made.token, credentials.password]) t.false(all.includes(secret))
  // What is of nobody's account is in none.
  await service().anonymous.post('/auth/login/', { email: 'nobody@example.org', password: 'wrong one' })
  t.deepEqual(await service().sql('select from history where account_id is null and domain_id is null'), [])
  await service().sql('delete from domains where name = :domain', { domain })
  t.true((await zoneplane('account', 'delete', email))[0])
  t.deepEqual(await service().sql('select from history where account_id = :id', { id }), [])
})

test('what happened to an account is stored with the change, or neither is', async (t) => {
  const { api, id, tokenId } = await service().account()
  const tokens = async () =>
    (succeeded(await api.get('/auth/tokens/'), 200).json as { id: string }[]).map(({ id }) => id)
  await service().sql(`create function refuse() returns trigger language plpgsql as $$
     begin raise exception 'refused' using errcode = 'disk_full'; end $$`)
  for (const table of ['tokens', 'history']) {
    const owner = table === 'tokens' ? 'owner_id' : 'account_id'
    // At the commit: what the transaction has stored goes.
    await service()
      .sql(`create constraint trigger refusal after insert on ${table} deferrable initially deferred for each row
       when (new.${owner} = '${id}') execute function refuse()`)
    t.is((await api.post('/auth/tokens/', { name: 'ci' })).status, 503, table)
    await service().sql(`drop trigger refusal on ${table}`)
    t.deepEqual([await tokens(), await activityOf(api)], [[tokenId], []], table)
  }
  succeeded(await api.post('/auth/tokens/', { name: 'ci' }), 201)
  t.deepEqual(typesOf(await activityOf(api)), ['token_created'])
})

test('each sees the domains that it sees, and what is of the account only who may read the account', async (t) => {
  const { account, api } = await service()
    .account()
    .then((account) => ({ account, api: account.api }))
  const [one, other] = [await newDomain(api), await newDomain(api)]
  succeeded(await api.post('/auth/tokens/', { name: 'ci' }), 201)
  const stranger = await service().account()
  const options = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  const restricted = await addToken(service(), account.id, options)
  await addPolicies(service(), restricted.id, { write: true })
  const bound = await addToken(service(), stranger.id, { userOverrideId: account.id })
  const bounded = await addToken(service(), stranger.id, { userOverrideId: account.id })
  await addPolicies(service(), bounded.id, { write: false }, { domain: one, write: true })
  const member = (role: 'viewer' | 'editor' | 'admin', domains: string[] | null = null) =>
    addMember(service(), account.id, role, { domains }).then(({ session }) => session)
  const ALL = ['token_created', `domain_created ${other}`, `domain_created ${one}`]
  const DOMAINS = ALL.slice(1)
  const cases: [name: string, client: Client, seen: string[], authors: boolean][] = [
    ['the account', api, ALL, true],
    ['an admin', await member('admin'), ALL, true],
    ['a restricted token that manages tokens', restricted.api, DOMAINS, true],
    ['a token without flags', (await addToken(service(), account.id)).api, DOMAINS, false],
    ['an override token', bound.api, DOMAINS, false],
    ['an override token with policies', bounded.api, [`domain_created ${one}`], false],
    ['a viewer', await member('viewer'), DOMAINS, false],
    ['an editor', await member('editor'), DOMAINS, false],
    ['an editor of a domain', await member('editor', [one]), [`domain_created ${one}`], false],
    ['a viewer of no domain', await member('viewer', []), [], false],
    ['another tenant', stranger.api, [], true],
  ]
  for (const [name, client, seen, authors] of cases) {
    for (const entries of [await activityOf(client), await activityLines(client)]) {
      t.deepEqual(
        entries.map(({ type, domain }) => (domain === null ? type : `${type} ${domain}`)),
        seen,
        name,
      )
      for (const { owner, token } of entries) t.is(owner !== null && token !== null, authors, name)
    }
    // Filters find nothing that is not shown.
    const { email } = succeeded(await api.get('/auth/account/'), 200).json as { email: string }
    t.is((await activityOf(client, { person: email })).length, authors && name !== 'another tenant' ? seen.length : 0)
    t.is((await activityOf(client, { domain: other })).length, seen.includes(`domain_created ${other}`) ? 1 : 0, name)
    t.is((await activityOf(client, { type: 'token' })).length, seen === ALL ? 1 : 0, name)
  }
  succeeded(await api.delete(`/domains/${one}/`), 204)
  t.deepEqual(await activityOf(bounded.api), [])
})

test('filters combine, and wrong times are refused', async (t) => {
  const { api, id } = await service().account()
  const ci = await addToken(service(), id, { name: 'ci' })
  const [one, other] = [await newDomain(api), await newDomain(api)]
  const write = (client: Client, domain: string, subname: string, message = '') =>
    client.post(`/domains/${domain}/rrsets/`, rrset({ subname }), { headers: { 'zoneplane-message': message } })
  await write(ci.api, one, 'www', 'Ticket 4711')
  await write(api, other, 'shop')
  const at = (await activityOf(api))[1]!.created
  const found = async (filter: Record<string, string>) =>
    (await activityOf(api, filter)).map(({ domain, changes }) => `${domain} ${changes![0]!.subname || '@'}`)
  const [www, shop] = [`${one} www`, `${other} shop`]
  const [apex1, apex2] = [`${one} @`, `${other} @`]
  t.deepEqual(await found({}), [shop, www, apex2, apex1])
  t.deepEqual(await found({ domain: one }), [www, apex1])
  t.deepEqual(await found({ token: ci.id }), [www])
  t.deepEqual(await found({ token: 'ci' }), [])
  t.deepEqual(await found({ source: 'creation' }), [apex2, apex1])
  t.deepEqual(await found({ type: 'rrsets' }), [shop, www])
  t.deepEqual(await found({ type: 'rrsets_changed', domain: other }), [shop])
  t.deepEqual(await found({ type: 'rrsets_' }), [])
  t.deepEqual(await found({ since: at }), [shop, www])
  t.deepEqual(await found({ until: at }), [apex2, apex1])
  t.deepEqual(await found({ since: at, until: at }), [])
  t.deepEqual(await found({ search: 'TICKET 47' }), [www])
  t.deepEqual(await found({ search: 'sho' }), [shop])
  t.deepEqual(await found({ search: one }), [www, apex1])
  t.deepEqual(await found({ search: `www ${one}` }), [www])
  t.deepEqual(await found({ search: 'a\0b' }), [])
  t.deepEqual(await found({ person: '%' }), [])
  for (const name of ['since', 'until']) {
    const { status, json } = await api.get(`/activity/?${name}=yesterday`)
    t.deepEqual([status, json], [400, { [name]: ['Must be a time such as 2026-01-31T12:00:00Z.'] }])
  }
})

test('pages and lines have all, and lines go on after the last one', async (t) => {
  const { api, id } = await service().account()
  const domain = await newDomain(api)
  await service().sql(
    `insert into history (id, domain_id, account_id, created, version, source, count, changes)
     select cast(regexp_replace(lpad(to_hex(cast(extract(epoch from at) * 1000 as bigint)), 12, '0'), '^(.{8})(.{4})$', '\\1-\\2') || '-7000-8000-' || lpad(to_hex(n), 12, '0') as uuid), domains.id, :id,
       at, n, 'api', 1, '[["x' || n || '","A",null,[60,"192.0.2.1"]]]'
     from domains, generate_series(1, 1200) as n,
         lateral (select date_trunc('second', now()) - n * interval '1 second' as at) as moment where name = :domain`,
    { id, domain },
  )
  const whole = await api.get('/activity/')
  t.is(whole.status, 400)
  t.regex(whole.text, /up to 500 items at a time \(1201 total\)/)
  let cursor: string | null = ''
  const paged: string[] = []
  while (cursor !== null) {
    const answer = succeeded(await api.get(`/activity/?cursor=${cursor}&type=rrsets`), 200)
    paged.push(...(answer.json as ShownActivity[]).map((entry) => entry.id))
    const next = /<([^>]*)>; rel="next"/.exec(String(answer.headers['link']))?.[1]
    cursor = next === undefined ? null : new URL(next).searchParams.get('cursor')
    if (next !== undefined) t.is(new URL(next).searchParams.get('type'), 'rrsets')
  }
  const lines = await activityLines(api, { type: 'rrsets' })
  t.deepEqual(
    lines.map((entry) => entry.id),
    paged,
  )
  t.is(paged.length, 1200)
  for (let n = 0; n < 3; n++) await newRRset(api, domain, { subname: `y${n}` })
  const [first, second, third] = await activityLines(api, { type: 'rrsets' })
  t.deepEqual(
    [first, second, third].map((entry) => entry!.changes![0]!.subname),
    ['y2', 'y1', 'y0'],
  )
  t.is((await activityLines(api, { type: 'rrsets', cursor: second!.id }))[0]!.id, third!.id)
  t.deepEqual(await activityLines(api, { type: 'token' }), [])
  for (const wrong of ['x', 'o1-x', '00000000-0000-4000-8000-000000000000']) {
    const headers = { accept: 'application/x-ndjson' }
    t.is((await api.get(`/activity/?cursor=${wrong}`, { headers })).status, 404, wrong)
  }
})

test('what is older than the retention goes, of accounts, too', async (t) => {
  const { api } = await service().account()
  succeeded(await api.post('/auth/tokens/', { name: 'old' }), 201)
  const { system } = service()
  const later = { ...system, now: () => new Date(Date.now() + 91 * 86_400_000).toISOString().replace('Z', '000Z') }
  t.deepEqual(typesOf(await activityOf(api)), ['token_created'])
  await trimHistory(later)
  t.deepEqual(await activityOf(api), [])
})

test("after a move, the new account's activity has the domain, and the former one's the move", async (t) => {
  const from = await service().account()
  const to = await service().account()
  const domain = await newDomain(from.api)
  const { email } = succeeded(await to.api.get('/auth/account/'), 200).json as { email: string }
  t.true((await zoneplane('domain', 'move', domain, '--to', email))[0])
  t.deepEqual(typesOf(await activityOf(from.api)), ['domain_moved'])
  const entries = await activityOf(to.api)
  t.deepEqual(typesOf(entries), ['domain_moved', 'domain_created'])
  t.like(entries[1], { domain, owner: null, token: null, request_id: null })
})
