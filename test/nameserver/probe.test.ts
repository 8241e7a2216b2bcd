import test from 'ava'
import { escapedTwice, PowerDns } from '../../src/nameserver/powerdns.ts'
import { useService } from '../support/harness.ts'

const service = useService()

/** A separate driver behind the proxy, after it has probed PowerDNS. */
async function probed() {
  const { proxy, backends } = service()
  const options = { url: proxy.url, key: backends.pdnsApiKey, connections: 1, primary: 'ns1.example.test.' }
  const nameserver = new PowerDns(options)
  await nameserver.probe()
  return nameserver
}

/** What the driver sends as the content of a TXT record. */
async function sent(content: string): Promise<string> {
  const { proxy } = service()
  proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 204 } : 'pass'))
  const nameserver = await probed()
  proxy.calls.length = 0
  const rrset = { name: 'a.example.test.', type: 'TXT', ttl: 60, records: [content] }
  await nameserver.publish('example.test.', 1, [rrset], false, { confirm: () => Promise.resolve() })
  await nameserver.close()
  const { rrsets } = JSON.parse(proxy.calls[0]!.body) as { rrsets: { type: string; records: { content: string }[] }[] }
  return rrsets.find(({ type }) => type === 'TXT')!.records[0]!.content
}

test.afterEach.always(() => {
  service().proxy.heal()
})

test.serial('a PowerDNS that keeps escapes gets contents unchanged', async (t) => {
  t.is(await sent('"a\\"b\\\\c\\001"'), '"a\\"b\\\\c\\001"')
})

test.serial('a PowerDNS that removes one level of escapes gets them doubled', async (t) => {
  const { proxy } = service()
  proxy.fail(({ method, body }) => {
    if (method === 'PATCH') return { refuse: 204 }
    return method === 'POST' && body.includes('zoneplane.invalid') ? { refuse: 422 } : 'pass'
  })
  const nameserver = await probed()
  proxy.calls.length = 0
  const rrset = { name: 'a.example.test.', type: 'TXT', ttl: 60, records: ['"a\\"b\\\\c\\001"'] }
  await nameserver.publish('example.test.', 1, [rrset], false, { confirm: () => Promise.resolve() })
  await nameserver.close()
  t.true(proxy.calls[0]!.body.includes(JSON.stringify('"a\\\\"b\\\\\\\\c\\001"')))
})

/** What the probe learns of a PowerDNS of this version with these settings. */
async function learnt(version: string, settings: Record<string, string>) {
  const { proxy, backends } = service()
  const answer = Object.entries(settings).map(([name, value]) => ({ type: 'ConfigSetting', name, value }))
  proxy.fail(({ path }) => (path === '' ? { answer: { version } } : path === '/config' ? { answer } : 'pass'))
  const options = { url: proxy.url, key: backends.pdnsApiKey, connections: 1, primary: 'ns1.example.test.' }
  const nameserver = new PowerDns(options)
  const warnings = await nameserver.probe()
  const isRefused = nameserver.labelProblem('0123456789abcdefghijklmnopqrstuv') !== undefined
  await nameserver.close()
  return { warnings, isRefused, alwaysRectify: nameserver.alwaysRectify }
}

test.serial('a PowerDNS that does not answer for names below a DNAME is reported', async (t) => {
  const [warning, ...others] = (await learnt('4.7.3', { 'dname-processing': 'no' })).warnings
  t.regex(warning!, /dname-processing=yes/)
  t.deepEqual(others, [])
  t.deepEqual((await learnt('4.7.3', { 'dname-processing': 'yes' })).warnings, [])
  t.deepEqual((await learnt('6.0.0', { launch: 'lmdb' })).warnings, [])
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
  const { proxy, backends, system } = service()
  t.deepEqual(
    await new PowerDns({ url: proxy.url, key: backends.pdnsApiKey, connections: 1, primary: 'a.' }).probe(),
    [],
  )
  t.is(system.nameserver.labelProblem('0123456789abcdefghijklmnopqrstu'), undefined)
  t.is(system.nameserver.labelProblem('0123456789abcdefghijklmnopqrstuw'), undefined)
})

test.serial('the probe leaves no zone behind', async (t) => {
  const nameserver = await probed()
  t.deepEqual(
    [...(await nameserver.serials()).keys()].filter((zone) => zone.endsWith('.invalid.')),
    [],
  )
  await nameserver.close()
})

test.serial('if PowerDNS fails during the probe, the probe fails', async (t) => {
  const { proxy } = service()
  proxy.fail(() => ({ refuse: 500 }))
  await t.throwsAsync(probed())
})

test('escapes of quotes, backslashes and dots are doubled, those of other octets are not', (t) => {
  t.is(escapedTwice('"\\034\\092\\046\\\\\\"\\010\\255 plain"'), '"\\\\034\\\\092\\\\046\\\\\\\\\\\\"\\010\\255 plain"')
  t.is(escapedTwice('host\\.master.example.'), 'host\\\\.master.example.')
})
