import { Busy } from '../../src/errors.ts'
import { checkDue } from '../../src/service/delegation/checking.ts'
import { check } from '../../src/service/delegation/checks.ts'
import { measure } from '../../src/service/operation/measuring.ts'
import { begin, one, query } from '../../src/store/database.ts'
import * as store from '../../src/store/domains/delegations.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { takeTurn } from '../../src/store/turns.ts'
import { currentTime, later } from '../../src/time.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { domainOf, newDomain } from '../support/clients/api.ts'
import { allLettersTo } from '../support/clients/mails.ts'
import { commandsOn } from '../support/command-line.ts'
import { delegation, useWorld } from '../support/dns/world.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useAccount, useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { waitingForLocks } from '../support/state/transactions.ts'

// Contract §15.9: checks in the background, with a clock that the tests set, and their mails.

const service = useService({ PRIVATE_TRANSFERS: 'on', METRICS_PORT: '0' })
const account = useAccount(service)
const world = useWorld(service)
let now = currentTime()

test.before('time is that of the tests', () => {
  Object.assign(service().system, { parents: world().parents(), now: () => now })
})

const NEVER = new AbortController().signal
const MINUTE = 60
const DAY = 86_400
const OTHER_DS = `4711 13 2 ${'ab'.repeat(32)}`

/** Delegates a domain to us, with these DS. */
async function delegate(name: string, ds: string[]): Promise<void> {
  await world().delegate(delegation(name, ds))
}

/** Lets time pass, and then checks what is due. */
async function pass(seconds: number): Promise<void> {
  now = later(now, seconds)
  await checkDue(service().system, NEVER)
}

interface Row {
  state: string
  waits: number | null
  /** Seconds until the next check. */
  pause: number
}

async function rowOf(name: string): Promise<Row | undefined> {
  const sql = `select state, waits, cast(extract(epoch from due - cast(:now as timestamptz)) as float8) as pause
    from delegations join domains on id = domain_id where name = :name`
  return (await query<Row>(service().system.db, sql, { name, now }))[0]
}

test('a new domain is checked within a minute, then after 5 minutes and so on, until it is secure', async (t) => {
  const name = await newDomain(account().api, 'waiting.example')
  const { keys } = await domainOf(account().api, name)
  const planned = (await rowOf(name))!
  t.like(planned, { state: 'unknown', waits: 0 })
  t.true(planned.pause >= 0 && planned.pause <= MINUTE)
  await pass(MINUTE)
  t.deepEqual(await rowOf(name), { state: 'not-delegated', waits: 1, pause: 5 * MINUTE })
  await delegate(name, [])
  await pass(MINUTE)
  t.is((await rowOf(name))!.state, 'not-delegated')
  await pass(4 * MINUTE)
  t.deepEqual(await rowOf(name), { state: 'insecure', waits: 2, pause: 15 * MINUTE })
  await delegate(name, keys[0]!.ds)
  await pass(15 * MINUTE)
  const { pause, ...row } = (await rowOf(name))!
  t.deepEqual(row, { state: 'secure', waits: null })
  t.true(pause >= DAY && pause <= DAY + 60 * MINUTE)
})

test('a new domain waits, too, if somebody has checked it before', async (t) => {
  const { system } = service()
  const name = await newDomain(account().api, 'asked.example')
  await check(system, (await domains.find(system.db, name))!)
  t.deepEqual(await rowOf(name), { state: 'not-delegated', waits: 1, pause: 5 * MINUTE })
})

test('one process checks at a time', async (t) => {
  const { db } = service().system
  const name = await newDomain(account().api, 'other.example')
  {
    await using other = await begin(db)
    t.true(await takeTurn(other.db, 'checks at the parent'))
    await pass(2 * MINUTE)
    t.is((await rowOf(name))!.state, 'unknown')
  }
  await pass(0)
  t.is((await rowOf(name))!.state, 'not-delegated')
})

test('a domain that is deleted meanwhile is forgotten', async (t) => {
  const name = await newDomain(account().api, 'gone.example')
  t.not(await rowOf(name), undefined)
  await account().api.delete(`/domains/${name}/`)
  await pass(2 * MINUTE)
  t.is(await rowOf(name), undefined)
})

test('a check and the deletion of its domain wait for each other', async (t) => {
  const { system } = service()
  for (const first of ['check', 'deletion']) {
    const name = await newDomain(account().api, `${first}.example`)
    await pass(0)
    const domain = (await domains.find(system.db, name))!
    const works = [
      () => check(system, domain),
      async () => t.is((await account().api.delete(`/domains/${name}/`)).status, 204),
    ]
    const running: Promise<unknown>[] = []
    {
      // Both need the row of the last check, and get it in the order in which they have asked for it.
      await using other = await begin(system.db)
      await store.take(other.db, domain.id)
      for (const work of first === 'check' ? works : works.reverse()) {
        running.push(work())
        await eventuallyIs(() => waitingForLocks(other.db), running.length)
      }
    }
    await t.notThrowsAsync(Promise.all(running), first)
    t.is(await rowOf(name), undefined)
  }
})

