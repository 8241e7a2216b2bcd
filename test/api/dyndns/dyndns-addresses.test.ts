import test from 'ava'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, succeeded } from '../../support/clients/api.ts'
import { addresses, served, told, update } from '../../support/clients/dyndns.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService } from '../../support/harness.ts'
import { startService } from '../../support/servers/service.ts'

// Contract §10.4: which addresses an update sets. The caller's address is 127.0.0.1 unless a test sets another.

const service = useService({ THROTTLE: 'off', TRUSTED_PROXIES: '127.0.0.1' })

let account: Account

test.before('a domain', async () => {
  account = await service().account()
  await newDomain(account.api, 'one.test')
})

let names = 0

const BOTH = '192.0.2.200,192.0.2.201 2001:db8::200,2001:db8::201'

/** A new name with the addresses `BOTH`. */
async function newName(): Promise<string> {
  const subname = `n${++names}`
  const [myip = '', myipv6 = ''] = BOTH.split(' ')
  succeeded(await update(account.api, { hostname: `${subname}.one.test`, myip, myipv6 }), 200)
  return subname
}

/**
 * Query, the caller's address, and the name's addresses afterwards: examples, as
 * test/http/requests/dyndns-properties.test.ts compares random queries with a model.
 */
for (const [query, address, outcome] of [
  ['', '192.0.2.1', '192.0.2.1 '],
  ['', '::ffff:c000:201', '192.0.2.1 '],
  ['myip=', '192.0.2.1', ' '],
  ['myip=10.0.0.0/8,fd00::/64', '192.0.2.1', '10.0.2.200,10.0.2.201 fd00::200,fd00::201'],
] as const) {
  test.serial(`from ${address}: ${query}`, async (t) => {
    const subname = await newName()
    const headers = { 'x-forwarded-for': address }
    const answer = await update(account.api, `hostname=${subname}.one.test&${query}`, headers)
    t.deepEqual(told(answer), [200, 'good'])
    t.is(await addresses(account.api, 'one.test', subname), sorted(outcome))
  })
}

/** The addresses of each family, sorted as texts. */
function sorted(shown: string): string {
  return shown
    .split(' ')
    .map((list) => list.split(',').sort().join())
    .join(' ')
}

test.serial('addresses that a network makes equal become one', async (t) => {
  const hostname = 'equal.one.test'
  await update(account.api, { hostname, myip: '192.0.2.7,198.51.100.7', myipv6: '2001:db8:1::7,2001:db8:2::7' })
  t.deepEqual(told(await update(account.api, { hostname, myip: '10.0.0.0/24,fd00::/64' })), [200, 'good'])
  t.is(await addresses(account.api, 'one.test', 'equal'), '10.0.0.7 fd00::7')
})

const MIXED = 'cannot have addresses and "preserve" or an empty value at the same time.'
const A = 'Record content for type A malformed: Text input is malformed.'
const AAAA = 'Record content for type AAAA malformed: Text input is malformed.'

/** Refused queries and their error texts. */
for (const [query, text] of [
  ['myipv6=::2,preserve', `IP parameter "myipv6" ${MIXED}`],
  ['myip=10.2.3.4asdf', A],
  ['myip=1.2.3.4%0A', undefined],
  ['myip=1.2.3.4%005', 'Record content for type A malformed: Null characters are not allowed.'],
  ['myip=x.y,x:y', `${A}\n${AAAA}`],
  ['myipv6=::2,::0:2', 'Duplicate: records must be semantically unique'],
  ['myip=%C3%BC.', A],
] as const) {
  test.serial(`refused: ${query}`, async (t) => {
    const subname = await newName()
    const answer = await update(account.api, `hostname=${subname}.one.test&${query}`)
    t.deepEqual(told(answer), text === undefined ? [200, 'good'] : [400, text])
    t.is(answer.headers['content-type'], 'text/plain')
    if (text !== undefined) t.is(await addresses(account.api, 'one.test', subname), sorted(BOTH))
  })
}

test.serial('the addresses of callers over IPv6, and over IPv4 on an IPv6 socket, are read correctly', async (t) => {
  const { url, stop } = await startService(service().backends, { HOST: '::', THROTTLE: 'off' })
  for (const [host, caller, outcome] of [
    ['::1', '::1', ' ::1'],
    ['127.0.0.1', '127.0.0.1', '127.0.0.1 '],
  ] as const) {
    const subname = await newName()
    const send = async (target: string) => {
      const { status, body } = await exchange(
        url,
        plainRequest(`GET ${target}`, [`Authorization: Token ${account.secret}`]),
        { host },
      )
      return [status, body]
    }
    t.deepEqual(await send('/nic/checkip.html'), [200, caller])
    t.deepEqual(await send(`/update?hostname=${subname}.one.test`), [200, 'good'])
    t.is(await addresses(account.api, 'one.test', subname), outcome)
    t.is(await served(service(), `${subname}.one.test`), outcome)
    const networks = 'myipv4=10.0.0.0/8&myipv6=fd00:1:2:3::/64'
    t.deepEqual(await send(`/update?hostname=${subname}.one.test&${networks}`), [200, 'good'])
    t.is(await served(service(), `${subname}.one.test`), host === '::1' ? ' fd00:1:2:3::1' : '10.0.0.1 ')
  }
  await stop()
})
