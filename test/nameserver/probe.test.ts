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

/** What the probe says, and of this label, if PowerDNS is of this version and has these settings. */
async function told(version: string, settings: Record<string, string>): Promise<[string[], boolean]> {
  const { proxy, backends } = service()
  const answer = Object.entries(settings).map(([name, value]) => ({ type: 'ConfigSetting', name, value }))
  proxy.fail(({ path }) => (path === '' ? { answer: { version } } : path === '/config' ? { answer } : 'pass'))
  const options = { url: proxy.url, key: backends.pdnsApiKey, connections: 1, primary: 'ns1.example.test.' }
  const nameserver = new PowerDns(options)
  const warnings = await nameserver.probe()
  const isRefused = nameserver.labelProblem('0123456789abcdefghijklmnopqrstuv') !== undefined
  await nameserver.close()
  return [warnings, isRefused]
}

test.serial('a PowerDNS that does not answer for names below a DNAME is reported', async (t) => {
  const [[warning, ...others]] = await told('4.7.3', { 'dname-processing': 'no' })
  t.regex(warning!, /dname-processing=yes/)
  t.deepEqual(others, [])
  t.deepEqual((await told('4.7.3', { 'dname-processing': 'yes' }))[0], [])
  t.deepEqual((await told('6.0.0', { launch: 'lmdb' }))[0], [])
})

test.serial('names like NSEC3 hashes are refused with LMDB before 5.0', async (t) => {
  const settings = { 'dname-processing': 'yes' }
  t.deepEqual(await told('4.7.3', { ...settings, launch: 'lmdb' }), [[], true])
  t.deepEqual(await told('4.9.17', { ...settings, launch: 'bind,lmdb:zones' }), [[], true])
  t.deepEqual(await told('5.0.1', { ...settings, launch: 'lmdb' }), [[], false])
  t.deepEqual(await told('4.9.17', { ...settings, launch: 'gpgsql' }), [[], false])
})

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