test('the owner gets a mail when a mismatch is confirmed, and another when it is over', async (t) => {
  const owner = await service().account()
  const email = await emailOf(service().system, owner.id)
  const name = await newDomain(owner.api, 'mails.example')
  const letters = async () => (await allLettersTo(service().system, email)).map(({ subject }) => subject)
  const [ds] = (await domainOf(owner.api, name)).keys[0]!.ds as [string]
  await delegate(name, [ds])
  await pass(0)
  await pass(MINUTE)
  t.is((await rowOf(name))!.state, 'secure')
  await delegate(name, [OTHER_DS])
  await pass(DAY + 61 * MINUTE)
  t.deepEqual(await rowOf(name), { state: 'mismatch', waits: null, pause: 10 * MINUTE })
  t.deepEqual(await letters(), [])
  await pass(10 * MINUTE)
  t.deepEqual(await letters(), ['mails.example fails at validating resolvers'])
  const [letter] = await allLettersTo(service().system, email)
  t.true(letter!.text.includes(`Add the DS record "${ds}" at your registrar`))
  t.true(letter!.text.includes(`Remove the DS record "${OTHER_DS}" at your registrar`))
  await pass(DAY + 61 * MINUTE)
  await delegate(name, [ds])
  await pass(DAY + 61 * MINUTE)
  t.deepEqual(await letters(), [
    'mails.example fails at validating resolvers',
    'mails.example: the delegation has changed',
  ])
  // It loses its DS in the same week.
  await delegate(name, [])
  await pass(DAY + 61 * MINUTE)
  await pass(10 * MINUTE)
  t.is((await letters()).length, 2)
  await pass(7 * DAY)
  t.is((await letters()).at(-1), 'mails.example has lost its DS records')
})

test('a check that the end of the process interrupts stores nothing', async (t) => {
  const { system } = service()
  const domain = (await domains.find(system.db, 'waiting.example'))!
  const before = await store.find(system.db, domain.id)
  const parents = world().parents()
  const checking = check({ ...system, parents }, domain)
  parents.close()
  await t.throwsAsync(checking, { instanceOf: Busy })
  t.deepEqual(await store.find(system.db, domain.id), before)
})

test('the metrics count domains by state, those without a check as unknown', async (t) => {
  const { system } = service()
  await query(system.db, 'analyze domains')
  await measure(system, system.metrics!, 'test')
  const text = await system.metrics!.text()
  const told = new Map(
    [...text.matchAll(/^zoneplane_domains\{delegation="([\w-]+)"\} (\d+)$/gm)].map(([, state, n]) => [
      state,
      Number(n),
    ]),
  )
  const rows = await query<{ state: string; n: number }>(
    system.db,
    `select coalesce(state, 'unknown') as state, count(*) as n from domains left join delegations on id = domain_id group by 1`,
  )
  for (const { state, n } of rows) t.is(told.get(state), n, state)
  t.is(told.size, 9)
})

test('the command checks the domains that it names, or all, and fails if one is rejected', async (t) => {
  const zoneplane = commandsOn(() => service().system)
  await delegate('waiting.example', [])
  const [fine, text] = await zoneplane('delegation', 'check', 'waiting.example')
  t.true(fine)
  t.regex(text, /^DOMAIN +STATE +PROBLEMS\nwaiting\.example +insecure +Add the DS record "/)
  await delegate('waiting.example', [OTHER_DS])
  const [rejected, json] = await zoneplane('--json', 'delegation', 'check', '--all')
  t.false(rejected)
  const reports = JSON.parse(json) as { name: string; state: string; problems: string[] }[]
  const { n } = await one<{ n: number }>(service().system.db, 'select count(*) as n from domains')
  t.is(reports.length, n)
  t.like(
    reports.find(({ name }) => name === 'waiting.example'),
    { state: 'mismatch' },
  )
  for (const args of [[], ['--all', 'waiting.example']]) {
    const refusal = 'zoneplane: Name some domains, or give --all.\n'
    t.deepEqual(await zoneplane('delegation', 'check', ...args), [false, refusal])
  }
  t.deepEqual(await zoneplane('delegation', 'check', 'absent.example'), [
    false,
    'zoneplane: There is no domain absent.example.\n',
  ])
})
