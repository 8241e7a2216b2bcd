import { readConfig } from '../../../src/settings/config.ts'
import { query } from '../../../src/store/database.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { person, said } from '../../support/clients/people.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { addFactor, addPasskey, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { startService } from '../../support/servers/service.ts'

// Contract §3.1: the client's address, and which addresses a token may be used from.

const service = useService()

let account: Account
/** URLs of services on the same servers, by their listening addresses and trusted proxies. */
const urls = new Map<string, string>()
const closing: (() => Promise<void>)[] = []

const SETTINGS = {
  plain: { HOST: '127.0.0.1' },
  both: { HOST: '::' },
  ipv6: { HOST: '::1' },
  each: { HOST: '127.0.0.1, ::1' },
  proxied: { TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8, 2001:db8:5::/48' },
  proxiedBoth: { HOST: '::', TRUSTED_PROXIES: '127.0.0.1' },
  proxiedElsewhere: { TRUSTED_PROXIES: '192.0.2.1' },
} as const

test.before('an account, and services', async () => {
  account = await service().account()
  for (const [name, environment] of Object.entries(SETTINGS)) {
    const { url, stop } = await startService(service().backends, environment)
    urls.set(name, name === 'ipv6' ? url.replace('127.0.0.1', '[::1]') : url)
    closing.push(stop)
  }
})

test.after.always('the services stop', async () => {
  await Promise.all(closing.map((close) => close()))
})

type Setting = keyof typeof SETTINGS

async function status(setting: Setting, allowedSubnets: string[], forwarded: string[] = [], host?: string) {
  const { secret } = await addToken(service(), account.id, { allowedSubnets })
  const headers = [`Authorization: Token ${secret}`, ...forwarded.map((value) => `X-Forwarded-For: ${value}`)]
  const url = urls.get(setting)!
  const answer = await exchange(url, plainRequest('GET /api/v1/domains/', headers), {
    host: host ?? new URL(url).hostname.replace(/[[\]]/g, ''),
  })
  if (answer.status !== 200 && answer.body !== '{"detail":"Invalid token."}') throw new Error(answer.body)
  return answer.status
}

for (const [setting, allowed, expected] of [
  ['plain', ['127.0.0.1/32'], 200],
  ['plain', ['127.0.0.0/8'], 200],
  ['plain', ['0.0.0.0/0'], 200],
  ['plain', ['192.0.2.0/24', '127.0.0.1/32', '::/0'], 200],
  ['plain', ['127.0.0.2/32'], 401],
  ['plain', ['10.0.0.0/8', '192.0.2.0/24'], 401],
  ['plain', ['::/0'], 401],
  ['plain', ['::ffff:127.0.0.1/128'], 401],
  ['plain', [], 401],
  ['ipv6', ['::1/128'], 200],
  ['ipv6', ['::/0'], 200],
  ['ipv6', ['::2/128'], 401],
  ['ipv6', ['0.0.0.0/0'], 401],
  ['ipv6', [], 401],
  ['each', ['127.0.0.1/32'], 200],
  ['each', ['::/0'], 401],
  ['both', ['127.0.0.1/32'], 200],
  ['both', ['::ffff:0:0/96'], 401],
  ['both', ['::/0'], 401],
] as const) {
  test(`at ${setting}, a token for ${allowed.join(', ') || 'no network'} is ${expected}`, async (t) => {
    t.is(await status(setting, [...allowed]), expected)
  })
}

for (const setting of ['both', 'each'] as const) {
  test(`a client over IPv6 reaches ${setting} with its own address`, async (t) => {
    t.is(await status(setting, ['::1/128'], [], '::1'), 200)
    t.is(await status(setting, ['::/0'], [], '::1'), 200)
    t.is(await status(setting, ['::2/128', '0.0.0.0/0', '::ffff:0:0/96'], [], '::1'), 401)
  })
}

test('by default, the service listens on the loopback addresses of both families', async (t) => {
  const { hosts } = readConfig({})
  const { url, stop } = await startService(service().backends, { HOST: hosts.join() })
  for (const host of ['127.0.0.1', '::1']) {
    t.is((await exchange(url, plainRequest('GET /healthz'), { host })).status, 200, host)
  }
  await stop()
})

/** X-Forwarded-For headers, and the client's address. */
for (const [setting, forwarded, address] of [
  // No proxy is trusted, or another one.
  ['plain', ['192.0.2.7'], '127.0.0.1'],
  ['plain', ['127.0.0.1', '192.0.2.7'], '127.0.0.1'],
  ['proxiedElsewhere', ['192.0.2.7'], '127.0.0.1'],
  ['proxiedElsewhere', ['192.0.2.1'], '127.0.0.1'],
  // The peer is trusted.
  ['proxied', [], '127.0.0.1'],
  ['proxied', ['192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9,192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9 , \t192.0.2.7 '], '192.0.2.7'],
  ['proxied', ['203.0.113.9', '192.0.2.7'], '192.0.2.7'],
  ['proxied', ['192.0.2.7, 10.1.2.3'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 192.0.2.7, 10.1.2.3, 127.0.0.5'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 10.1.2.3, 192.0.2.7, 10.4.5.6'], '192.0.2.7'],
  ['proxied', ['192.0.2.7', '10.1.2.3', '2001:db8:5::9'], '192.0.2.7'],
  ['proxied', ['2001:db8::7'], '2001:db8::7'],
  ['proxied', ['2001:DB8:0:0::7'], '2001:db8::7'],
  ['proxied', ['2001:db8::7, 2001:db8:5::1'], '2001:db8::7'],
  ['proxied', ['::ffff:192.0.2.7'], '192.0.2.7'],
  ['proxied', ['::ffff:c000:207'], '192.0.2.7'],
  ['proxied', ['192.0.2.7, ::ffff:10.1.2.3'], '192.0.2.7'],
  ['proxied', ['fe80::1%eth0'], 'fe80::1'],
  // Only proxies: the furthest one counts.
  ['proxied', ['10.1.2.3'], '10.1.2.3'],
  ['proxied', ['10.1.2.3, 10.4.5.6'], '10.1.2.3'],
  // An invalid address ends the search, because nothing to its left can be trusted.
  ['proxied', ['192.0.2.7, unknown'], '127.0.0.1'],
  ['proxied', ['192.0.2.7, '], '127.0.0.1'],
  ['proxied', ['192.0.2.7, _hidden, 10.1.2.3'], '10.1.2.3'],
  ['proxied', ['unknown'], '127.0.0.1'],
  ['proxied', [''], '127.0.0.1'],
  ['proxied', [','], '127.0.0.1'],
  ['proxied', ['1'], '127.0.0.1'],
  ['proxied', ['010.0.0.1'], '127.0.0.1'],
  ['proxied', ['192.0.2.7/24'], '127.0.0.1'],
  ['proxied', ['192.0.2.256'], '127.0.0.1'],
  ['proxied', ['192.0.2.7, 192.0.2.8, unknown'], '127.0.0.1'],
  ['proxied', ['unknown, 192.0.2.7'], '192.0.2.7'],
  // The peer is trusted, and has an IPv4-mapped address.
  ['proxiedBoth', ['192.0.2.7'], '192.0.2.7'],
  ['proxiedBoth', ['192.0.2.7, 127.0.0.1'], '192.0.2.7'],
] as const) {
  test(`the client's address at ${setting} with ${JSON.stringify(forwarded)} is ${address}`, async (t) => {
    const bits = address.includes(':') ? 128 : 32
    t.is(await status(setting, [`${address}/${bits}`], [...forwarded]), 200)
    const every = ['0.0.0.0/0', '::/0']
    t.is(await status(setting, every, [...forwarded]), 200)
  })
}

test('a trusted proxy does not circumvent the allowed networks of a token', async (t) => {
  t.is(await status('proxied', ['192.0.2.7/32'], []), 401)
  t.is(await status('proxied', ['192.0.2.7/32'], ['192.0.2.7, 203.0.113.9']), 401)
  t.is(await status('plain', ['192.0.2.7/32'], ['192.0.2.7']), 401)
})

// The fixed limits of contract §16 that are far above use. The database is filled without the API.

function exceeded(text: string): [number, string] {
  return [403, JSON.stringify({ detail: `Limit exceeded: ${text}.` })]
}

/** Adds tokens to an account, beside those it has. */
async function addTokens({ id }: Pick<Account, 'id'>, count: number, mfa: boolean | null = null): Promise<void> {
  await query(
    service().system.db,
    `insert into tokens (created, owner_id, secret_hash, mfa)
     select now(), :id, sha256(convert_to(cast(gen_random_uuid() as text), 'UTF8')), :mfa
     from generate_series(1, cast(:count as integer))`,
    { id, count, mfa },
  )
}

test('an account can have 1,000 API tokens, also if it creates several at once', async (t) => {
  const account = await service().account()
  await addTokens(account, 997)
  await addTokens(account, 10, false)
  const answers = await Promise.all(Array.from({ length: 5 }, () => account.api.post('/auth/tokens/')))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403, 403, 403])
  const text = 'an account can have at most 1000 tokens'
  t.deepEqual(said(answers.find(({ status }) => status === 403)!), exceeded(text))
  t.is((await account.api.post('/auth/tokens/', { name: 1, max_age: 'x' })).status, 400, 'other problems come first')
  t.is((await (await service().account()).api.post('/auth/tokens/')).status, 201)
  const { id } = answers.find(({ status }) => status === 201)!.json as { id: string }
  succeeded(await account.api.delete(`/auth/tokens/${id}/`), 204)
  t.is((await account.api.post('/auth/tokens/')).status, 201)
})

