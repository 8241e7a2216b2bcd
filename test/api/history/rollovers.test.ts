import { accessOfOperator, begin } from '../../../src/service/rollovers/rollovers.ts'
import { freshName, newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { passTo, published } from '../../support/rollovers/steps.ts'
import { test } from '../../support/serial.ts'
import { changesIn, contentsOf, entriesOf, restore, type ShownEntry, undo } from '../../support/state/history.ts'

// The history of the replacement of keys (contract §15.5).

const service = useService()
const account = useAccount(service)

const pathOf = (name: string) => `/domains/${name}/rollover/`

/** The entries of rollovers, oldest first: what happened, the phase since then, and whether somebody is named. */
async function actionsOf(api: Client, name: string): Promise<(string | null)[][]> {
  const entries = (await entriesOf(api, name)).filter(({ source }) => source === 'rollover').reverse()
  return entries.map(({ rollover, owner }) => [rollover!.action, rollover!.phase, owner === null ? 'service' : 'owner'])
}

/** The phase of a rollover; undefined: there is none. */
async function phaseOf(api: Client, name: string): Promise<string | undefined> {
  return ((await api.get(pathOf(name))).json as { phase?: string }).phase
}

/** The serial that PowerDNS serves. */
const serialOf = async (name: string) => Number((await lookUp(service().powerDns, name, 'SOA'))[0]!.split(' ')[2])

test('a rollover leaves an entry for its begin, each phase and its end', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const before = await entriesOf(api, name)
  const request = { headers: { 'x-request-id': 'roll-1' } }
  succeeded(await api.post(pathOf(name), { algorithm: 'ed25519' }, request), 201)
  await published(service(), name)
  for (const phase of ['publish', 'await-ds', 'await-ds-ttl', 'unpublish', 'done']) {
    const [newest] = await entriesOf(api, name)
    t.true(newest!.version <= (await serialOf(name)))
    await passTo(service(), name, phase)
    t.true((await entriesOf(api, name))[0]!.version > newest!.version)
  }
  t.deepEqual(await actionsOf(api, name), [
    ['begin', 'sign', 'owner'],
    ['advance', 'publish', 'service'],
    ['advance', 'await-ds', 'service'],
    ['advance', 'await-ds-ttl', 'service'],
    ['advance', 'unpublish', 'service'],
    ['advance', null, 'service'],
  ])
  const entries = await entriesOf(api, name)
  t.deepEqual(entries.slice(6), before)
  for (const [i, entry] of entries.slice(0, 6).entries()) t.true(entry.created > entries[i + 1]!.created)
  const begun = entries[5]!
  t.like(begun, { count: 0, request_id: 'roll-1' })
  t.deepEqual([begun.owner, begun.token], [before[0]!.owner, before[0]!.token])
  t.like(entries[0], { count: 0, owner: null, token: null, request_id: null })
  t.deepEqual(await changesIn(api, name, begun), [])
  t.is(before[0]!.rollover, null)
})

test('who cancels or forces a rollover is in the history', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  succeeded(await api.post(pathOf(name), {}), 201)
  succeeded(await api.delete(pathOf(name)), 204)
  succeeded(await api.post(pathOf(name), {}), 201)
  await published(service(), name)
  await passTo(service(), name, 'await-ds')
  succeeded(await api.delete(pathOf(name)), 200)
  const login = await addToken(service(), account().id, { mfa: false, permDeleteDomain: true })
  succeeded(await login.api.post(`${pathOf(name)}confirm/`, { force: true }), 200)
  t.is((await api.delete('/domains/absent.example/rollover/')).status, 404)
  await eventuallyIs(async () => (await actionsOf(api, name)).length, 7)
  t.deepEqual(await actionsOf(api, name), [
    ['begin', 'publish', 'owner'],
    ['cancel', null, 'owner'],
    ['begin', 'publish', 'owner'],
    ['advance', 'await-ds', 'service'],
    ['cancel', 'await-ds', 'owner'],
    ['force', 'await-ds', 'owner'],
    ['advance', 'await-ds-ttl', 'service'],
  ])
})

