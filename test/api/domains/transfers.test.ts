import { domainOf, newDomain, shared, succeeded } from '../../support/clients/api.ts'
import { commandsOn } from '../../support/command-line.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf } from '../../support/state/history.ts'

// Contract §15.7: who may transfer a zone. What PowerDNS serves then: test/served/transfers.test.ts.

const service = useService()
const account = shared(() => service().account({ limitDomains: null }))

const NONE = { addresses: [], notify: [], tsig: false }
const SOME = { addresses: ['192.0.2.7', '2001:db8::/64'], notify: ['192.0.2.7', '2001:db8::1'], tsig: false }

interface Key {
  name: string
  algorithm: string
  secret: string
}

test('at first nobody may; what is put is shown', async (t) => {
  const { api } = await account()
  const path = `/domains/${await newDomain(api)}/transfers/`
  t.deepEqual((await api.get(path)).json, NONE)
  t.deepEqual(succeeded(await api.put(path, SOME), 200).json, SOME)
  t.deepEqual((await api.get(path)).json, SOME)
  t.deepEqual(succeeded(await api.put(path, NONE), 200).json, NONE)
  t.deepEqual((await api.get(path)).json, NONE)
})

test('addresses are shown in their standard form, and each once', async (t) => {
  const { api } = await account()
  const path = `/domains/${await newDomain(api)}/transfers/`
  const addresses = [' 192.0.2.7/32', '192.0.2.7', '2001:DB8:0:0::/64', '2001:db8::1/128', '198.51.100.0/255.255.255.0']
  const answer = await api.put(path, { addresses, notify: ['192.0.2.7', '192.0.2.7/32'], tsig: 'off' })
  t.deepEqual(answer.json, {
    addresses: ['192.0.2.7', '2001:db8::/64', '2001:db8::1', '198.51.100.0/24'],
    notify: ['192.0.2.7'],
    tsig: false,
  })
})

test('a key is shown once, when it is made; one that comes later is another', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const path = `/domains/${name}/transfers/`
  const { key, ...shown } = succeeded(await api.put(path, { ...SOME, tsig: true }), 200).json as { key: Key }
  t.deepEqual(shown, { ...SOME, tsig: true })
  t.is(key.algorithm, 'hmac-sha256')
  t.regex(key.name, /^key-[0-9a-f-]{36}$/)
  t.is(Buffer.from(key.secret, 'base64').length, 32)
  t.deepEqual((await api.get(path)).json, { ...SOME, tsig: true })
  t.deepEqual((await api.put(path, { ...SOME, tsig: true })).json, { ...SOME, tsig: true })
  t.deepEqual((await api.put(path, { ...NONE, tsig: true })).json, { ...NONE, tsig: true })
  t.deepEqual((await api.put(path, NONE)).json, NONE)
  const again = succeeded(await api.put(path, { ...NONE, tsig: true }), 200).json as { key: Key }
  t.not(again.key.secret, key.secret)
  t.not(again.key.name, key.name)
  const [row] = await service().sql<{ secret: Buffer }>(
    'select secret from transfers where domain_id = (select id from domains where name = :name)',
    { name },
  )
  t.false(row!.secret.includes(Buffer.from(again.key.secret, 'base64')))
  for (const secret of [key.secret, again.key.secret]) t.false(service().logged().includes(secret))
})

test('a change is no change of the contents: the version stays, and PowerDNS rectifies nothing', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const [before, entries] = [await domainOf(api, name), await entriesOf(api, name)]
  const seen = service().proxy.calls.length
  succeeded(await api.put(`/domains/${name}/transfers/`, { ...SOME, tsig: true }), 200)
  const path = `/zones/${name}.`
  const calls = service().proxy.calls.slice(seen)
  const sent = calls.filter((call) => call.path.includes(`${name}.`)).map((call) => `${call.method} ${call.path}`)
  t.deepEqual(sent, [`PUT ${path}`, `PUT ${path}/metadata/ALLOW-AXFR-FROM`])
  const told = service().proxy.calls.length
  succeeded(await api.put(`/domains/${name}/transfers/`, { ...SOME, tsig: true }), 200)
  t.is(
    service()
      .proxy.calls.slice(told)
      .filter((call) => call.path.includes(`${name}.`)).length,
    0,
  )
  t.deepEqual(await domainOf(api, name), before)
  t.deepEqual(await entriesOf(api, name), entries)
})

