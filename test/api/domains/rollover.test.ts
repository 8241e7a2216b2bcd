import { pause, resume } from '../../../src/service/adoption/pausing.ts'
import { advance } from '../../../src/service/rollovers/advancing.ts'
import { all } from '../../../src/store/domains/rollovers.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { enter } from '../../support/rollovers/steps.ts'
import { test } from '../../support/serial.ts'

// Contract §15.10: the replacement of keys over HTTP. What resolvers see meanwhile: test/served/rollovers.test.ts.

// With the waits of a real service, a rollover stays in its first phase, unless it is an emergency.
const service = useService()
const account = useAccount(service)

interface Shown {
  phase: string
  since: string
  waits_for: string
  emergency: boolean
  can_cancel: boolean
  add_ds: string[]
  remove_ds: string[]
}

const pathOf = (name: string) => `/domains/${name}/rollover/`
const ABSENT = '{"detail":"Not found."}'
const DENIED = '{"detail":"You do not have permission to perform this action."}'

async function begin(api: Client, name: string, body?: object): Promise<Shown> {
  return succeeded(await api.post(pathOf(name), body), 201).json as Shown
}

async function shown(api: Client, name: string): Promise<Shown> {
  return succeeded(await api.get(pathOf(name)), 200).json as Shown
}

/** A new domain whose keys are being replaced. */
async function rolling(body?: object): Promise<string> {
  const { api } = account()
  const name = await newDomain(api)
  await begin(api, name, body)
  return name
}

/** Lets a login of the account vouch for the parent, which nobody asks. */
async function force(name: string): Promise<Shown> {
  const { api } = await addToken(service(), account().id, { mfa: false, permDeleteDomain: true })
  return succeeded(await api.post(`${pathOf(name)}confirm/`, { force: true }), 200).json as Shown
}

/** Adds the key of another signer. */
async function addForeignKey(name: string): Promise<void> {
  const dnskey = `257 3 15 ${Buffer.alloc(32, 7).toString('base64')}`
  await newRRset(account().api, name, { subname: '', type: 'DNSKEY', records: [dnskey] })
}

/** Looks at a rollover three times, which would be enough if it did not wait for other signers. */
async function lookAt(name: string): Promise<Shown[]> {
  const { system } = service()
  const looks: Shown[] = []
  while (looks.length < 3) {
    const rollover = (await all(system.db)).find((each) => each.name === name)!
    await advance(system, rollover)
    looks.push(await shown(account().api, name))
  }
  return looks
}

/** Waits until the rollover has a phase. */
async function reach(api: Client, name: string, phase: string): Promise<Shown> {
  await eventually(async () => (await shown(api, name)).phase === phase)
  return shown(api, name)
}

/** The CDS that DNS serves, sorted, without blanks in digests. */
async function cdsOf(name: string): Promise<string[]> {
  const contents = await lookUp(service().powerDns, name, 'CDS')
  return contents.map((content) => content.toLowerCase().replace(/(?<=^\S+ \S+ \S+ .*) /g, '')).sort()
}

/** Puts a rollover into a phase without the time that leads there. */
async function put(name: string, phase: string): Promise<void> {
  await service().sql(
    `update rollovers set phase = :phase, seen = 0, check_at = now() + interval '1 day'
     where domain_id = (select id from domains where name = :name)`,
    { name, phase },
  )
}

test('a rollover begins with the new key beside the former, whose DS alone counts', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const [old] = (await domainOf(api, name)).keys
  const { since, ...rollover } = await begin(api, name)
  t.deepEqual(rollover, {
    ...{ phase: 'publish', waits_for: 'nameservers', emergency: false, can_cancel: true, add_ds: [], remove_ds: [] },
  })
  t.regex(since, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  const { keys } = await domainOf(api, name)
  t.is(keys.length, 2)
  const added = keys.find(({ dnskey }) => dnskey !== old!.dnskey)!
  t.like(added, { ds: [], flags: 257, keytype: 'csk', managed: true })
  t.true(added.dnskey.startsWith('257 3 13 '))
  t.deepEqual(
    keys.find(({ dnskey }) => dnskey === old!.dnskey),
    old,
  )
  t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 2)
  t.is((await lookUp(service().powerDns, name, 'CDNSKEY')).length, 1)
})

