import { query } from '../../src/store/database.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { addToken } from '../support/clients/tokens.ts'
import { lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { startWorld, type World } from '../support/dns/world.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useAccount, useService } from '../support/harness.ts'
import { published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'

// Contract §15.10: nobody takes a key away while the parent has its DS, but a login or the operator by force; and then the
// key can come back.

const service = useService({ PRIVATE_TRANSFERS: 'on' })
const account = useAccount(service)
let world: World

test.before('a world above', async () => {
  world = await startWorld(service().powerDns)
})

test.beforeEach(() => {
  service().system.parents = world.parents()
})

test.after.always(async () => {
  await (world as World | undefined)?.close()
})

interface Shown {
  phase: string
  add_ds: string[]
  remove_ds: string[]
}

const pathOf = (name: string) => `/domains/${name}/rollover/`
const confirmationOf = (name: string) => `${pathOf(name)}confirm/`
const BY_FORCE = { force: true }
const LOGIN_NEEDED = '{"detail":"Login token required."}'
const DENIED = '{"detail":"You do not have permission to perform this action."}'

let names = 0

/** The lines with which a parent delegates a domain with these DS. */
function delegation(name: string, ds: string[]): string[] {
  return [
    ...['ns1', 'ns2'].map((host) => `${name}. NS ${host}.zoneplane.test.`),
    ...ds.map((each) => `${name}. DS ${each}`),
  ]
}

/** A login of the account of these tests. */
async function login(permissions = { permDeleteDomain: true }): Promise<Client> {
  return (await addToken(service(), account().id, { mfa: false, ...permissions })).api
}

/** A domain whose key is being replaced in an emergency, which waits for the parent. */
async function awaiting(algorithm = 'ecdsa256'): Promise<{ name: string; old: string[]; shown: Shown }> {
  const { api } = account()
  const name = await newDomain(api, `forced${++names}.example`)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
  const old = (await domainOf(api, name)).keys[0]!.ds
  succeeded(await api.post(pathOf(name), { emergency: true, algorithm }), 201)
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
    await world.delegate(lines(ofA), lines(ofB))
    const host = ofA ? `a.nic.example (${world.addresses[0]})` : `b.nic.example (${world.addresses[1]})`
    const detail = `The parent zone example still has the former DS: ${host} has "${shown.remove_ds[0]}". Without the former key, validating resolvers would reject the domain. A login can confirm by force.`
    for (const client of [api, await login()]) {
      const { status, json } = await client.post(confirmationOf(name))
      t.deepEqual([status, json], [409, { detail }])
    }
    t.deepEqual((await api.get(pathOf(name))).json, { ...((await api.get(pathOf(name))).json as Shown), ...shown })
    await world.delegate(delegation(name, shown.add_ds))
    succeeded(await api.post(confirmationOf(name)), 200)
    await reach(name, undefined)
  })
}

test('a parent without any DS needs no force', async (t) => {
  const { name } = await awaiting()
  await world.delegate(delegation(name, []))
  t.is((await account().api.post(confirmationOf(name))).status, 200)
})

test('what cannot be asked may have the former DS: only force helps', async (t) => {
  const { name, shown } = await awaiting()
  await world.delegate(delegation(name, shown.add_ds))
  await world.kill('b')
  const first = await account().api.post(confirmationOf(name))
  const silent = `The server b.nic.example (${world.addresses[1]}) of the parent zone example does not answer.`
  const unknown = (reason: string) => ({
    detail: `It is unknown whether the parent zone still has the former DS, without whose key validating resolvers would reject the domain. ${reason} A login can confirm by force.`,
  })
  t.deepEqual([first.status, first.json], [409, unknown(silent)])
  service().system.parents = world.parents(() => false)
  const second = await account().api.post(confirmationOf(name))
  t.is(second.status, 409)
  t.regex(
    second.text,
    /^\{"detail":"It is unknown whether the parent zone still has the former DS, .+ A login can confirm by force\."\}$/,
  )
  succeeded(await (await login()).post(confirmationOf(name), BY_FORCE), 200)
  await reach(name, undefined)
  await world.delegate([])
})

test('only a login forces, and only one that may delete the domain', async (t) => {
  const { api, id } = account()
  const owner = await service().account()
  const { name, old, shown } = await awaiting()
  await world.delegate(delegation(name, old))
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
  await world.delegate(delegation(name, shown.add_ds))
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

for (const algorithm of ['ecdsa256', 'ed25519']) {
  test(`the key that a forced rollover to ${algorithm} has taken away comes back, and the domain is valid again`, async (t) => {
    const { api } = account()
    const { name, old, shown } = await awaiting(algorithm)
    await world.delegate(delegation(name, old))
    t.is(await validity(name, old), 'fully validated')
    t.is((await api.post(confirmationOf(name))).status, 409)
    succeeded(await (await login()).post(confirmationOf(name), BY_FORCE), 200)
    await reach(name, undefined)
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
