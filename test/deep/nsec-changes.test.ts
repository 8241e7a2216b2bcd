import test, { type ExecutionContext } from 'ava'
import { SMALL_ZONE } from '../../src/service/zone/rectification.ts'
import { around, type Changed, ChangingZone, SUBNAMES, TYPES } from '../served/checks/sequences.ts'
import { succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { type Server, transfer, verifyByBind, verifyZone } from '../support/dns/dns.ts'
import { differences } from '../support/dns/likeness.ts'
import { sorted, transferred } from '../support/dns/wire.ts'
import { type Host, isConsistent, type Question } from '../support/dns/zone.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { type Kind, type SecondaryServer, startSecondary } from '../support/servers/secondaries.ts'

// A zone with NSEC that PowerDNS rectifies only when it must, and its secondaries, which have the denials from transfers.

const NAME = 'changing.test'
/** RRsets that stay. */
const STABLE = SMALL_ZONE + 50
const ROUNDS = depth(1, 20)
const CHANGES = 55

const servers = useServers()
const random = new Random()
const secondaries = new Map<Kind, SecondaryServer>()
const counts = new Map<string, number>()
let service: TestProcess
let host: Host
let changing: ChangingZone

/** Changes of the configurations, so that the secondaries may be asked for transfers, too. */
const TRANSFERABLE: [Kind, (configuration: string) => string][] = [
  ['knot', (text) => text.replace('action: notify', 'action: [notify, transfer]')],
  ['nsd', (text) => text.replace(/ *allow-notify: .*/, '$&\n  provide-xfr: 127.0.0.1 NOKEY')],
]

test.serial.before('a zone at a primary and two secondaries', async () => {
  for (const [kind, edit] of TRANSFERABLE) {
    secondaries.set(kind, await startSecondary(kind, servers().powerDns, [NAME], edit))
  }
  const targets = [...secondaries].map(([kind, { dnsHost, dnsPort }]) => `${kind}.test=${dnsHost}:${dnsPort}`)
  service = await servers().start({ DENIAL: 'nsec', SECONDARIES: targets.join() })
  const { system, ...others } = servers()
  const config = { ...system.config, denial: 'nsec' as const }
  const watched = { ...others, system: { ...system, config } }
  const choices = { subnames: [...SUBNAMES, ...subnames(60)], types: [...TYPES, 'DNAME'] as const }
  host = watched
  changing = await ChangingZone.create(watched, service.api, { zone: NAME, size: STABLE }, random, choices)
})

test.after.always(async () => {
  for (const secondary of secondaries.values()) await secondary.kill()
})

/** Other subnames, many of them one below another. Their order in DNS is not that of their octets. */
function subnames(count: number): string[] {
  const labels = ['', '0', 'm', 'm-', 'm0', '_m', '_', 'o'.repeat(61)]
  const plain = new Set<string>()
  while (plain.size < count) {
    const label = `${random.of(labels)}${random.below(100)}`
    const parent = random.of(['', random.of(['a', 'b.b', ...plain])])
    const name = parent === '' ? label : `${label}.${parent}`
    if (name.length <= 150) plain.add(name)
  }
  return [...plain, ...random.some([...plain], count / 6).map((parent) => `*.${parent}`)]
}

/** Those questions that are answered with a denial. */
function denied(questions: Question[]): Question[] {
  return questions.filter(([name, type]) => {
    const { answers, referral } = changing.zone.model.reply(name, type)
    return answers.length === 0 && referral === undefined
  })
}

/** Asserts that the secondaries have the zone's version, and answer and deny as the primary does. */
async function areLikePrimary(t: ExecutionContext, questions: Question[], validated: number): Promise<void> {
  const { json } = succeeded(await service.api.get(`/domains/${NAME}/publication/?wait=30`), 200)
  const { nameservers } = json as { nameservers: { status: string }[] }
  t.deepEqual([...new Set(nameservers.map(({ status }) => status))], ['INSYNC'], JSON.stringify(json))
  t.deepEqual(await differences(servers().powerDns, secondaries, questions), [])
  // Knot's proof for a name with `*` below a wildcard lacks a part (secondaries.md).
  const provable = denied(questions).filter(([name]) => !name.startsWith('*.'))
  for (const secondary of secondaries.values()) {
    await changing.zone.validates(t, random.some(provable, validated), secondary)
  }
}

/** Asserts that a transfer has the zone's RRsets, and is valid. Returns its denials, and the SOA. */
async function isTransferred(t: ExecutionContext, server: Server): Promise<string[]> {
  const { zone } = changing
  t.deepEqual(await transferred(server, NAME), sorted(zone.model.all()))
  const text = await transfer(server, NAME)
  await t.notThrowsAsync(verifyZone(text, NAME, zone.ds))
  await t.notThrowsAsync(verifyByBind(text, NAME))
  const lines = text.split('\n').filter((line) => /\sIN\s+(NSEC|SOA)\s/.test(line))
  return lines.map((line) => line.replace(/\s+/g, ' ')).sort()
}

/** Counts a change by what it does. */
function count({ subname, type, records, before, isRectified }: Changed): void {
  const after = changing.zone.model.at(changing.zone.at(subname)).length
  const isNamed = before.length === 0 || after === 0
  const isCut = ['NS', 'DS', 'DNAME'].includes(type) && subname !== ''
  const isTypeChanged = before.includes(type) !== records.length > 0
  const kinds: [string, boolean][] = [
    ['all', true],
    ['new names', before.length === 0],
    ['removed names', after === 0],
    ['names among non-terminals', isNamed && isRectified && !isCut],
    ['wildcards', isNamed && subname.startsWith('*')],
    ...['NS', 'DS', 'DNAME'].map((cut): [string, boolean] => [cut, isCut && type === cut && isTypeChanged]),
    ['other types', !isNamed && !isCut && isTypeChanged],
    ['contents', !isTypeChanged],
    ['not rectified', !isRectified],
    ['names, not rectified', isNamed && !isRectified],
  ]
  for (const [kind, isSo] of kinds) if (isSo) counts.set(kind, (counts.get(kind) ?? 0) + 1)
}

for (let round = 0; round < ROUNDS; round++) {
  const first = round * CHANGES + 1
  const which = `changes ${first} to ${first + CHANGES - 1}`
  test.serial(`${which}: primary and secondaries deny as they must; all transfers are valid`, async (t) => {
    const { zone } = changing
    for (let i = 0; i < CHANGES; i++) {
      const changed = await changing.change(t, i % 3 > 0)
      count(changed)
      const questions = changing.questions(around(zone, changed.subname))
      await zone.answers(t, random.some(questions, 6))
      if (i % 8 === 0) await zone.validates(t, random.some(denied(questions), 1))
      if (i % 18 === 0) await areLikePrimary(t, random.some(questions, 10), 1)
    }
    const all = changing.questions(changing.names({ stable: false }))
    await zone.answers(t, random.some(all, 200))
    await zone.validates(t, random.some(denied(all), 4))
    await areLikePrimary(t, random.some(all, 60), 3)
    const denials = await isTransferred(t, servers().powerDns)
    for (const [kind, secondary] of secondaries) t.deepEqual(await isTransferred(t, secondary), denials, kind)
  })
}

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, host)
})

test.serial('there were changes, and of 1,000 some of each kind', (t) => {
  t.log(Object.fromEntries(counts))
  t.is(counts.get('all'), ROUNDS * CHANGES)
  if (ROUNDS * CHANGES < 1_000) return
  const rare = [...counts].filter(([, number]) => number < 10)
  t.deepEqual(rare, [])
  t.is(counts.size, 12)
})