for (const [algorithm, number, phase] of [
  ['ecdsa256', 13, 'publish'],
  ['ecdsa384', 14, 'sign'],
  ['ed25519', 15, 'sign'],
] as const) {
  test(`a rollover to ${algorithm} begins with ${phase}`, async (t) => {
    const { api } = account()
    const name = await newDomain(api)
    t.is((await begin(api, name, { algorithm })).phase, phase)
    const { keys } = await domainOf(api, name)
    t.is(keys.length, phase === 'sign' ? 1 : 2)
    await put(name, 'publish')
    const sql = `select split_part(dnskey, ' ', 3) as number from keys
      where domain_id = (select id from domains where name = :name)`
    const numbers = (await service().sql<{ number: string }>(sql, { name })).map((row) => row.number)
    t.true(numbers.includes(String(number)))
    t.is(numbers.length, 2)
  })
}

test('an emergency waits for no cache: the owner confirms the DS, and the former key goes', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const [old] = (await domainOf(api, name)).keys
  t.true((await begin(api, name, { emergency: true })).emergency)
  const awaiting = await reach(api, name, 'await-ds')
  t.like(awaiting, { waits_for: 'parent', emergency: true, can_cancel: true, remove_ds: old!.ds })
  const { keys } = await domainOf(api, name)
  const added = keys.find(({ dnskey }) => dnskey !== old!.dnskey)!
  t.deepEqual(awaiting.add_ds, added.ds)
  t.is(added.ds.length, 2)
  await eventuallyIs(() => cdsOf(name), [...added.ds].sort())
  t.deepEqual(await force(name), awaiting)
  await eventually(async () => (await api.get(pathOf(name))).status === 404)
  t.deepEqual((await domainOf(api, name)).keys, [added])
  await eventually(async () => (await lookUp(service().powerDns, name, 'DNSKEY')).length === 1)
})