test('an account with 1,000 API tokens can log in; beyond 1,000 login tokens it cannot', async (t) => {
  const someone = await person(service())
  const login = () => service().anonymous.post('/auth/login/', someone.credentials)
  await addTokens(someone, 1_000)
  await addTokens(someone, 999, false)
  t.is((await login()).status, 200)
  t.deepEqual(said(await login()), exceeded('an account can have at most 1000 login tokens'))
})

test('a token can have 2,000 policies, and the last of them is still obeyed', async (t) => {
  const { api, tokenId } = await service().account()
  const path = `/auth/tokens/${tokenId}/policies/rrsets/`
  const domain = await newDomain(api)
  succeeded(await api.post(path, { domain: null, subname: null, type: null, perm_write: true }), 201)
  await query(
    service().system.db,
    `insert into policies (created, token_id, subname) select now(), :tokenId, 'h' || n from generate_series(1, 1998) as n`,
    { tokenId },
  )
  const policy = (subname: string) => ({ domain: null, subname, type: 'A', perm_write: true })
  succeeded(await api.post(path, policy('h1998')), 201)
  t.deepEqual(said(await api.post(path, policy('more'))), exceeded('a token can have at most 2000 policies'))
  t.is((await api.post(path, policy('h1998'))).status, 409)
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'h1997' }))).status, 403)
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'h1998' }))).status, 201)
})

