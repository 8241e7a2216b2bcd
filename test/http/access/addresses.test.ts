import test from 'ava'
import { readConfig } from '../../../src/settings/config.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { startService } from '../../support/servers/service.ts'

// Contract §3.1: the client's address, and which addresses a token may be used from.

const service = useService()

let account: Account
/** URLs of services on the same servers, by their listening addresses and trusted proxies. */
const urls = new Map<string, string>()
const closing: (() => Promise<void>)[] = []

const SETTINGS = {
  plain: { HOST: '127.0.0.1' },
  both: { HOST: '::' },
  ipv6: { HOST: '::1' },
  each: { HOST: '127.0.0.1, ::1' },
  proxied: { TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8, 2001:db8:5::/48' },
  proxiedBoth: { HOST: '::', TRUSTED_PROXIES: '127.0.0.1' },
  proxiedElsewhere: { TRUSTED_PROXIES: '192.0.2.1' },
} as const

test.before('an account, and services', async () => {
  account = await service().account()
  for (const [name, environment] of Object.entries(SETTINGS)) {
    const { url, stop } = await startService(service().backends, environment)
    urls.set(name, name === 'ipv6' ? url.replace('127.0.0.1', '[::1]') : url)
    closing.push(stop)
  }
})

test.after.always('the services stop', async () => {
  await Promise.all(closing.map((close) => close()))
})

type Setting = keyof typeof SETTINGS

async function status(setting: Setting, allowedSubnets: string[], forwarded: string[] = [], host?: string) {
  const { secret } = await addToken(service(), account.id, { allowedSubnets })
  const headers = [`Authorization: Token ${secret}`, ...forwarded.map((value) => `X-Forwarded-For: ${value}`)]
  const url = urls.get(setting)!
  const answer = await exchange(url, plainRequest('GET /api/v1/domains/', headers), {
    host: host ?? new URL(url).hostname.replace(/[[\]]/g, ''),
  })
  if (answer.status !== 200 && answer.body !== '{"detail":"Invalid token."}') throw new Error(answer.body)
  return answer.status
}

for (const [setting, allowed, expected] of [
  ['plain', ['127.0.0.1/32'], 200],
  ['plain', ['127.0.0.0/8'], 200],
  ['plain', ['0.0.0.0/0'], 200],
  ['plain', ['192.0.2.0/24', '127.0.0.1/32', '::/0'], 200],
  ['plain', ['127.0.0.2/32'], 401],
  ['plain', ['10.0.0.0/8', '192.0.2.0/24'], 401],
  ['plain', ['::/0'], 401],
  ['plain', ['::ffff:127.0.0.1/128'], 401],
  ['plain', [], 401],
  ['ipv6', ['::1/128'], 200],
  ['ipv6', ['::/0'], 200],
  ['ipv6', ['::2/128'], 401],
  ['ipv6', ['0.0.0.0/0'], 401],
  ['ipv6', [], 401],
  ['each', ['127.0.0.1/32'], 200],
  ['each', ['::/0'], 401],
  ['both', ['127.0.0.1/32'], 200],
  ['both', ['::ffff:0:0/96'], 401],
  ['both', ['::/0'], 401],
] as const) {
  test.serial(`at ${setting}, a token for ${allowed.join(', ') || 'no network'} is ${expected}`, async (t) => {
    t.is(await status(setting, [...allowed]), expected)
  })
}

for (const setting of ['both', 'each'] as const) {
  test.serial(`a client over IPv6 reaches ${setting} with its own address`, async (t) => {
    t.is(await status(setting, ['::1/128'], [], '::1'), 200)
    t.is(await status(setting, ['::/0'], [], '::1'), 200)
    t.is(await status(setting, ['::2/128', '0.0.0.0/0', '::ffff:0:0/96'], [], '::1'), 401)
  })
}

test('by default, the service listens on the loopback addresses of both families', async (t) => {
  const { hosts } = readConfig({})
  const { url, stop } = await startService(service().backends, { HOST: hosts.join() })
  for (const host of ['127.0.0.1', '::1']) {
    t.is((await exchange(url, plainRequest('GET /healthz'), { host })).status, 200, host)
  }
  await stop()
})

/** X-Forwarded-For headers, and the client's address. */
for (const [setting, forwarded, address] of [
  // No proxy is trusted, or another one.
  ['plain', ['192.0.2.7'], '127.0.0.1'],
  ['plain', ['127.0.0.1', '192.0.2.7'], '127.0.0.1'],
  ['proxiedElsewhere', ['192.0.2.7'], '127.0.0.1'],
  ['proxiedElsewhere', ['192.0.2.1'], '127.0.0.1'],
  // The peer is trusted.
  ['proxied', [], '127.0.0.1'],
  ['proxied', ['192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9,192.0.2.7'], '192.0.2.7'],
  ['proxied', ['203.0.113.9 , \t192.0.2.7 '], '192.0.2.7'],
  ['proxied', ['203.0.113.9', '192.0.2.7'], '192.0.2.7'],
  ['proxied', ['192.0.2.7, 10.1.2.3'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 192.0.2.7, 10.1.2.3, 127.0.0.5'], '192.0.2.7'],
  ['proxied', ['203.0.113.9, 10.1.2.3, 192.0.2.7, 10.4.5.6'], '192.0.2.7'],
  ['proxied', ['192.0.2.7', '10.1.2.3', '2001:db8:5::9'], '192.0.2.7'],
  ['proxied', ['2001:db8::7'], '2001:db8::7'],
  ['proxied', ['2001:DB8:0:0::7'], '2001:db8::7'],
  ['proxied', ['2001:db8::7, 2001:db8:5::1'], '2001:db8::7'],
  ['proxied', ['::ffff:192.0.2.7'], '192.0.2.7'],
  ['proxied', ['::ffff:c000:207'], '192.0.2.7'],
  ['proxied', ['192.0.2.7, ::ffff:10.1.2.3'], '192.0.2.7'],
  ['proxied', ['fe80::1%eth0'], 'fe80::1'],
  // Only proxies: the furthest one counts.
  ['proxied', ['10.1.2.3'], '10.1.2.3'],
  ['proxied', ['10.1.2.3, 10.4.5.6'], '10.1.2.3'],
  // An invalid address ends the search, because nothing to its left can be trusted.
  ['proxied', ['192.0.2.7, unknown'], '127.0.0.1'],
  ['proxied', ['192.0.2.7, '], '127.0.0.1'],
  ['proxied', ['192.0.2.7, _hidden, 10.1.2.3'], '10.1.2.3'],
  ['proxied', ['unknown'], '127.0.0.1'],
  ['proxied', [''], '127.0.0.1'],
  ['proxied', [','], '127.0.0.1'],
  ['proxied', ['1'], '127.0.0.1'],
  ['proxied', ['010.0.0.1'], '127.0.0.1'],
  ['proxied', ['192.0.2.7/24'], '127.0.0.1'],
  ['proxied', ['192.0.2.256'], '127.0.0.1'],
  ['proxied', ['192.0.2.7, 192.0.2.8, unknown'], '127.0.0.1'],
  ['proxied', ['unknown, 192.0.2.7'], '192.0.2.7'],
  // The peer is trusted, and has an IPv4-mapped address.
  ['proxiedBoth', ['192.0.2.7'], '192.0.2.7'],
  ['proxiedBoth', ['192.0.2.7, 127.0.0.1'], '192.0.2.7'],
] as const) {
  test.serial(`the client's address at ${setting} with ${JSON.stringify(forwarded)} is ${address}`, async (t) => {
    const bits = address.includes(':') ? 128 : 32
    t.is(await status(setting, [`${address}/${bits}`], [...forwarded]), 200)
    const every = ['0.0.0.0/0', '::/0']
    t.is(await status(setting, every, [...forwarded]), 200)
  })
}

test.serial('a trusted proxy does not circumvent the allowed networks of a token', async (t) => {
  t.is(await status('proxied', ['192.0.2.7/32'], []), 401)
  t.is(await status('proxied', ['192.0.2.7/32'], ['192.0.2.7, 203.0.113.9']), 401)
  t.is(await status('plain', ['192.0.2.7/32'], ['192.0.2.7']), 401)
})