test('what is wrong is refused with its member, and nothing begins', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  for (const [body, problems] of [
    [{ algorithm: 'rsa' }, { algorithm: ['"rsa" is not a valid choice.'] }],
    [{ algorithm: 'ECDSA256' }, { algorithm: ['"ECDSA256" is not a valid choice.'] }],
    [{ algorithm: null }, { algorithm: ['This field may not be null.'] }],
    [{ algorithm: 13 }, { algorithm: ['"13" is not a valid choice.'] }],
    [{ emergency: 'perhaps' }, { emergency: ['Must be a valid boolean.'] }],
    [{ emergency: null }, { emergency: ['This field may not be null.'] }],
    [[], { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
  ] as const) {
    const { status, json } = await api.post(pathOf(name), body)
    t.deepEqual([status, json], [400, problems], JSON.stringify(body))
  }
  t.is((await api.get(pathOf(name))).status, 404)
  t.is((await domainOf(api, name)).keys.length, 1)
})

test('what cannot be done now is a conflict', async (t) => {
  const { api } = account()
  const name = await rolling()
  const path = pathOf(name)
  const conflict = (text: string) => [409, `{"detail":"${text}"}`]
  const answer = async (method: string, target: string) => {
    const { status, text } = await api.send(method, target)
    return [status, text]
  }
  const again = conflict('The keys of this domain are being replaced already.')
  const early = conflict('The rollover does not wait for a confirmation.')
  t.deepEqual(await answer('POST', path), again)
  t.deepEqual(await answer('POST', `${path}confirm/`), early)
  await put(name, 'unpublish')
  t.like(await shown(api, name), { phase: 'unpublish', can_cancel: false })
  t.deepEqual(
    await answer('DELETE', path),
    conflict('It is too late: resolvers may not have the former keys any more.'),
  )
  t.deepEqual(await answer('POST', path), again)
  t.deepEqual(await answer('POST', `${path}confirm/`), early)
  t.is((await shown(api, name)).phase, 'unpublish')

  const other = await newDomain(api)
  const sql = 'delete from keys where domain_id = (select id from domains where name = :name)'
  await service().sql(sql, { name: other })
  t.deepEqual(
    await answer('POST', pathOf(other)),
    conflict('The keys of this domain are not stored yet. Try again in a few minutes.'),
  )
})

test('a paused domain keeps its rollover as it is', async (t) => {
  const { api } = account()
  const { system } = service()
  const [name, other] = [await rolling(), await newDomain(api)]
  await put(name, 'await-ds')
  const before = await shown(api, name)
  for (const each of [name, other]) await pause(system, each)
  for (const [method, target] of [
    ['POST', pathOf(other)],
    ['DELETE', pathOf(name)],
    ['POST', `${pathOf(name)}confirm/`],
  ] as const) {
    const paused = target.split('/')[2]
    const { status, text } = await api.send(method, target)
    const detail = `{"detail":"${paused} is paused by the operator of this service and cannot be changed now."}`
    t.deepEqual([status, text], [409, detail], `${method} ${target}`)
  }
  t.deepEqual(await shown(api, name), before)
  for (const each of [name, other]) await resume(system, each, 'ours')
  t.is((await api.get(pathOf(other))).status, 404)
  await force(name)
})

test('DELETE goes back at once if resolvers have seen nothing that lasts', async (t) => {
  const { api } = account()
  for (const algorithm of ['ecdsa256', 'ed25519']) {
    const name = await newDomain(api)
    const before = (await domainOf(api, name)).keys
    await begin(api, name, { algorithm })
    t.is(succeeded(await api.delete(pathOf(name)), 204).text, '')
    t.is((await api.get(pathOf(name))).status, 404)
    t.deepEqual((await domainOf(api, name)).keys, before)
    t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 1)
    // Another one can begin.
    await begin(api, name, { algorithm })
  }
})

test('DELETE turns a rollover round if the parent may have the new DS', async (t) => {
  const { api } = account()
  const name = await rolling({ emergency: true })
  const there = await reach(api, name, 'await-ds')
  const back = succeeded(await api.delete(pathOf(name)), 200).json as Shown
  t.like(back, { phase: 'await-ds', emergency: true, add_ds: there.remove_ds, remove_ds: there.add_ds })
  t.deepEqual(await shown(api, name), back)
  const { keys } = await domainOf(api, name)
  t.deepEqual(keys.flatMap(({ ds }) => ds).sort(), [...back.add_ds].sort())
})

test('DELETE hides a published key of another algorithm before it stops to sign', async (t) => {
  const { api } = account()
  const name = await rolling({ algorithm: 'ed25519' })
  await put(name, 'publish')
  t.like(succeeded(await api.delete(pathOf(name)), 200).json, { phase: 'unpublish', can_cancel: false })
})

test('without a rollover, or without the domain, there is nothing', async (t) => {
  const { api } = account()
  const other = await service().account()
  const [name, busy] = [await newDomain(api), await rolling()]
  for (const [client, domain] of [
    [api, name],
    [api, 'absent.test'],
    [other.api, busy],
  ] as const) {
    for (const [method, path] of [
      ['GET', pathOf(domain)],
      ['DELETE', pathOf(domain)],
      ['POST', `${pathOf(domain)}confirm/`],
      ...(domain === name ? [] : [['POST', pathOf(domain)] as const]),
    ] as const) {
      const { status, text } = await client.send(method, path)
      t.deepEqual([status, text], [404, ABSENT], `${method} ${path}`)
    }
  }
  t.is((await api.put(pathOf(name), {})).status, 405)
  t.is((await api.get(`${pathOf(name)}confirm/`)).status, 405)
})

