import type { ExecutionContext } from 'ava'
import { query } from '../../src/store/database.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { addToken } from '../support/clients/tokens.ts'
import { lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { delegation, useWorld } from '../support/dns/world.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useAccount, useService } from '../support/harness.ts'
import type { ShownRollover } from '../support/rollovers/stage.ts'
import { passTo, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'

// Contract §15.10: nobody takes a key away while the parent has its DS, but a login or the operator by force; and then the
// key can come back.

const service = useService({ PRIVATE_TRANSFERS: 'on' })
const account = useAccount(service)
const world = useWorld(service)

test.beforeEach(() => {
  service().system.parents = world().parents()
})

type Shown = Pick<ShownRollover, 'phase' | 'add_ds' | 'remove_ds'>

const pathOf = (name: string) => `/domains/${name}/rollover/`
const confirmationOf = (name: string) => `${pathOf(name)}confirm/`
const BY_FORCE = { force: true }
const LOGIN_NEEDED = '{"detail":"Login token required."}'
const DENIED = '{"detail":"You do not have permission to perform this action."}'

let names = 0

/** A login of the account of these tests. */
async function login(permissions = { permDeleteDomain: true }): Promise<Client> {
  return (await addToken(service(), account().id, { mfa: false, ...permissions })).api
}

/** A new domain with an address, and its DS. */
async function newSigned(): Promise<{ name: string; old: string[] }> {
  const { api } = account()
  const name = await newDomain(api, `forced${++names}.example`)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
  return { name, old: (await domainOf(api, name)).keys[0]!.ds }
}

/** A domain whose key is being replaced in an emergency, which waits for the parent. */
async function awaiting(algorithm = 'ecdsa256'): Promise<{ name: string; old: string[]; shown: Shown }> {
  const { name, old } = await newSigned()
  succeeded(await account().api.post(pathOf(name), { emergency: true, algorithm }), 201)
  await reach(name, 'await-ds')
  // Far in the future, so that the service itself does not look.
  const sql = `update rollovers set check_at = now() + interval '1 day'
    where domain_id = (select id from domains where name = :name)`
  await query(service().system.db, sql, { name })
  return { name, old, shown: (await account().api.get(pathOf(name))).json as Shown }
}

async function reach(name: string, phase: string | undefined): Promise<void> {
  await eventuallyIs(async () => ((await account().api.get(pathOf(name))).json as Partial<Shown>).phase, phase)
  await published(service(), name)
}

const validity = (name: string, ds: string[]) => validate(service().powerDns, name, ds, `www.${name}`, 'A')

for (const [where, ofA, ofB] of [
  ['at all servers', true, true],
  ['at one server', false, true],
] as const) {
  test(`a confirmation is refused while the parent has the former DS ${where}, and says where`, async (t) => {
    const { api } = account()
    const { name, shown } = await awaiting()
    const lines = (hasFormer: boolean) =>
      delegation(name, hasFormer ? [...shown.add_ds, shown.remove_ds[0]!] : shown.add_ds)
    await world().delegate(lines(ofA), lines(ofB))
    const host = ofA ? `a.nic.example (${world().addresses[0]})` : `b.nic.example (${world().addresses[1]})`
    const detail = `The parent zone example still has the former DS: ${host} has "${shown.remove_ds[0]}". Without the former key, validating resolvers would reject the domain. A login can confirm by force.`
    for (const client of [api, await login()]) {
      const { status, json } = await client.post(confirmationOf(name))
      t.deepEqual([status, json], [409, { detail }])
    }
    t.deepEqual((await api.get(pathOf(name))).json, { ...((await api.get(pathOf(name))).json as Shown), ...shown })
    await world().delegate(delegation(name, shown.add_ds))
    succeeded(await api.post(confirmationOf(name)), 200)
    await reach(name, undefined)
  })
}

test('a parent without any DS needs no force', async (t) => {
  const { name } = await awaiting()
  await world().delegate(delegation(name, []))
  t.is((await account().api.post(confirmationOf(name))).status, 200)
})

test('what cannot be asked may have the former DS: only force helps', async (t) => {
  const { name, shown } = await awaiting()
  await world().delegate(delegation(name, shown.add_ds))
  await world().kill('b')
  const first = await account().api.post(confirmationOf(name))
  const silent = `The server b.nic.example (${world().addresses[1]}) of the parent zone example does not answer.`
  const unknown = (reason: string) => ({
    detail: `It is unknown whether the parent zone still has the former DS, without whose key validating resolvers would reject the domain. ${reason} A login can confirm by force.`,
  })
  t.deepEqual([first.status, first.json], [409, unknown(silent)])
  service().system.parents = world().parents(() => false)
  const second = await account().api.post(confirmationOf(name))
  t.is(second.status, 409)
  t.regex(
    second.text,
    /^\{"detail":"It is unknown whether the parent zone still has the former DS, .+ A login can confirm by force\."\}$/,
  )
  succeeded(await (await login()).post(confirmationOf(name), BY_FORCE), 200)
  await reach(name, undefined)
  await world().delegate([])
})

test('only a login forces, and only one that may delete the domain', async (t) => {
  const { api, id } = account()
  const owner = await service().account()
  const { name, old, shown } = await awaiting()
  await world().delegate(delegation(name, old))
  const all = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  const bound = await addToken(service(), owner.id, { ...all, permManageTokens: false, userOverrideId: id })
  for (const [client, text] of [
    [api, LOGIN_NEEDED],
    [bound.api, LOGIN_NEEDED],
    [await login({ permDeleteDomain: false }), DENIED],
  ] as const) {
    const answer = await client.post(confirmationOf(name), BY_FORCE)
    t.deepEqual([answer.status, answer.text], [403, text])
  }
  const { status, json } = await api.post(confirmationOf(name), { force: 'perhaps' })
  t.deepEqual([status, json], [400, { force: ['Must be a valid boolean.'] }])
  t.deepEqual((await api.get(pathOf(name))).json, { ...((await api.get(pathOf(name))).json as Shown), ...shown })
  t.is(await validity(name, old), 'fully validated')
})

test('while the parent is asked, the domain is written as ever, and what changes meanwhile counts', async (t) => {
  const { api } = account()
  const { name, shown } = await awaiting()
  await world().delegate(delegation(name, shown.add_ds))
  const { parents } = service().system
  const ask = parents.ask.bind(parents)
  let meanwhile: () => Promise<unknown> = async () =>
    succeeded(await api.patch(`/domains/${name}/rrsets/www/A/`, { ttl: 61 }), 200)
  parents.ask = async (...asked) => {
    const work = meanwhile
    meanwhile = () => Promise.resolve()
    await work()
    return ask(...asked)
  }
  const first = await addToken(service(), account().id, { permDeleteDomain: true })
  meanwhile = async () => succeeded(await api.delete(`/auth/tokens/${first.id}/`), 204)
  t.is((await first.api.post(confirmationOf(name))).status, 401)
  meanwhile = async () => succeeded(await api.delete(pathOf(name)), 200)
  const { status, text } = await api.post(confirmationOf(name))
  t.deepEqual([status, text], [409, '{"detail":"The rollover has changed meanwhile. Try again."}'])
  t.like((await api.get(pathOf(name))).json, { phase: 'await-ds', add_ds: shown.remove_ds })
})

/** Looks at a rollover so many times, as if the pauses between had passed, and returns its phase. */
async function look(name: string, times: number): Promise<string | undefined> {
  const { db } = service().system
  const id = '(select id from domains where name = :name)'
  for (let left = times; left > 0; left--) {
    await query(db, `update rollovers set check_at = now() where domain_id = ${id}`, { name })
    await eventually(
      async () =>
        (await query(db, `select from rollovers where domain_id = ${id} and check_at <= now()`, { name })).length === 0,
    )
  }
  return ((await account().api.get(pathOf(name))).json as Partial<Shown>).phase
}

/** Has a rollover looked at until it is in a phase: a look at a busy moment may see nothing. */
async function lookTo(name: string, phase: string | undefined): Promise<void> {
  await eventually(async () => (await look(name, 1)) === phase)
  await published(service(), name)
}

/** The seconds that a rollover waits in its phase, and lets them pass. */
async function passWait(name: string): Promise<number> {
  const sql = `update rollovers set waited = ttl where domain_id = (select id from domains where name = :name)
    returning ttl`
  return (await query<{ ttl: number }>(service().system.db, sql, { name }))[0]!.ttl
}

/** A domain that the parent delegates with its DS, and whose key is being replaced, in the phase that waits for the parent. */
async function rolled(): Promise<{ name: string; old: string[]; shown: Shown }> {
  const { api } = account()
  const { name, old } = await newSigned()
  await world().delegate(delegation(name, old))
  succeeded(await api.post(pathOf(name)), 201)
  await passTo(service(), name, 'await-ds')
  return { name, old, shown: (await api.get(pathOf(name))).json as Shown }
}

test('if the parent has no DS any more, caches may have one for a day', async (t) => {
  const { name } = await rolled()
  await world().delegate(delegation(name, []))
  // Whoever may write CDS can have the DS removed, and the state checked.
  succeeded(await account().api.post(`/domains/${name}/delegation/`), 200)
  await lookTo(name, 'await-ds-ttl')
  t.true((await passWait(name)) >= 86_400)
})

test('before keys go, the parent is asked once more: if it has the former DS again, they stay', async (t) => {
  const { name, old, shown } = await rolled()
  await world().delegate([])
  await lookTo(name, 'await-ds-ttl')
  await world().delegate(delegation(name, old))
  await passWait(name)
  await lookTo(name, 'await-ds')
  t.is(await validity(name, old), 'fully validated')
  await world().delegate(delegation(name, shown.add_ds))
  await lookTo(name, 'await-ds-ttl')
  await passWait(name)
  await lookTo(name, undefined)
  t.is(await validity(name, shown.add_ds), 'fully validated')
})

test('a confirmation without force leaves the last question to the parent', async (t) => {
  const { name, old } = await awaiting()
  await world().delegate([])
  succeeded(await account().api.post(confirmationOf(name)), 200)
  await reach(name, 'await-ds-ttl')
  await world().delegate(delegation(name, old))
  await reach(name, 'await-ds')
  t.is(await validity(name, old), 'fully validated')
})

test('while the parent does not answer, keys stay', async (t) => {
  const { name, shown } = await rolled()
  await world().delegate(delegation(name, shown.add_ds))
  await lookTo(name, 'await-ds-ttl')
  await world().kill('b')
  await passWait(name)
  t.is(await look(name, 3), 'await-ds-ttl')
})

/** A domain whose former key is gone by force, although the parent has its DS. */
async function forcedAway(t: ExecutionContext, algorithm: string): ReturnType<typeof awaiting> {
  const made = await awaiting(algorithm)
  await world().delegate(delegation(made.name, made.old))
  t.is(await validity(made.name, made.old), 'fully validated')
  t.is((await account().api.post(confirmationOf(made.name))).status, 409)
  succeeded(await (await login()).post(confirmationOf(made.name), BY_FORCE), 200)
  await reach(made.name, undefined)
  return made
}

for (const algorithm of ['ecdsa256', 'ed25519']) {
  test(`former keys to which ${algorithm} goes back stay if the parent has their DS: their return cannot be cancelled`, async (t) => {
    const { api } = account()
    const { name, old } = await forcedAway(t, algorithm)
    succeeded(await api.post(pathOf(name), { return: true }), 201)
    const cancelled = async () => {
      const { status, text } = await api.delete(pathOf(name))
      t.is(status, 409)
      t.regex(text, /^\{"detail":"The parent zone example has a DS of the new keys: /)
    }
    await cancelled()
    await passTo(service(), name, 'back: publish')
    t.is(await validity(name, old), 'fully validated')
    await cancelled()
    t.is(await validity(name, old), 'fully validated')
  })
}

for (const algorithm of ['ecdsa256', 'ed25519']) {
  test(`the key that a forced rollover to ${algorithm} has taken away comes back, and the domain is valid again`, async (t) => {
    const { api } = account()
    const { name, old, shown } = await forcedAway(t, algorithm)
    await eventually(async () => (await lookUp(service().powerDns, name, 'DNSKEY')).length === 1)
    t.not(await validity(name, old), 'fully validated')

    succeeded(await api.post(pathOf(name), { return: true, emergency: true }), 201)
    await reach(name, 'await-ds')
    t.is(await validity(name, old), 'fully validated')
    t.like((await api.get(pathOf(name))).json, { add_ds: old, remove_ds: shown.add_ds })
    succeeded(await api.post(confirmationOf(name)), 200)
    await reach(name, undefined)
    t.deepEqual(
      (await domainOf(api, name)).keys.flatMap(({ ds }) => ds),
      old,
    )
    t.is(await validity(name, old), 'fully validated')
  })
}

test('of several former keys those come back whose DS the parent has, whatever the last check has found', async (t) => {
  const { api } = account()
  const name = await newDomain(api, `forced${++names}.example`)
  const generations: { dnskey: string; ds: string[] }[] = []
  for (let times = 0; times < 3; times++) {
    if (times > 0) {
      succeeded(await api.delete(`/domains/${name}/`), 204)
      await newDomain(api, name)
    }
    const { dnskey, ds } = (await domainOf(api, name)).keys[0]!
    generations.push({ dnskey, ds })
  }
  const [first, second, third] = generations
  await world().delegate(delegation(name, second!.ds))
  succeeded(await api.post(`/domains/${name}/delegation/`), 200)
  // The parent has another one since, by a digest that the service does not make.
  await world().delegate(delegation(name, [`${first!.ds[0]!.split(' ')[0]} 13 1 ${'ab'.repeat(20)}`]))
  succeeded(await api.post(pathOf(name), { return: true }), 201)
  t.deepEqual(
    (await domainOf(api, name)).keys.map(({ dnskey }) => dnskey).sort(),
    [first!.dnskey, third!.dnskey].sort(),
  )
})