test('the operator is not named, and callers who may not list tokens see nobody', async (t) => {
  const { api, id } = account()
  const name = await newDomain(api)
  const other = await newDomain(api)
  await begin(await accessOfOperator(service().system, name), { algorithm: 'ecdsa256', emergency: false })
  t.deepEqual(await actionsOf(api, name), [['begin', 'publish', 'service']])
  succeeded(await api.post(pathOf(other), {}), 201)
  const { secret } = await addToken(service(), id, { permManageTokens: false })
  const seen = (await entriesOf(service().clientOf(secret), other))[0]!
  t.like(seen, { source: 'rollover', owner: null, token: null, rollover: { action: 'begin', phase: 'publish' } })
})

test('what is refused leaves no entry', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  succeeded(await api.post(pathOf(name), {}), 201)
  const before = await entriesOf(api, name)
  t.is((await api.post(pathOf(name), {})).status, 409)
  t.is((await api.post(`${pathOf(name)}confirm/`)).status, 409)
  t.deepEqual(await entriesOf(api, name), before)
})

test('an entry of a rollover cannot be undone, and no filter finds it', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  succeeded(await api.post(pathOf(name), {}), 201)
  const [entry] = await entriesOf(api, name)
  for (const query of ['', '?dry_run=true']) {
    const { status, json } = await undo(api, name, entry!, query)
    t.is(status, 409)
    t.deepEqual(json, { detail: 'A replacement of keys cannot be undone: cancel it, or bring the former keys back.' })
  }
  for (const query of ['?subname=', '?type=NS', '?subname=&type=DNSKEY']) {
    t.false(
      (await entriesOf(api, name, query)).some(({ source }) => source === 'rollover'),
      query,
    )
  }
})

test('a restoration takes the contents back to before, within and after a rollover, and leaves the keys alone', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const states: { entry: ShownEntry; contents: Record<string, string> }[] = []
  const note = async () =>
    states.push({ entry: (await entriesOf(api, name))[0]!, contents: await contentsOf(api, name) })
  await note()
  await newRRset(api, name, { subname: 'a' })
  await note()
  succeeded(await api.post(pathOf(name), {}), 201)
  await published(service(), name)
  await note()
  await newRRset(api, name, { subname: 'b' })
  await note()
  await passTo(service(), name, 'await-ds')
  await note()
  await newRRset(api, name, { subname: 'c' })
  for (const { entry, contents } of states) {
    for (const when of [{ version: entry.version }, { at: entry.created }]) {
      succeeded(await restore(api, name, when), 200)
      t.deepEqual(await contentsOf(api, name), contents)
    }
  }
  t.is(await phaseOf(api, name), 'await-ds')
  t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 2)
})

test('a version is restored exactly, although the clock was set back after a phase', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  succeeded(await api.post(pathOf(name), {}), 201)
  await published(service(), name)
  await service().system.db.query(
    `update history set created = created + interval '1 hour' where source = 'rollover'
     and domain_id = (select id from domains where name = '${name}')`,
  )
  const [begun] = await entriesOf(api, name)
  const contents = await contentsOf(api, name)
  await newRRset(api, name, { subname: 'later' })
  succeeded(await restore(api, name, { version: begun!.version }), 200)
  t.deepEqual(await contentsOf(api, name), contents)
})

test('a domain that was deleted during a rollover comes back with its entries', async (t) => {
  const { api } = account()
  const name = freshName()
  succeeded(await api.post('/domains/', { name }), 201)
  succeeded(await api.post(pathOf(name), {}), 201)
  const contents = await contentsOf(api, name)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  succeeded(await api.post('/domains/', { name, restore: true }), 201)
  t.deepEqual(await contentsOf(api, name), contents)
  t.deepEqual(await actionsOf(api, name), [['begin', 'publish', 'owner']])
})