/** The tokens that may not replace keys; those in the second list may see that they are replaced. */
const POLICIES = {
  'a read-only token': [{ write: false }],
  'a token for one name': [{ write: false }, { subname: 'www', write: true }],
  'a token that may not write one type': [{ write: true }, { type: 'NS', write: false }],
}
const WITHOUT_PERMISSION = {
  'a token without permissions': { permCreateDomain: false },
  'a token that may only create domains': { permCreateDomain: true },
  'a token that may only manage tokens': { permManageTokens: true },
}

test('only a token that may delete the domain replaces its keys', async (t) => {
  const { api, id } = account()
  const owner = await service().account()
  const [name, busy, awaiting] = [await newDomain(api), await rolling(), await rolling({ emergency: true })]
  await reach(api, awaiting, 'await-ds')
  const keys = async () =>
    Promise.all([name, busy, awaiting].map((each) => domainOf(api, each).then(({ keys }) => keys)))
  const [before, there] = [await keys(), await shown(api, awaiting)]
  const may = { permDeleteDomain: true }
  const restricted = async (...policies: Parameters<typeof addPolicies>[2][]) => {
    const token = await addToken(service(), id, may)
    await addPolicies(service(), token.id, ...policies)
    return token.api
  }
  const refused: [string, Client, number][] = []
  for (const [title, policies] of Object.entries(POLICIES)) refused.push([title, await restricted(...policies), 403])
  for (const [title, permissions] of Object.entries(WITHOUT_PERMISSION)) {
    refused.push([title, (await addToken(service(), id, permissions)).api, 200])
  }
  const stranger = await addToken(service(), owner.id, { userOverrideId: id })
  refused.push(["another account's override token", stranger.api, 200])
  const login = await addToken(service(), id, { mfa: false, ...may, permDeleteDomain: false })
  refused.push(['a login token without the permission', login.api, 200])
  for (const [title, client, seen] of refused) {
    for (const [method, path, body] of [
      ['POST', pathOf(name)],
      ['POST', pathOf(name), { emergency: true }],
      ['POST', pathOf(name), { return: true }],
      ['DELETE', pathOf(busy)],
      ['DELETE', pathOf(awaiting)],
      ['POST', `${pathOf(busy)}confirm/`],
      ['POST', `${pathOf(awaiting)}confirm/`],
    ] as const) {
      const { status, text } = await client.send(method, path, body)
      t.deepEqual([status, text], [403, DENIED], `${title}: ${method} ${path}`)
    }
    t.is((await client.get(pathOf(busy))).status, seen, title)
  }
  t.is((await api.get(pathOf(name))).status, 404)
  t.deepEqual(await shown(api, awaiting), there)
  t.is((await shown(api, busy)).phase, 'publish')
  t.deepEqual(await keys(), before)
  const bound = await addToken(service(), owner.id, { userOverrideId: id, ...may })
  const allowed = [await restricted({ write: false }, { domain: name, write: true }), bound.api]
  for (const client of allowed) {
    await begin(client, name)
    await shown(client, name)
    succeeded(await client.delete(pathOf(name)), 204)
  }
})

test('tags and dry runs are refused as for any other write', async (t) => {
  const { api } = account()
  const [name, busy] = [await newDomain(api), await rolling()]
  const tag = String((await api.get(`/domains/${name}/`)).headers['etag'])
  for (const [method, path] of [
    ['POST', pathOf(name)],
    ['DELETE', pathOf(busy)],
    ['POST', `${pathOf(busy)}confirm/`],
  ] as const) {
    t.is((await api.send(method, path, undefined, { headers: { 'if-match': tag } })).status, 412)
    t.is((await api.send(method, `${path}?dry_run=true`)).text, '{"dry_run":["Not supported here."]}')
  }
  t.is((await api.get(pathOf(name))).status, 404)
  t.is((await shown(api, busy)).phase, 'publish')
  const headers = { 'if-match': '*', 'if-none-match': '*' }
  t.is((await api.post(pathOf(name), {}, { headers })).status, 201)
})