test('a domain can have 250,000 RRsets; at the limit RRsets can be changed, exchanged and deleted', async (t) => {
  const { api, secret } = await service().account()
  const domain = await newDomain(api)
  const path = `/domains/${domain}/rrsets/`
  await newRRset(api, domain, { subname: 'a' })
  // All that the service counts.
  await query(service().system.db, 'update domains set size = 249999 where name = :domain', { domain })
  const text = 'a domain can have at most 250000 RRsets'
  t.deepEqual(said(await api.post(path, [rrset({ subname: 'b' }), rrset({ subname: 'c' })])), exceeded(text))
  succeeded(await api.post(path, rrset({ subname: 'b' })), 201)
  t.deepEqual(said(await api.post(path, rrset({ subname: 'c' }))), exceeded(text))
  t.is((await api.post(path, rrset({ subname: 'c', records: ['x'] }))).status, 400)
  const update = await service().anonymous.get(
    `//root/nic/update?username=${domain}&password=${secret}&hostname=x.${domain}`,
  )
  t.deepEqual([update.status, update.text], [403, `Limit exceeded: ${text}.`])
  t.is((await api.patch(`${path}a/A/`, { ttl: 7200 })).status, 200)
  const exchange = [rrset({ subname: 'a', records: [] }), rrset({ subname: 'c' })]
  t.is((await api.put(path, exchange)).status, 200)
  t.is((await api.delete(`${path}b/A/`)).status, 204)
  t.is((await api.post(path, rrset({ subname: 'd' }))).status, 201)
})

test('an account can have 20 passkeys, besides its TOTP factors', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, { mfa: true, permManageTokens: true })
  await addFactor(service(), someone.id)
  const ask = () => api.post('/auth/passkeys/options/', {}, { headers: { host: 'localhost' } })
  for (let i = 0; i < 20; i++) {
    t.is((await ask()).status, 200)
    await addPasskey(service(), someone.id)
  }
  t.deepEqual(said(await ask()), exceeded('an account can have at most 20 passkeys'))
})

test('an account can have 20 TOTP factors, with MFA enabled or not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, { mfa: true, permManageTokens: true })
  for (const used of [false, true]) {
    for (let i = 0; i < 20; i++) await addFactor(service(), someone.id, { used })
    const answer = await api.post('/auth/totp/', { name: 'more' })
    t.deepEqual(said(answer), exceeded('an account can have at most 20 TOTP factors'))
    await query(service().system.db, 'delete from totp_factors where account_id = :id', { id: someone.id })
  }
  t.is((await api.post('/auth/totp/', { name: 'more' })).status, 202)
})
