import test from 'ava'
import { query } from '../../src/store/database.ts'
import { commandsOn } from '../support/command-line.ts'
import { hasMembers, membersOf } from '../support/dns/catalog.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { changeAtPowerDns, type Foreign } from '../support/state/behind-our-back.ts'

// The catalog zone (RFC 9432), as secondaries transfer it.

const servers = useServers()
const C1 = 'c1.catalog.example'
const C2 = 'c2.catalog.example'
let service: OwnService | undefined

const zoneplane = commandsOn(() => ({
  ...servers().system,
  config: { ...servers().system.config, catalogZone: C1 },
}))

/** Starts a service instead of the one that runs. Without catalog zones, it publishes none. */
async function start(CATALOG_ZONE = C1): Promise<void> {
  await service?.stop()
  service = await servers().serve({ CATALOG_ZONE, LOG_LEVEL: 'error' })
}

async function serial(): Promise<number> {
  const { answers } = await ask(servers().powerDns, C1, 'SOA')
  return answers[0]?.type === 'SOA' ? answers[0].data.serial! : 0
}

const labelOf = async (zone: string) => (await membersOf(servers().powerDns, C1)).get(zone)
const create = (name: string) => service!.api.post('/domains/', { name })
const remove = (name: string) => service!.api.delete(`/domains/${name}/`)
const has = (zones: string[]) => hasMembers(servers().powerDns, C1, zones)
/** One after the other: an account's writes wait for each other only for a while. */
async function each(names: string[], work: (name: string) => Promise<unknown>): Promise<void> {
  for (const name of names) await work(name)
}
const many = (label: string, n: number) => Array.from({ length: n }, (_, i) => `${label}-${i}.example`)

test.serial('a catalog zone that is new lists the domains that are there', async (t) => {
  await start('')
  await create('older.example')
  await start()
  await has(['older.example'])
  t.is((await zoneplane('catalog', 'publish'))[0], true)
})

test.serial('it lists domains when they are created, and not any more when they are deleted', async (t) => {
  const before = await serial()
  await create('new.example')
  await has(['new.example', 'older.example'])
  t.true((await serial()) > before)
  await remove('older.example')
  await has(['new.example'])
})

test.serial('a domain that is created again, or restored, has another label', async (t) => {
  const first = await labelOf('new.example')
  await remove('new.example')
  await create('new.example')
  await eventually(async () => ![first, undefined].includes(await labelOf('new.example')))
  const second = await labelOf('new.example')
  await remove('new.example')
  await has([])
  t.is((await service!.api.post('/domains/', { name: 'new.example', restore: true })).status, 201)
  await has(['new.example'])
  t.false([first, second].includes(await labelOf('new.example')))
})

test.serial('nobody can guess the labels, and so ask which zones there are', async (t) => {
  for (const label of (await membersOf(servers().powerDns, C1)).values()) t.regex(label, /^[0-9a-f]{32}$/)
})

test.serial('its name and those above it belong to the operator', async (t) => {
  for (const name of [C1, 'catalog.example']) t.is((await create(name)).status, 400)
})

test.serial('what somebody else has changed in it is put right', async (t) => {
  const changed: Foreign[][] = [
    [['version', 'TXT', 0, '"3"']],
    [['999999.zones', 'PTR', 0, 'foreign.example.']],
    [...(await membersOf(servers().powerDns, C1)).values()].map((label) => [`${label}.zones`, 'PTR', 0]),
  ]
  for (const rrsets of changed) {
    await changeAtPowerDns(servers(), C1, ...rrsets)
    await t.throwsAsync(hasMembersNow(['new.example']))
    t.is((await zoneplane('catalog', 'publish'))[0], true)
    await hasMembersNow(['new.example'])
  }
  await servers().pdns('PUT', `/zones/${C1}.`, { api_rectify: true, soa_edit: '' })
  t.is((await zoneplane('catalog', 'publish'))[0], true)
  t.like((await servers().pdns('GET', `/zones/${C1}.`)).json, { api_rectify: false, soa_edit: 'NONE' })
})

async function hasMembersNow(zones: string[]): Promise<void> {
  const found = [...(await membersOf(servers().powerDns, C1)).keys()].sort()
  if (found.join() !== zones.join()) throw new Error(found.join())
}

/** Makes the database one that lacks domains, which nobody has deleted, and PowerDNS one that lacks a zone of them. */
async function lose(names: string[]): Promise<void> {
  await query(servers().system.db, 'delete from domains where name = any (:names)', { names })
  await servers().pdns('DELETE', `/zones/${names[0]!}.`)
}

test.serial('domains that are deleted leave, however many', async (t) => {
  const names = many('deleted', 12)
  await each(names, create)
  await has(['new.example', ...names])
  // Nothing is published while they are deleted.
  await start('')
  await each(names, remove)
  await start()
  await t.notThrowsAsync(has(['new.example']))
})