test('with other signers, a rollover goes on when the owner says that they publish the new key', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  await addForeignKey(name)
  t.like(await begin(api, name, { emergency: true }), { phase: 'publish', waits_for: 'signers', can_cancel: true })
  for (const look of await lookAt(name)) t.like(look, { phase: 'publish', waits_for: 'signers' })
  const confirmed = succeeded(await api.post(`${pathOf(name)}confirm/`), 200).json as Shown
  t.is(confirmed.phase, 'publish')
  t.not(confirmed.waits_for, 'signers')
  t.deepEqual((await reach(api, name, 'await-ds')).emergency, true)
})

test('the wait for caches begins again when the owner vouches for other signers', async (t) => {
  const { api } = account()
  const name = await rolling()
  const read = async () => {
    const sql = `select seen, confirmed, waited < 600 as fresh from rollovers join domains on id = domain_id where name = :name`
    return (await service().sql<{ seen: number; confirmed: boolean; fresh: boolean }>(sql, { name }))[0]!
  }
  await addForeignKey(name)
  await eventually(async () => (await read()).seen > 0)
  await service().sql(
    `update rollovers set waited = 3500 where domain_id = (select id from domains where name = :name)`,
    {
      name,
    },
  )
  succeeded(await api.post(`${pathOf(name)}confirm/`), 200)
  t.like(await read(), { confirmed: true, fresh: true })
})

test('whoever removes the records of other signers does not end the wait of the owner', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  await addForeignKey(name)
  await begin(api, name, { algorithm: 'ed25519', emergency: true })
  succeeded(await api.delete(`/domains/${name}/rrsets/@/DNSKEY/`), 204)
  await reach(api, name, 'publish')
  for (const look of await lookAt(name)) t.like(look, { phase: 'publish', waits_for: 'signers' })
  succeeded(await api.post(`${pathOf(name)}confirm/`), 200)
  await reach(api, name, 'await-ds')
  // The next one knows nothing of them.
  const other = await rolling()
  t.not((await shown(api, other)).waits_for, 'signers')
  t.is((await api.post(`${pathOf(other)}confirm/`)).status, 409)
})

test('the contents stay, and so do records that the user has added', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  await addForeignKey(name)
  const rrsets = (await api.get(`/domains/${name}/rrsets/`)).text
  await begin(api, name, { emergency: true })
  succeeded(await api.post(`${pathOf(name)}confirm/`), 200)
  await reach(api, name, 'await-ds')
  t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 3)
  t.is((await api.get(`/domains/${name}/rrsets/`)).text, rrsets)
})

for (const [phase, expected, served] of [
  ['publish', 'publish', 2],
  ['await-ds-ttl', 'await-ds', 2],
  ['unpublish', 'await-ds', 2],
] as const) {
  test(`a domain that was deleted in ${phase} comes back in ${expected}: the parent may have changed`, async (t) => {
    const { api } = account()
    const name = await rolling({ algorithm: 'ed25519' })
    await enter(service(), name, phase)
    const { add_ds } = await shown(api, name)
    succeeded(await api.delete(`/domains/${name}/`), 204)
    succeeded(await api.post('/domains/', { name, restore: true }), 201)
    const { phase: back, since } = await shown(api, name)
    t.is(back, expected)
    const { created } = ((await api.get(`/domains/${name}/history/`)).json as { created: string }[])[0]!
    t.is(since >= created, phase !== expected)
    t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, served)
    if (phase !== expected) {
      t.deepEqual(await cdsOf(name), [...add_ds].sort())
    }
  })
}
