import test, { type ExecutionContext } from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf } from '../../../src/dns/names.ts'
import { projectFolder } from '../../../src/installation/project.ts'
import { query as sql } from '../../../src/store/database.ts'
import { domainOf, succeeded } from '../../support/clients/api.ts'
import { differences } from '../../support/dns/likeness.ts'
import { delv } from '../../support/dns/validators.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { type Kind, type SecondaryServer, startSecondary, versionOf } from '../../support/servers/secondaries.ts'
import { FORBIDDEN, FORMER, type Name, OTHERWISE, REFUSED, type RRset, TRANSFERRED } from './secondary-contents.ts'

// What an RRset does to its zone at the secondaries. Whatever the API accepts is transferred and answered by all of them as
// by the primary, or docs/operators/secondaries.md says who refuses it, and what helps.

const servers = useServers()
const LABELS = Object.keys({ ...TRANSFERRED, ...FORBIDDEN, ...REFUSED, ...OTHERWISE, ...FORMER })
const zoneOf = (label: string) => `${label}.example`
const PATIENT = { headers: { Prefer: 'wait=30' } }
let secondaries: ReadonlyMap<Name, SecondaryServer> = new Map()
let service: TestProcess

test.serial.before('secondaries of every kind, with all zones', async () => {
  const start = (kind: Kind, edit?: (text: string) => string) =>
    startSecondary(kind, servers().powerDns, LABELS.map(zoneOf), edit)
  const [bind, plain, knot, nsd, powerdns] = await Promise.all([
    start('bind'),
    start('bind', (text) => text.replace(/max-records-per-type \d+;/, '')),
    start('knot'),
    start('nsd'),
    start('powerdns'),
  ])
  secondaries = new Map<Name, SecondaryServer>([
    ['bind', bind],
    ['plain-bind', plain],
    ['knot', knot],
    ['nsd', nsd],
    ['powerdns', powerdns],
  ])
  const targets = [...secondaries].map(([name, { dnsHost, dnsPort }]) => `${name}.test=${dnsHost}:${dnsPort}`)
  service = await servers().start({ SECONDARIES: targets.join() })
  for (const label of LABELS) succeeded(await service.api.post('/domains/', { name: zoneOf(label) }), 201)
  for (const label of LABELS) await statusOf(label, '?wait=30')
})

test.after.always(async () => {
  for (const secondary of secondaries.values()) await secondary.kill()
})

const pathOf = (label: string) => `/domains/${zoneOf(label)}/rrsets/`

/** What the publication status says of each secondary that does not serve the latest version; and the version it serves. */
async function statusOf(
  label: string,
  query = '',
): Promise<Partial<Record<string, [detail: string, version: number]>>> {
  const answer = succeeded(await service.api.get(`/domains/${zoneOf(label)}/publication/${query}`), 200)
  const { nameservers } = answer.json as {
    nameservers: { name: string; status: string; version: number; detail: string }[]
  }
  return Object.fromEntries(
    nameservers.flatMap(({ name, status, version, detail }) =>
      status === 'INSYNC' ? [] : [[name.replace('.test.', ''), [detail, version]]],
    ),
  )
}

/**
 * Asserts that all secondaries but these answer as the primary does: for each RRset, for a name below it, and for a name
 * that the zone lacks.
 * @param refusing those that do not serve these RRsets
 */
async function answerAlike(
  t: ExecutionContext,
  label: string,
  rrsets: readonly RRset[],
  { but = [], refusing = [] }: { but?: readonly Name[] | undefined; refusing?: readonly Name[] },
): Promise<void> {
  const name = zoneOf(label)
  const questions = rrsets.flatMap(({ subname, type }): [string, string][] => {
    const owner = nameOf({ name }, subname)
    const below: [string, string] = [`below.${owner}`, 'A']
    return [[owner, type], below]
  })
  const serving = [...secondaries].filter(([name]) => !refusing.includes(name))
  const found = await differences(servers().powerDns, new Map(serving), [...questions, [`nothing.${name}.`, 'A']])
  t.deepEqual([...new Set(found.map(({ server }) => server))], [...but], JSON.stringify(found))
}

/** What delv says of a name that the zone does not have, at each secondary. */
async function denials(label: string): Promise<Record<string, string>> {
  const zone = zoneOf(label)
  const ds = (await domainOf(service.api, zone)).keys.flatMap((key) => key.ds)
  const verdicts = [...secondaries].map(async ([name, server]) => {
    return [name, await delv(server, zone, ds, `nothing.${zone}`, 'A')]
  })
  return Object.fromEntries(await Promise.all(verdicts)) as Record<string, string>
}