test.serial(
  'many members whose domains are lost stay until the operator removes them; others come and go',
  async (t) => {
    const names = many('mass', 15)
    await each([...names, 'early.example'], create)
    await has(['new.example', 'early.example', ...names])
    await start('')
    await lose(names.slice(0, 11))
    await start()
    await create('late.example')
    await remove('early.example')
    await has(['new.example', 'late.example', ...names])
    t.regex(
      service!.logged(),
      /"leaving":11,"level":"error","members":\d+,"message":"catalog zone would lose too many members/,
    )
    // A name that is used again is no loss.
    const before = await labelOf('mass-0.example')
    await create('mass-0.example')
    await eventually(async () => ![before, undefined].includes(await labelOf('mass-0.example')))

    const [succeeded, printed] = await zoneplane('catalog', 'publish')
    // Ten may leave.
    t.true(succeeded, printed)
    await has(['new.example', 'late.example', 'mass-0.example', ...names.slice(11)])
  },
)

test.serial('without --force, too many stay, and the command fails', async (t) => {
  await start('')
  const before = [...(await membersOf(servers().powerDns, C1)).keys()].sort()
  const names = many('forced', 12)
  await start()
  await each(names, create)
  await has([...before, ...names])
  await start('')
  await lose(names)
  const [succeeded, printed] = await zoneplane('catalog', 'publish')
  t.false(succeeded)
  t.regex(printed, /\b12 *\n.*--force/)
  await hasMembersNow([...before, ...names].sort())
  t.true((await zoneplane('catalog', 'publish', '--force'))[0])
  await hasMembersNow(before)
})

test.serial('it is made again when PowerDNS has lost it, after the zones', async (t) => {
  await start()
  const names = many('kept', 12)
  await each(names, create)
  const all = (await query<{ name: string }>(servers().system.db, 'select name from domains')).map(({ name }) => name)
  await has(all)
  const before = await serial()
  await service!.stop()
  await servers().powerDns.stop()
  await servers().restartPowerDns({ empty: true })
  const [succeeded, printed] = await zoneplane('catalog', 'publish')
  t.false(succeeded)
  t.regex(printed, /is missing at PowerDNS, and \d+ of its \d+ zones/)
  t.is((await servers().pdns('GET', `/zones/${C1}.`)).status, 404)
  await start()
  await has(all)
  t.true((await serial()) > before)
})

test.serial('one that is emptied while it is published is not taken for what was left', async (t) => {
  const before = [...(await membersOf(servers().powerDns, C1)).keys()]
  for (const lose of ['removed', 'emptied']) {
    await servers().pdns('DELETE', `/zones/${C1}.`)
    if (lose === 'emptied') {
      const soa = { name: `${C1}.`, type: 'SOA', ttl: 0, records: [{ content: 'invalid. invalid. 1 60 60 60 0' }] }
      await servers().pdns('POST', '/zones', { name: `${C1}.`, kind: 'Master', nameservers: [], rrsets: [soa] })
    }
    const name = `beside-${lose}.example`
    before.push(name)
    t.is((await create(name)).status, 201)
    // Never with this one alone: secondaries would delete all others.
    await eventually(async () => ((await labelOf(name).catch(() => undefined)) ?? '') !== '')
    await hasMembersNow([...before].sort())
  }
})

test.serial('one of another name gets all members; the former one stays until the operator removes it', async (t) => {
  const before = await membersOf(servers().powerDns, C1)
  await start(C2)
  await hasMembers(servers().powerDns, C2, [...before.keys()])
  await create('other.example')
  await hasMembers(servers().powerDns, C2, [...before.keys(), 'other.example'])
  t.deepEqual(await membersOf(servers().powerDns, C1), before)
  await start(C1)
  await has([...before.keys(), 'other.example'])
  t.deepEqual(await zoneplane('catalog', 'remove', C2), [true, `${C2} is removed\n`])
  t.is((await servers().pdns('GET', `/zones/${C2}.`)).status, 404)
})

test.serial('only a catalog zone that is not published any more can be removed', async (t) => {
  const refusals = [
    [C1, /is CATALOG_ZONE/],
    ['other.example', /is not a catalog zone/],
    [C2, /Not found/],
  ] as const
  for (const [name, text] of refusals) {
    const [succeeded, printed] = await zoneplane('catalog', 'remove', name)
    t.false(succeeded)
    t.regex(printed, text)
  }
  t.is((await servers().pdns('GET', '/zones/other.example.')).status, 200)
  t.true((await membersOf(servers().powerDns, C1)).size > 0)
})

test.serial('zones at PowerDNS without a domain do not include it', async (t) => {
  const [, printed] = await zoneplane('adopt', '--all', '--owner', 'nobody@example.test')
  t.notRegex(printed, new RegExp(C1))
})
