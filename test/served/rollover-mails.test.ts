import type { Access, Writer } from '../../src/service/actor.ts'
import { advance } from '../../src/service/rollovers/advancing.ts'
import { confirm } from '../../src/service/rollovers/confirming.ts'
import { accessOfOperator, begin, cancel, get } from '../../src/service/rollovers/rollovers.ts'
import { changeOf } from '../../src/service/zone/changes.ts'
import { openZone } from '../../src/service/zone/opening.ts'
import { query } from '../../src/store/database.ts'
import * as store from '../../src/store/domains/rollovers.ts'
import { currentTime, later } from '../../src/time.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { commandsOn } from '../support/command-line.ts'
import { delegation, useWorld } from '../support/dns/world.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §15.10: owners are asked to change the DS, with a clock that the tests set. No service runs, so mails stay
// in the queue, and the tests themselves look at the rollovers.

const servers = useServers()
const world = useWorld(servers)
let now = currentTime()
let email: string

test.before('time is that of the tests', async () => {
  const { system, owner } = servers()
  email = await emailOf(system, owner.id)
  Object.assign(system, { parents: world().parents(), now: () => now })
})

const HOUR = 3_600
const DAY = 86_400

const delegate = (name: string, ds: string[]) => world().delegate(delegation(name, ds))

/** Lets time pass, and then looks at the rollover. */
async function pass(name: string, seconds: number): Promise<void> {
  const { system } = servers()
  now = later(now, seconds)
  const rollover = (await store.all(system.db)).find((each) => each.name === name)
  await advance(system, rollover!)
}

const shown = async (name: string) => get(await accessOfOperator(servers().system, name))

async function newDomain(name: string): Promise<void> {
  const { system } = servers()
  const [made, problem] = await commandsOn(() => system)('domain', 'create', name, '--account', email)
  if (!made) throw new Error(problem)
}

/** A domain whose rollover waits for the DS. */
async function waiting(name: string): Promise<string> {
  await newDomain(name)
  await begin(await accessOfOperator(servers().system, name), { algorithm: 'ecdsa256', emergency: true })
  while ((await shown(name)).phase !== 'await-ds') await pass(name, 0)
  return name
}

/** The texts of the mails about a domain with this subject, oldest first. */
async function mails(name: string, subject = `${name} needs another DS record`): Promise<string[]> {
  const sql = `select payload ->> 'text' as text from work
    where payload ->> 'to' = :email and payload ->> 'subject' = :subject order by created`
  return (await query<{ text: string }>(servers().system.db, sql, { email, subject })).map(({ text }) => text)
}

const listed = (contents: string[]) => contents.map((content) => `\n- ${content}`).join('')

test('an owner is asked for the DS after an hour, then once a week, until it is there', async (t) => {
  const name = await waiting('manual.example')
  const { addDs, removeDs } = await shown(name)
  await delegate(name, [removeDs[0]!])
  await pass(name, 0)
  await pass(name, HOUR - 1)
  t.deepEqual(await mails(name), [])
  await pass(name, 1)
  const [text, ...others] = await mails(name)
  t.deepEqual(others, [])
  t.true(text!.includes(`Add one of these DS records; most registrars accept the first:${listed(addDs)}\n`), text)
  t.true(text!.includes(`Remove these, if they are there:${listed(removeDs)}\n`), text)
  await pass(name, HOUR)
  await pass(name, 7 * DAY - HOUR - 1)
  t.is((await mails(name)).length, 1)
  await pass(name, 1)
  t.deepEqual(await mails(name), [text, text])
  await delegate(name, [addDs[0]!])
  await pass(name, 8 * DAY)
  await pass(name, 60)
  t.is((await shown(name)).phase, 'await-ds-ttl')
  t.is((await mails(name)).length, 2)
})

test('a parent that acts within the hour, or has no DS, causes no mail', async (t) => {
  const [quick, insecure] = [await waiting('quick.example'), await waiting('insecure.example')]
  const { addDs } = await shown(quick)
  await delegate(quick, [addDs[1]!])
  await pass(quick, HOUR - 60)
  await pass(quick, 60)
  await delegate(insecure, [])
  await pass(insecure, 2 * HOUR)
  await pass(insecure, 60)
  for (const name of [quick, insecure]) {
    t.is((await shown(name)).phase, 'await-ds-ttl', name)
    t.deepEqual(await mails(name), [], name)
  }
})

test('who goes back is asked for the former DS, after another hour', async (t) => {
  const name = await waiting('back.example')
  const { addDs, removeDs } = await shown(name)
  await delegate(name, [addDs[0]!, removeDs[0]!])
  await pass(name, HOUR)
  t.is((await mails(name)).length, 1)
  await cancel(await accessOfOperator(servers().system, name))
  await pass(name, HOUR - 1)
  t.is((await mails(name)).length, 1)
  await pass(name, 1)
  const [, text] = await mails(name)
  t.true(text!.includes(`most registrars accept the first:${listed(removeDs)}\n`), text)
  t.true(text!.includes(`if they are there:${listed(addDs)}\n`), text)
})

test('who has other signers is asked to let them publish the new key', async (t) => {
  const name = 'signers.example'
  await newDomain(name)
  const { system } = servers()
  const access = await accessOfOperator(system, name)
  await begin(access, { algorithm: 'ecdsa256', emergency: true })
  const rollover = (await store.all(system.db)).find((each) => each.name === name)
  await addSigner(access)
  const sent = () => mails(name, `${name}: other signers need a new key`)
  await pass(name, HOUR - 1)
  t.deepEqual(await sent(), [])
  await pass(name, 1)
  await pass(name, 1)
  const [text, ...others] = await sent()
  t.deepEqual(others, [])
  t.true(text!.includes(`Have them publish this DNSKEY record:${listed(rollover!.incoming)}\n`), text)
  await pass(name, 7 * DAY)
  t.is((await sent()).length, 2)
  await confirm(access, { force: false })
  await pass(name, 7 * DAY)
  t.is((await sent()).length, 2)
})

/** Adds the DNSKEY of another signer, as the user does. */
async function addSigner(access: Access<Writer>): Promise<void> {
  const records = [`257 3 15 ${Buffer.alloc(32, 7).toString('base64')}`]
  await using zone = await openZone(access, [''])
  const after = { subname: '', type: 'DNSKEY', ttl: 3600, records }
  await zone.write([changeOf({ subname: '', type: 'DNSKEY', before: undefined, after })])
}
