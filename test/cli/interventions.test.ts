import test from 'ava'
import { query } from '../../src/store/database.ts'
import { type Account, createAccount, emailOf } from '../support/clients/accounts.ts'
import { newDomain, type ShownDomain, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { allLettersTo } from '../support/clients/mails.ts'
import { addToken } from '../support/clients/tokens.ts'
import { answersOf, commandsOn } from '../support/command-line.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'

// Contract §7.10, §15.2: the operator looks at domains and accounts, and moves domains.

const service = useService()

const zoneplane = commandsOn(() => service().system)
const { json, refusal } = answersOf(zoneplane)

const newAccount = (limitDomains: number | null = null): Promise<Account> => service().account({ limitDomains })
const a = (subname: string) => ({ subname, type: 'A', ttl: 60, records: ['192.0.2.1'] })

/** A domain with an RRset. */
async function newHost(api: Client): Promise<string> {
  const name = await newDomain(api)
  succeeded(await api.post(`/domains/${name}/rrsets/`, a('www')), 201)
  return name
}

const served = (name: string) => lookUp(service().powerDns, `www.${name}`, 'A')

test('a domain is shown with its account, its state, its DS and its RRsets, and found by a part of its name', async (t) => {
  const { id, api } = await newAccount()
  const name = await newHost(api)
  const email = await emailOf(service().system, id)
  const shown = (await json('domain', 'show', name)) as Record<string, unknown>
  const { keys } = (await api.get(`/domains/${name}/`)).json as ShownDomain
  t.like(shown, { name, owner: email, owner_state: 'active', state: 'served', suspended: null, rrsets: 2 })
  t.deepEqual(
    shown['ds'],
    keys.flatMap(({ ds }) => ds),
  )
  t.true((shown['contents'] as { subname: string }[]).some(({ subname }) => subname === 'www'))
  const [, printed] = await zoneplane('domain', 'show', name)
  t.regex(printed, new RegExp(`^owner +${email}$`, 'm'))
  t.regex(printed, new RegExp(`^www\\.${name}\\. 60 A 192\\.0\\.2\\.1$`, 'm'))
  t.is(await refusal('domain', 'show', 'nowhere.example'), 'There is no domain nowhere.example.')

  const found = (await json('domain', 'list', '--search', name.toUpperCase())) as { name: string }[]
  t.deepEqual(
    found.map((domain) => domain.name),
    [name],
  )
  t.deepEqual(await json('domain', 'list', '--search', '%'), [])
})

test('the history of a domain, also of a deleted one, names accounts, tokens and requests', async (t) => {
  const { id, tokenId, api } = await newAccount()
  const name = await newHost(api)
  const email = await emailOf(service().system, id)
  succeeded(
    await api.send('DELETE', `/domains/${name}/rrsets/www/A/`, undefined, { headers: { 'x-request-id': 'find-me' } }),
    204,
  )
  const look = async () => (await json('domain', 'history', name)) as { count: number; source: string }[]
  const [last, second] = await look()
  t.like(last, { source: 'api', owner: email, token: { id: tokenId }, request_id: 'find-me', count: 1 })
  t.like(second, { source: 'api', changes: [{ subname: 'www', type: 'A', before: null }] })
  t.is(((await json('domain', 'history', name, '--limit', '1')) as unknown[]).length, 1)
  const [, printed] = await zoneplane('domain', 'history', name)
  t.regex(printed, /^ {2}- www 60 A 192\.0\.2\.1$/m)
  t.regex(printed, new RegExp(`^20.*, api, by ${email}, token ${tokenId} .*, request find-me$`, 'm'))
  t.is(await zoneplane('domain', 'delete', name, '--confirm', name).then(([ok]) => ok), true)
  t.is((await look()).length, 4)
  t.regex(await refusal('domain', 'history', 'nowhere.example'), /^There is no domain nowhere\.example, and/)
})

test('an account is shown with its domains, tokens and logins', async (t) => {
  const { id, tokenId, api } = await newAccount()
  const name = await newDomain(api)
  const { system, url } = service()
  const { id: login } = await addToken({ system, url }, id, { mfa: false })
  const email = await emailOf(system, id)
  const shown = await json('account', 'show', email)
  t.like(shown, { id, email, state: 'active', known_networks: [], refused: [] })
  const { tokens, logins, domains_owned } = shown as Record<string, { id: string; name: string; state: string }[]>
  t.deepEqual(
    tokens!.map((token) => token.id),
    [tokenId],
  )
  t.deepEqual(
    logins!.map((token) => token.id),
    [login],
  )
  t.like(domains_owned, [{ name, state: 'served' }])
  const [, printed] = await zoneplane('account', 'show', email)
  t.regex(printed, new RegExp(`^${name} +served +20`, 'm'))
})

test('a domain moves with its contents, keys and history; nothing of the former account stays', async (t) => {
  const [from, to] = [await newAccount(), await newAccount()]
  const { system } = service()
  const name = await newHost(from.api)
  const path = `/domains/${name}/`
  const before = (await from.api.get(path)).json
  succeeded(await from.api.patch(path, { note: 'Ask Alice.' }), 200)
  const transfers = { addresses: ['192.0.2.7'], notify: ['192.0.2.7'], tsig: true }
  const { key } = succeeded(await from.api.put(`${path}transfers/`, transfers), 200).json as { key: { name: string } }
  const policed = await addToken({ system, url: service().url }, from.id, {})
  const policies = `/auth/tokens/${policed.id}/policies/rrsets/`
  const rest = { domain: null, subname: null, type: null }
  succeeded(await from.api.post(policies, { ...rest, perm_write: false }), 201)
  succeeded(await from.api.post(policies, { ...rest, domain: name, perm_write: true }), 201)
  const email = await emailOf(system, to.id)

  t.deepEqual(await json('domain', 'move', name, '--to', email), { names: [name], owner: email })
  for (const api of [from.api, policed.api]) {
    t.is((await api.get(path)).status, 404)
    t.is((await api.get(`${path}history/`)).status, 404)
    t.is((await api.post(`${path}rrsets/`, a('new'))).status, 404)
  }
  t.is(((await from.api.get(policies)).json as unknown[]).length, 1)
  t.is((await from.api.get('/domains/')).text, '[]')
  t.deepEqual((await to.api.get(path)).json, before)
  t.deepEqual(await served(name), ['192.0.2.1'])
  t.deepEqual((await to.api.get(`${path}transfers/`)).json, { addresses: [], notify: [], tsig: false })
  const zone = (await service().pdns('GET', `/zones/${name}.?rrsets=false`)).json as { master_tsig_key_ids: string[] }
  t.deepEqual(zone.master_tsig_key_ids, [])
  // PowerDNS 4.7.3 with LMDB lists it still (powerdns.md §2).
  const [removal] = service()
    .proxy.calls.filter(({ path }) => path === `/tsigkeys/${key.name}.`)
    .slice(-1)
  t.like(removal, { method: 'DELETE', status: 204 })
  t.deepEqual(await discrepanciesOf(service(), name), [])

  const entries = (await to.api.get(`${path}history/`)).json as { id: string; source: string }[]
  t.deepEqual(
    entries.map(({ source }) => source),
    ['api', 'creation'],
  )
  for (const entry of entries) t.like(entry, { owner: null, token: null, request_id: null })
  t.is((await to.api.post(`${path}history/${entries[0]!.id}/undo/`)).status, 200)
  t.like((await to.api.get(`${path}history/`)).json, { 0: { owner: email, source: 'undo' } })

  const subjects = async (id: string) =>
    (await allLettersTo(system, await emailOf(system, id))).map(({ subject, text }) => [subject, text.includes('@')])
  t.deepEqual(await subjects(from.id), [[`${name} was moved to another account`, false]])
  t.deepEqual(await subjects(to.id), [[`${name} was moved to your account`, false]])
  const counts = await query<{ domains: number }>(
    system.db,
    'select domains from accounts where id = any (:ids) order by id = :last',
    { ids: [from.id, to.id], last: to.id },
  )
  t.deepEqual(counts, [{ domains: 0 }, { domains: 1 }])
})

test('domains above and below each other move together, or not at all', async (t) => {
  const [from, to] = [await newAccount(), await newAccount(2)]
  const name = await newDomain(from.api)
  const below = `sub.${name}`
  succeeded(await from.api.post('/domains/', { name: below }), 201)
  const email = await emailOf(service().system, to.id)
  for (const one of [name, below]) {
    const text = `Another account has a domain above or below ${one}. Name both, to move them together.`
    t.is(await refusal('domain', 'move', one, '--to', email), text)
  }
  t.is(await refusal('domain', 'move', name, 'nowhere.example', '--to', email), 'There is no domain nowhere.example.')
  const third = await newDomain(from.api)
  t.regex(await refusal('domain', 'move', name, below, third, '--to', email), /would have 3 domains, and can have 2/)
  t.is((await from.api.get(`/domains/${below}/`)).status, 200)
  t.true((await zoneplane('domain', 'move', name, below, '--to', email))[0])
  t.is((await to.api.get(`/domains/${below}/`)).status, 200)
  t.is(await refusal('domain', 'move', name, '--to', email), `${name} is a domain of that account already.`)
  await json('account', 'disable', email)
  t.is(await refusal('domain', 'move', third, '--to', email), 'That account is not active.')
})

test('a policy that is made while a domain moves does not name the domain of another account', async (t) => {
  const { system, url } = service()
  for (let round = 0; round < 5; round++) {
    const [from, to] = [await newAccount(), await createAccount(system, url)]
    const name = await newDomain(from.api)
    const policed = await addToken({ system, url }, from.id, {})
    const policies = `/auth/tokens/${policed.id}/policies/rrsets/`
    const rest = { domain: null, subname: null, type: null }
    succeeded(await from.api.post(policies, { ...rest, perm_write: false }), 201)
    const writes = [
      from.api.post(policies, { ...rest, domain: name, perm_write: true }),
      from.api.post(`/domains/${name}/rrsets/`, a('www')),
      from.api.post('/domains/', { name: `sub.${name}` }),
    ]
    const email = await emailOf(system, to.id)
    const moving = zoneplane('domain', 'move', name, '--to', email)
    await Promise.all([moving, ...writes])
    const wrong = await query(
      system.db,
      `select from policies join tokens on tokens.id = token_id join domains on domains.id = domain_id
       where domains.owner_id <> coalesce(tokens.user_override_id, tokens.owner_id)
       union all select from domains as one join domains as other
         on other.name = 'sub.' || one.name and other.owner_id <> one.owner_id`,
    )
    t.deepEqual(wrong, [])
  }
})
