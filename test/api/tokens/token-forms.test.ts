import { succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §§5.3 and 5.4: the forms of durations and networks.

const service = useService()

let api: Client

test.before('an account', async () => {
  api = (await service().account()).api
})

const FORMAT = 'Duration has wrong format. Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu].'
const NEGATIVE = 'Ensure this value is greater than or equal to 0:00:00.'
const TOO_LONG = 'Ensure this value is less than or equal to 365000 days, 0:00:00.'

for (const [given, shown] of [
  [null, null],
  [0, '00:00:00'],
  ['0', '00:00:00'],
  [3600, '01:00:00'],
  [86400, '1 00:00:00'],
  [1.5, '00:00:01.500000'],
  [0.000001, '00:00:00.000001'],
  ['10', '00:00:10'],
  ['90', '00:01:30'],
  ['5:6', '00:05:06'],
  ['61:00', '01:01:00'],
  ['4:5:6', '04:05:06'],
  ['100:00:00', '4 04:00:00'],
  ['7 00:00:00', '7 00:00:00'],
  ['365 00:10:33.123456', '365 00:10:33.123456'],
  ['00:00:00.1', '00:00:00.100000'],
  ['1,25', '00:00:01.250000'],
  ['00:00:00.1234567', '00:00:00.123456'],
  ['00:00:00.000000', '00:00:00'],
  ['3 6', '3 00:00:06'],
  ['3 5:06', '3 00:05:06'],
  ['1 days, 04:05:06', '1 04:05:06'],
  ['3 days, 04:05:06.7', '3 04:05:06.700000'],
  ['3 days 04:05:06', '3 04:05:06'],
  ['1 day 00:00:01', '1 00:00:01'],
  ['3 days', '3 00:00:00'],
  [' 3 ', '00:00:03'],
  ['1 -01:00:00', '23:00:00'],
  ['P3DT4H5M6S', '3 04:05:06'],
  ['P1D', '1 00:00:00'],
  ['PT36H', '1 12:00:00'],
  ['PT0.5S', '00:00:00.500000'],
  ['P1,5D', '1 12:00:00'],
  ['+PT1M', '00:01:00'],
  ['-PT0S', '00:00:00'],
  ['365000 00:00:00', '365000 00:00:00'],
  ['P365000D', '365000 00:00:00'],
  ['364999 23:59:59.999999', '364999 23:59:59.999999'],
] as const) {
  test(`the duration ${JSON.stringify(given)} is ${shown}`, async (t) => {
    const answer = succeeded(await api.post('/auth/tokens/', { max_age: given, max_unused_period: given }), 201)
    const made = answer.json as { id: string; max_age: unknown; max_unused_period: unknown }
    t.deepEqual([made.max_age, made.max_unused_period], [shown, shown])
    const again = await api.patch(`/auth/tokens/${made.id}/`, { max_age: made.max_age })
    t.is((again.json as typeof made).max_age, shown)
  })
}

for (const [given, problem] of [
  ['', FORMAT],
  ['x', FORMAT],
  ['1:2:3:4', FORMAT],
  ['1 2 3', FORMAT],
  ['1.', FORMAT],
  ['.5', FORMAT],
  ['P', FORMAT],
  ['PT', FORMAT],
  ['P1DT', FORMAT],
  ['P1Y', FORMAT],
  ['P1.2.3D', FORMAT],
  ['1e3', FORMAT],
  ['٣', FORMAT],
  ['1\n2', FORMAT],
  [true, FORMAT],
  [[], FORMAT],
  [{}, FORMAT],
  ['9'.repeat(101), FORMAT],
  ['-1', NEGATIVE],
  [-1, NEGATIVE],
  [-0.5, NEGATIVE],
  ['-1 00:00:00', NEGATIVE],
  ['-00:00:00.000001', NEGATIVE],
  ['-P1D', NEGATIVE],
  ['365000 00:00:00.000001', TOO_LONG],
  ['365001 00:00:00', TOO_LONG],
  [1e300, TOO_LONG],
  ['9'.repeat(100), TOO_LONG],
] as const) {
  test(`the duration ${JSON.stringify(given).slice(0, 30)} of ${JSON.stringify(given).length} characters is refused`, async (t) => {
    const { status, json } = await api.post('/auth/tokens/', { max_age: given, max_unused_period: given })
    t.deepEqual([status, json], [400, { max_age: [problem], max_unused_period: [problem] }])
  })
}

for (const [given, shown] of [
  ['1.2.3.4', '1.2.3.4/32'],
  ['2001:db8::1', '2001:db8::1/128'],
  ['1.2.3.0/24', '1.2.3.0/24'],
  ['1.2.3.0/255.255.255.0', '1.2.3.0/24'],
  ['0.0.0.0/0.0.0.0', '0.0.0.0/0'],
  ['1.2.3.4/255.255.255.255', '1.2.3.4/32'],
  ['BADE::/64', 'bade::/64'],
  ['0:0::0/0', '::/0'],
  ['::', '::/128'],
  [' 10.0.0.0/8 ', '10.0.0.0/8'],
  ['fe80::/10', 'fe80::/10'],
] as const) {
  test(`the network ${given} is ${shown}`, async (t) => {
    const answer = succeeded(await api.post('/auth/tokens/', { allowed_subnets: [given] }), 201)
    const made = answer.json as { id: string; allowed_subnets: unknown }
    t.deepEqual(made.allowed_subnets, [shown])
    t.deepEqual(((await api.get(`/auth/tokens/${made.id}/`)).json as typeof made).allowed_subnets, [shown])
  })
}

test('networks keep their order and duplicates; the list may be empty', async (t) => {
  for (const networks of [['::/0', '10.0.0.0/8', '0.0.0.0/0', '10.0.0.0/8'], []]) {
    const made = succeeded(await api.post('/auth/tokens/', { allowed_subnets: networks }), 201)
    t.deepEqual((made.json as { allowed_subnets: unknown }).allowed_subnets, networks)
  }
})

test('the limit of 256 networks is checked before each network', async (t) => {
  const networks = Array.from({ length: 256 }, (_, i) => `10.0.${i}.0/24`)
  succeeded(await api.post('/auth/tokens/', { allowed_subnets: networks }), 201)
  const { status, json } = await api.post('/auth/tokens/', { allowed_subnets: ['x', ...networks] })
  t.deepEqual([status, json], [400, { allowed_subnets: ['Ensure this field has no more than 256 elements.'] }])
})

const INVALID = 'Invalid CIDR address.'
const HOST = 'Must be a network address.'

for (const [item, problem] of [
  ['', INVALID],
  ['x', INVALID],
  ['1', INVALID],
  ['1.2.3', INVALID],
  ['1.2.3.4.5', INVALID],
  ['1.2.3.256', INVALID],
  ['010.0.0.1', INVALID],
  ['1.2.3.4/33', INVALID],
  ['1.2.3.0/024', INVALID],
  ['1.2.3.4/', INVALID],
  ['1.2.3.4/-1', INVALID],
  ['1.2.3.4/32/32', INVALID],
  ['1.2.3.0/255.0.255.0', INVALID],
  ['::/129', INVALID],
  ['::/255.255.0.0', INVALID],
  [':::', INVALID],
  ['fe80::1%eth0', INVALID],
  [7, INVALID],
  [true, INVALID],
  [[], INVALID],
  [{}, INVALID],
  ['1.2.3.4/24', HOST],
  ['0.0.0.1/0', HOST],
  ['2001:db8::1/64', HOST],
  ['1.2.3.4/255.255.255.0', HOST],
  [null, 'This field may not be null.'],
] as const) {
  test(`the network ${JSON.stringify(item)} is refused`, async (t) => {
    const { status, json } = await api.post('/auth/tokens/', { allowed_subnets: ['::/0', item] })
    t.deepEqual([status, json], [400, { allowed_subnets: [`Item 1: ${problem}`] }])
  })
}

for (const [given, type] of [
  ['0.0.0.0/0', 'str'],
  [{}, 'dict'],
  [1, 'int'],
  [true, 'bool'],
] as const) {
  test(`allowed_subnets cannot be ${JSON.stringify(given)}`, async (t) => {
    const { status, json } = await api.post('/auth/tokens/', { allowed_subnets: given })
    t.deepEqual([status, json], [400, { allowed_subnets: [`Expected a list of items but got type "${type}".`] }])
  })
}
