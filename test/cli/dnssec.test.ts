import { beginQueued } from '../../src/service/rollovers/queue.ts'
import { accessOfOperator } from '../../src/service/rollovers/rollovers.ts'
import { changeOf } from '../../src/service/zone/changes.ts'
import { openZone } from '../../src/service/zone/opening.ts'
import { query } from '../../src/store/database.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { commandsOn } from '../support/command-line.ts'
import { lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { useServers } from '../support/harness.ts'
import { enter } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'

// The commands about keys. No service runs, so a test itself begins the rollovers of the queue.

const servers = useServers()
const NEVER = new AbortController().signal
const zoneplane = commandsOn(() => servers().system)

interface Shown {
  phase: string
  emergency: boolean
}
type Answers = Record<string, (Partial<Shown> & { problem?: string }) | null>

let names = 0

async function newDomains(number: number): Promise<string[]> {
  const { system, owner } = servers()
  const made = Array.from({ length: number }, () => `roll${++names}.example`)
  const account = await emailOf(system, owner.id)
  for (const name of made) await done('domain', 'create', name, '--account', account)
  return made
}

/** Adds a record of another signer, as the user does. */
async function addSigner(name: string, type = 'DNSKEY'): Promise<void> {
  await using zone = await openZone(await accessOfOperator(servers().system, name), [''])
  const records = [`257 3 15 ${Buffer.alloc(32, 7).toString('base64')}`]
  const after = { subname: '', type, ttl: 7777, records }
  await zone.write([changeOf({ subname: '', type, before: undefined, after })])
}

/** What a command prints. @throws if it fails */
async function done(...args: string[]): Promise<string> {
  const [succeeded, printed] = await zoneplane(...args)
  if (!succeeded) throw new Error(printed)
  return printed
}

async function json(...args: string[]): Promise<Answers> {
  return JSON.parse(await done(...args, '--json')) as Answers
}

/** The phases of all rollovers, by domain. */
async function phases(): Promise<Record<string, string>> {
  const all = Object.entries(await json('dnssec', 'status'))
  return Object.fromEntries(all.map(([name, shown]) => [name, shown!.phase!]))
}

/** The domains whose rollovers are not queued, in the order of their names. */
async function begun(): Promise<string[]> {
  const all = Object.entries(await phases())
  return all.flatMap(([name, phase]) => (phase === 'queued' ? [] : [name])).sort()
}

const update = (change: string, name: string) =>
  query(servers().system.db, `update ${change} where domain_id = (select id from domains where name = :name)`, { name })

// The next test has domains of its own.
test.afterEach.always(async () => {
  await query(servers().system.db, 'delete from domains')
})

test('a rollover begins, is shown, and goes back', async (t) => {
  const [name] = (await newDomains(1)) as [string]
  const text = await done('dnssec', 'roll', name)
  t.regex(text, /^NAME +PHASE +SINCE +WAITS FOR\nroll\d\.example +publish +20\S+ \S+ +nameservers\n$/)
  t.is(await done('dnssec', 'status'), text)
  t.like((await json('dnssec', 'status'))[name], {
    ...{ phase: 'publish', waits_for: 'nameservers', emergency: false, can_cancel: true, add_ds: [], remove_ds: [] },
  })
  t.is((await lookUp(servers().powerDns, name, 'DNSKEY')).length, 2)
  t.deepEqual(await json('dnssec', 'cancel', name), { [name]: null })
  t.is((await lookUp(servers().powerDns, name, 'DNSKEY')).length, 1)
  t.deepEqual(await phases(), {})
})

test('a domain that fails does not keep the others from rolling', async (t) => {
  const [one, paused, other] = (await newDomains(3)) as [string, string, string]
  await done('domain', 'pause', paused)
  const [succeeded, printed] = await zoneplane('dnssec', 'roll', one, 'absent.example', paused, other)
  t.false(succeeded)
  t.true(printed.includes('absent.example: There is no domain absent.example.\n'), printed)
  t.true(printed.includes(`${paused}: ${paused} is paused by the operator`), printed)
  t.deepEqual(await phases(), { [one]: 'publish', [other]: 'publish' })
  const [, again] = await zoneplane('dnssec', 'roll', one, '--json')
  t.deepEqual(JSON.parse(again), { [one]: { problem: 'The keys of this domain are being replaced already.' } })
})

test('an emergency says what it breaks', async (t) => {
  const [name] = (await newDomains(1)) as [string]
  const printed = await done('dnssec', 'roll', name, '--emergency')
  t.true(printed.includes('Validating resolvers reject a domain until they have forgotten its former keys'), printed)
  t.true((await json('dnssec', 'status'))[name]!.emergency)
  t.false((await done('dnssec', 'cancel', name)).includes('Validating'))
})

test('the owner’s word can be given by the operator', async (t) => {
  const [name] = (await newDomains(1)) as [string]
  await done('dnssec', 'roll', name)
  t.deepEqual(await zoneplane('dnssec', 'confirm', name), [
    false,
    `${name}: The rollover does not wait for a confirmation.\n`,
  ])
  await update(`rollovers set phase = 'await-ds'`, name)
  const [succeeded, refused] = await zoneplane('dnssec', 'confirm', name)
  t.false(succeeded)
  t.true(
    refused.startsWith(`${name}: It is unknown whether the parent zone still has the former DS, without `),
    refused,
  )
  t.like((await json('dnssec', 'confirm', '--force', name))[name], { phase: 'await-ds' })
})

test('the former keys come back', async (t) => {
  const [name] = (await newDomains(1)) as [string]
  t.deepEqual(await zoneplane('dnssec', 'roll', '--return', name), [
    false,
    `${name}: There are no former keys of this domain.\n`,
  ])
  const [former] = await lookUp(servers().powerDns, name, 'DNSKEY')
  await done('dnssec', 'roll', name)
  await enter(servers(), name, 'await-ds')
  await enter(servers(), name, undefined)
  t.like((await json('dnssec', 'roll', '--return', name))[name], { phase: 'publish' })
  t.true((await lookUp(servers().powerDns, name, 'DNSKEY')).includes(former!))
})

test('--all queues every domain without a rollover, and so many are under way at a time', async (t) => {
  const [mine, ...others] = (await newDomains(7)) as [string, string, string, ...string[]]
  const { system } = servers()
  await done('dnssec', 'roll', mine)
  t.is(await done('dnssec', 'roll', '--all', '--at-most', '3', '--algorithm', 'ed25519'), 'queued: 6\n')
  t.deepEqual(await begun(), [mine])
  t.like((await json('dnssec', 'status'))[others[0]], { phase: 'queued', waits_for: 'turn', can_cancel: true })
  await beginQueued(system, 100, NEVER)
  const first = [mine, others[0], others[1]].sort()
  t.deepEqual(await begun(), first)
  t.like(await phases(), { [mine]: 'publish', [others[0]]: 'sign' })
  await beginQueued(system, 100, NEVER)
  t.deepEqual(await begun(), first)
  // Who waits for the parent does not count.
  await update(`rollovers set phase = 'await-ds'`, others[0])
  await beginQueued(system, 100, NEVER)
  t.deepEqual(await begun(), [...first, others[2]!].sort())
  // Nor do those that wait for other signers, until their owners vouch for them.
  await addSigner(mine)
  await beginQueued(system, 100, NEVER)
  t.deepEqual(await begun(), [...first, others[2]!, others[3]!].sort())
  await done('dnssec', 'confirm', mine)
  await beginQueued(system, 100, NEVER)
  t.is((await begun()).length, 5)
  // While more are under way, none begins; the end of some makes room.
  await update(`rollovers set phase = 'await-ds-ttl'`, others[0])
  await beginQueued(system, 100, NEVER)
  t.is((await begun()).length, 5)
  await done('dnssec', 'cancel', mine, others[1], others[2]!)
  t.is((await begun()).length, 2)
  await beginQueued(system, 100, NEVER)
  t.deepEqual(await begun(), [others[0], others[3]!, others[4]!].sort())

  t.is(await done('dnssec', 'cancel', '--all'), 'removed: 1\n')
  t.deepEqual(Object.keys(await phases()).sort(), [others[0], others[3]!, others[4]!].sort())
  t.is(await done('dnssec', 'cancel', '--all'), 'removed: 0\n')
})

test('--all again changes what is queued, and nothing that has begun', async (t) => {
  const [one, other] = (await newDomains(2)) as [string, string]
  await done('dnssec', 'roll', '--all')
  await beginQueued(servers().system, 1, NEVER)
  t.deepEqual(await begun(), [one])
  await done('dnssec', 'roll', '--all', '--emergency', '--at-most', '2')
  const status = await json('dnssec', 'status')
  t.like(status[one], { phase: 'publish', emergency: false })
  t.like(status[other], { phase: 'queued', emergency: true })
  await beginQueued(servers().system, 1, NEVER)
  t.like((await json('dnssec', 'status'))[other], { phase: 'publish', emergency: true })
})

test('what is queued can be taken out, or begun at once', async (t) => {
  const [one, other] = (await newDomains(2)) as [string, string]
  await done('dnssec', 'roll', '--all')
  t.deepEqual(await json('dnssec', 'cancel', one), { [one]: null })
  t.like((await json('dnssec', 'roll', other, '--algorithm', 'ed25519'))[other], { phase: 'sign' })
  t.deepEqual(await begun(), [other])
  t.is((await phases())[one], undefined)
})

test('a domain that cannot begin stays queued for a while, and the others go on', async (t) => {
  const [broken, paused, fine] = (await newDomains(3)) as [string, string, string]
  const { db } = servers().system
  await query(db, `delete from keys where domain_id = (select id from domains where name = :broken)`, { broken })
  await done('domain', 'pause', paused)
  await done('dnssec', 'roll', '--all')
  await beginQueued(servers().system, 100, NEVER)
  t.like(await phases(), { [broken]: 'queued', [paused]: 'queued', [fine]: 'publish' })
  const pauses = await query<{ waits: boolean }>(
    db,
    `select check_at > now() as waits from rollovers where domain_id = (select id from domains where name = :broken)`,
    { broken },
  )
  t.deepEqual(pauses, [{ waits: true }])
  await done('domain', 'resume', paused, '--ours')
  await beginQueued(servers().system, 100, NEVER)
  t.like(await phases(), { [broken]: 'queued', [paused]: 'publish' })
})

for (const args of [['roll'], ['cancel'], ['roll', '--all', 'x.example'], ['cancel', '--all', 'x.example']]) {
  test(`either names or --all: ${args.join(' ')}`, async (t) => {
    t.deepEqual(await zoneplane('dnssec', ...args), [false, 'zoneplane: Name some domains, or give --all.\n'])
  })
}

test('the removal of the DS is announced, and taken back', async (t) => {
  const [name, other] = (await newDomains(2)) as [string, string]
  const { powerDns } = servers()
  const served = async (type: string) => lookUp(powerDns, name, type)
  const before = { CDS: await served('CDS'), CDNSKEY: await served('CDNSKEY') }
  t.is(
    await done('dnssec', 'announce-removal', name, other),
    `${name}: its DS shall be removed\n${other}: its DS shall be removed\n`,
  )
  for (let again = 0; again < 2; again++) {
    t.deepEqual(await served('CDS'), ['0 0 0 00'])
    t.deepEqual(await served('CDNSKEY'), ['0 3 0 AA=='])
    t.deepEqual(await json('dnssec', 'announce-removal', name), { [name]: { removal: true } })
  }
  // dig puts a blank into digests.
  const ds = before.CDS.map((content) => content.toLowerCase().split(' ')).map(([tag, algorithm, type, ...digest]) =>
    [tag, algorithm, type, digest.join('')].join(' '),
  )
  t.is(await validate(powerDns, name, ds, name, 'CDS'), 'fully validated')
  t.is(await done('dnssec', 'announce-removal', '--undo', name), `${name}: its DS shall stay\n`)
  t.deepEqual({ CDS: await served('CDS'), CDNSKEY: await served('CDNSKEY') }, before)
  t.deepEqual(await json('dnssec', 'announce-removal', '--undo', name), { [name]: { removal: false } })
  t.deepEqual(await zoneplane('dnssec', 'announce-removal', 'absent.example'), [
    false,
    'absent.example: There is no domain absent.example.\n',
  ])
})

test('records of another signer stay when the removal of the DS is announced and taken back', async (t) => {
  const [name] = (await newDomains(1)) as [string]
  const { system } = servers()
  const own = async () => {
    const sql = `select type, ttl, records from rrsets
      where domain_id = (select id from domains where name = :name) and type in ('CDS', 'CDNSKEY')`
    return query(system.db, sql, { name })
  }
  await addSigner(name, 'CDNSKEY')
  const before = await own()
  await done('dnssec', 'announce-removal', name)
  t.deepEqual(await lookUp(servers().powerDns, name, 'CDNSKEY'), ['0 3 0 AA=='])
  await done('dnssec', 'announce-removal', '--undo', name)
  t.deepEqual(await own(), before)
})