const BAD: [body: object, problems: object][] = [
  [
    {},
    { addresses: ['This field is required.'], notify: ['This field is required.'], tsig: ['This field is required.'] },
  ],
  [{ ...NONE, addresses: null }, { addresses: ['This field may not be null.'] }],
  [{ ...NONE, addresses: '192.0.2.7' }, { addresses: ['Expected a list of items but got type "str".'] }],
  [{ ...NONE, addresses: [7] }, { addresses: ['Item 0: Invalid CIDR address.'] }],
  [{ ...NONE, addresses: ['192.0.2.7', 'ns.example'] }, { addresses: ['Item 1: Invalid CIDR address.'] }],
  [{ ...NONE, addresses: ['192.0.2.7/24'] }, { addresses: ['Item 0: Must be a network address.'] }],
  [
    { ...NONE, addresses: Array.from({ length: 9 }, (_, i) => `192.0.2.${i}`) },
    { addresses: ['Ensure this field has no more than 8 elements.'] },
  ],
  [
    { addresses: ['192.0.2.0/24'], notify: [1, 2, 3, 4, 5].map((i) => `192.0.2.${i}`), tsig: false },
    { notify: ['Ensure this field has no more than 4 elements.'] },
  ],
  [{ ...NONE, notify: ['192.0.2.7'] }, { notify: ['Item 0: Must be in addresses.'] }],
  [
    { addresses: ['192.0.2.0/24'], notify: ['192.0.2.0/24', '198.51.100.1'], tsig: false },
    { notify: ['Item 0: Must be one address.', 'Item 1: Must be in addresses.'] },
  ],
  [{ ...NONE, tsig: 'perhaps' }, { tsig: ['Must be a valid boolean.'] }],
]

test('what is wrong is refused with its member and item, and changes nothing', async (t) => {
  const { api } = await account()
  const path = `/domains/${await newDomain(api)}/transfers/`
  await api.put(path, SOME)
  for (const [body, problems] of BAD) {
    const { status, json } = await api.put(path, body)
    t.deepEqual([status, json], [400, problems], JSON.stringify(body))
  }
  t.deepEqual((await api.get(path)).json, SOME)
})

const PRIVATE = ['127.0.0.1', '10.1.2.3', '172.16.0.0/12', '192.168.1.0/24', '100.64.0.1', '169.254.1.1', '10.0.0.0/7']
PRIVATE.push('::1', 'fe80::1', 'fd00::/8', '64:ff9b::a00:1', '2002:a00:1::1')
// IANA's registries of special-purpose addresses, but for the networks above and those for documentation.
PRIVATE.push('192.0.0.0/24', '192.0.0.0/29', '192.0.0.8', '192.0.0.170', '192.88.99.0/24', '192.88.99.2')
PRIVATE.push('198.18.0.0/15', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001::/32', '2001:2::/48')
PRIVATE.push('2001:10::/28', '5f00::/16')
const PUBLIC = ['192.0.1.1', '192.88.98.255', '198.17.255.255', '198.20.0.0', '2000:ffff::1', '2001:200::1', '2003::1']
// For documentation, and what the registries call globally reachable.
PUBLIC.push('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20', '192.175.48.0/24')
const NOT_UNICAST = [
  '0.0.0.0',
  '0.0.0.0/0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::/0',
  'ff02::1',
  '::ffff:192.0.2.1',
]

test('only public addresses can be named; private ones, too, if the operator allows them', async (t) => {
  const refusal = (problem: string) => ({ addresses: [`Item 0: ${problem}`] })
  const tryAll = async (api: Awaited<ReturnType<typeof account>>['api'], addresses: string[]) => {
    const path = `/domains/${await newDomain(api)}/transfers/`
    return Promise.all(addresses.map(async (address) => (await api.put(path, { ...NONE, addresses: [address] })).json))
  }
  const { api } = await account()
  for (const json of await tryAll(api, PRIVATE)) t.deepEqual(json, refusal('Must be public addresses.'))
  for (const json of await tryAll(api, NOT_UNICAST)) t.deepEqual(json, refusal('Must be unicast addresses.'))
  for (const json of await tryAll(api, PUBLIC)) t.like(json, { tsig: false })
  await withService({ PRIVATE_TRANSFERS: 'on' }, async (allowing) => {
    const { api } = await allowing.account()
    for (const address of PRIVATE.filter((each) => each !== '10.0.0.0/7')) {
      const path = `/domains/${await newDomain(api)}/transfers/`
      t.is((await api.put(path, { ...NONE, addresses: [address] })).status, 200, address)
      await api.delete(path.replace('transfers/', ''))
    }
    for (const json of await tryAll(api, NOT_UNICAST)) t.deepEqual(json, refusal('Must be unicast addresses.'))
  })
})

test('secrets are encrypted again with a new key, also of deleted domains', async (t) => {
  const { api } = await account()
  const names = [await newDomain(api), await newDomain(api)]
  for (const name of names) await api.put(`/domains/${name}/transfers/`, { ...NONE, tsig: true })
  await api.delete(`/domains/${names[1]!}/`)
  const secrets = async () =>
    (await service().sql<{ text: string | null }>('select cast(secret as text) as text from transfers')).map(
      ({ text }) => text,
    )
  const before = await secrets()
  const [succeeded, printed] = await commandsOn(() => service().system)('encrypt-again')
  t.true(succeeded, printed)
  const after = await secrets()
  t.is(after.length, before.length)
  t.false(after.some((text) => text !== null && before.includes(text)))
})
