import test from 'ava'
import { NSEC, NSEC3 } from '../../src/nameserver/nameserver.ts'
import { useService } from '../support/harness.ts'
import { driverAt } from '../support/servers/powerdns/driver.ts'

const service = useService()

const driver = () => driverAt(service().proxy.url, service().backends.pdnsApiKey)

/** A separate driver behind the proxy, after it has probed PowerDNS. */
async function probed() {
  const nameserver = driver()
  await nameserver.probe()
  return nameserver
}

const CONTENTS: [type: string, content: string][] = [
  ['TXT', '"a\\"b"'],
  ['LOC', '0 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m'],
  ['SVCB', '1 . key7="/"'],
]

/** What the driver sends for CONTENTS to a PowerDNS of this version. */
async function sent(version: string): Promise<string[]> {
  const { proxy } = service()
  proxy.fail(({ path }) => (path === '' ? { answer: { version } } : { answer: path === '/config' ? [] : {} }))
  const nameserver = await probed()
  proxy.calls.length = 0
  const rrsets = CONTENTS.map(([type, content]) => ({ subname: 'a', type, ttl: 60, records: [content] }))
  const changes = { zone: 'example.test.' as const, denial: '', version: 1, rrsets }
  await nameserver.publish(changes, false, { confirm: () => Promise.resolve() })
  await nameserver.close()
  const { rrsets: published } = JSON.parse(proxy.calls.find(({ method }) => method === 'PATCH')!.body) as {
    rrsets: { records: { content: string }[] }[]
  }
  return published.slice(0, CONTENTS.length).map(({ records }) => records[0]!.content)
}

test.afterEach.always(() => {
  service().proxy.heal()
})

const [ESCAPE, NORTH, NUMBERED] = CONTENTS.map(([, content]) => content) as [string, string, string]
const SOUTH = '0 0 0.000 S 0 0 0.000 W 0.00m 1.00m 10000.00m 10.00m'

for (const [version, ...spelled] of [
  ['4.9.17', ESCAPE, SOUTH, NUMBERED],
  ['5.0.7', ESCAPE, NORTH, NUMBERED],
  ['5.1.5', '"a\\\\\\"b"', NORTH, '1 . dohpath="/"'],
  ['6.0.0', '"a\\\\\\"b"', NORTH, '1 . dohpath="/"'],
]) {
  test.serial(`PowerDNS ${version} gets contents as it spells them`, async (t) => {
    t.deepEqual(await sent(version!), spelled)
  })
}

/** What the probe learns of a PowerDNS of this version with these settings. */
async function learnt(version: string, settings: Record<string, string>) {
  const { proxy } = service()
  const answer = Object.entries(settings).map(([name, value]) => ({ type: 'ConfigSetting', name, value }))
  proxy.fail(({ path }) => (path === '' ? { answer: { version } } : path === '/config' ? { answer } : 'pass'))
  const nameserver = driver()
  const warnings = await nameserver.probe()
  const isRefused = nameserver.labelProblem('0123456789abcdefghijklmnopqrstuv', NSEC3) !== undefined
  await nameserver.close()
  return { warnings, isRefused, alwaysRectify: nameserver.alwaysRectify }
}

test.serial('a PowerDNS that does not answer for names below a DNAME is reported', async (t) => {
  const [warning, ...others] = (await learnt('4.7.3', { 'dname-processing': 'no' })).warnings
  t.regex(warning!, /dname-processing=yes/)
  t.deepEqual(others, [])
  t.deepEqual((await learnt('4.7.3', { 'dname-processing': 'yes' })).warnings, [])
  t.deepEqual((await learnt('5.1.5', { launch: 'lmdb' })).warnings, [])
})

test.serial('a PowerDNS of a version that is not known is reported', async (t) => {
  const [warning, ...others] = (await learnt('6.0.0', { launch: 'lmdb' })).warnings
  t.is(warning, 'its version 6.0.0 is not known: it gets contents as 5.1, and may refuse some')
  t.deepEqual(others, [])
})

for (const [version, launch, isRefused, alwaysRectify] of [
  ['4.7.3', 'lmdb', true, false],
  ['4.9.17', 'bind,lmdb:zones', true, true],
  ['4.9.17', 'lmdb:a, lmdb:b', true, false],
  ['5.0.1', 'lmdb', false, false],
  ['4.9.17', 'gpgsql', false, true],
] as const) {
  test.serial(`names like NSEC3 hashes, and whether to rectify always: version ${version}, ${launch}`, async (t) => {
    const settings = { 'dname-processing': 'yes', launch }
    t.deepEqual(await learnt(version, settings), { warnings: [], isRefused, alwaysRectify })
  })
}

test.serial('the configured PowerDNS is as it should be', async (t) => {
  const { system } = service()
  t.deepEqual(await driver().probe(), [])
  t.is(system.nameserver.labelProblem('0123456789abcdefghijklmnopqrstu', NSEC3), undefined)
  t.is(system.nameserver.labelProblem('0123456789abcdefghijklmnopqrstuw', NSEC3), undefined)
  t.is(system.nameserver.labelProblem('0123456789abcdefghijklmnopqrstuv', NSEC), undefined)
})

test.serial('the probe leaves no zone behind', async (t) => {
  const nameserver = await probed()
  const left = [...(await nameserver.serials()).keys()].filter((zone) => zone.endsWith('.invalid.'))
  t.deepEqual(left, [])
  await nameserver.close()
})

test.serial('if PowerDNS fails during the probe, the probe fails', async (t) => {
  const { proxy } = service()
  proxy.fail(() => ({ refuse: 500 }))
  await t.throwsAsync(probed())
})