for (const [label, rrsets] of Object.entries(TRANSFERRED)) {
  test.serial(`${label}: all secondaries transfer it, and answer as the primary does`, async (t) => {
    const method = rrsets.some(({ subname }) => subname === '') ? 'PUT' : 'POST'
    const written = await service.api.send(method, pathOf(label), rrsets, PATIENT)
    t.is(written.headers['zoneplane-publication'], 'INSYNC', `${written.text} ${JSON.stringify(await statusOf(label))}`)
    await answerAlike(t, label, rrsets, {})
  })
}

for (const [label, rrsets] of Object.entries(FORBIDDEN)) {
  test.serial(`${label}: the API refuses it`, async (t) => {
    t.is((await service.api.post(pathOf(label), rrsets)).status, 400)
  })
}

/** What each logs when it has refused a zone; NSD logs only that it is told of the change. */
const REFUSALS: Record<Name, RegExp> = {
  bind: /Transfer status: (?!success|up to date)/,
  'plain-bind': /Transfer status: (?!success|up to date)/,
  knot: /refresh, failed/,
  nsd: /notify for/,
  powerdns: /unable to xfr zone/,
}

for (const [label, { rrsets, by, otherwise, only }] of Object.entries(REFUSED)) {
  const refusing = only && !only[1].test(versionOf(only[0])) ? [] : by
  const what = refusing.length === 0 ? 'these versions transfer it' : `refused by ${refusing.join(', ')}`
  test.serial(`${label}: ${what}; the status says so; its deletion helps`, async (t) => {
    const former = await service.api.get(`/domains/${zoneOf(label)}/publication/`)
    const { version } = former.json as { version: number }
    const logged = new Map([...secondaries].map(([name, { output }]) => [name, output().length]))
    succeeded(await service.api.post(pathOf(label), rrsets), 201)
    const hasRefused = (name: Name) => {
      const lines = secondaries.get(name)!.output().slice(logged.get(name)).split('\n')
      return lines.some((line) => line.includes(zoneOf(label)) && REFUSALS[name].test(line))
    }
    await eventually(() => refusing.every(hasRefused))
    await eventuallyIs(async () => Object.keys(await statusOf(label)).length, refusing.length)
    const expected = refusing.map((name) => [name, ['serves an older version', version]])
    t.deepEqual(await statusOf(label), Object.fromEntries(expected))
    await answerAlike(t, label, rrsets, { but: otherwise, refusing })

    const none = rrsets.map((rrset) => ({ ...rrset, records: [] }))
    const deleted = await service.api.patch(pathOf(label), none, PATIENT)
    t.is(deleted.headers['zoneplane-publication'], 'INSYNC', deleted.text)
  })
}

for (const [label, { rrsets, by }] of Object.entries(OTHERWISE)) {
  test.serial(`${label}: all transfer it; ${by.join(', ')} answer otherwise`, async (t) => {
    const written = await service.api.post(pathOf(label), rrsets, PATIENT)
    t.is(written.headers['zoneplane-publication'], 'INSYNC', written.text)
    await answerAlike(t, label, rrsets, { but: by })
  })
}

/** Makes a zone of RRsets that the API refuses, as an earlier version accepted them. */
async function makeFormer(label: string, rrsets: RRset[]): Promise<void> {
  const name = zoneOf(label)
  for (const rrset of rrsets) {
    await sql(
      servers().system.db,
      `with domain as (update domains set size = size + 1 where name = :name returning id)
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, :subname, :type, :ttl, :records, now(), now() from domain`,
      { name, ...rrset },
    )
  }
  succeeded(await service.api.delete(`/domains/${name}/`), 204)
  succeeded(await service.api.post('/domains/', { name, restore: true }), 201)
}

test.serial('an NS and DS below a delegation, of a former version: denials of PowerDNS are bogus', async (t) => {
  await makeFormer('former-ds', FORMER['former-ds'])
  t.deepEqual(await statusOf('former-ds', '?wait=30'), {})
  const { powerdns, ...others } = await denials('former-ds')
  t.regex(powerdns!, /^failed: /)
  t.deepEqual([...new Set(Object.values(others))], ['negative response, fully validated'])
})

test.serial('a name below a DNAME, of a former version: Knot refuses the zone', async (t) => {
  await makeFormer('former-dname', FORMER['former-dname'])
  await eventuallyIs(async () => Object.keys(await statusOf('former-dname')).join(), 'knot')
  t.regex(secondaries.get('knot')!.output(), /node a\.former-dname\.example\., child record exists under DNAME/)
})

test.serial('the query in docs/operators/secondaries.md finds these zones', async (t) => {
  const text = readFileSync(join(projectFolder(), 'docs', 'operators', 'secondaries.md'), 'utf8')
  const [, statement] = /This SQL finds the last two kinds:\n\n((?: {4}.*\n)+)/.exec(text)!
  const found = await sql<{ name: string }>(servers().system.db, statement!.trim().replace(/;$/, ''))
  t.deepEqual(found.map(({ name }) => name).sort(), ['former-dname.example', 'former-ds.example', 'former-ds.example'])
})
