import test from 'ava'
import type { Account } from '../../support/accounts.ts'
import { domainOf, newDomain } from '../../support/api.ts'
import { addresses, told, update } from '../../support/dyndns.ts'
import { useService } from '../../support/harness.ts'
import { addToken } from '../../support/tokens.ts'

// Contract §14 for updates: how many of a domain are taken, and what the others are told. The clock stands still but
// where a test moves it.

const service = useService({
  THROTTLE: 'on',
  THROTTLE_RATES: 'dyndns=3/2min; user=2000/d; dns_api_expensive=1000/h',
  TRUSTED_PROXIES: '127.0.0.1',
})

let clock = Date.parse('2026-03-01T12:00:00Z')
let account: Account

test.before('a clock and an account', async () => {
  service().system.now = () => new Date(clock).toISOString().replace('Z', '000Z')
  account = await service().account()
})

const THROTTLED = [429, 'Request was throttled. Expected available in 120 seconds.'] as const

test.serial('more than the rate allows are refused in words, counted for nobody, and have no effect', async (t) => {
  const domain = await newDomain(account.api)
  const send = (octet: number) => update(account.api, { hostname: domain, myip: `192.0.2.${octet}` })
  for (let i = 1; i <= 3; i++) {
    const answer = await send(i)
    t.deepEqual(told(answer), [200, 'good'])
    t.is(answer.headers['ratelimit-policy'], '"dyndns";q=3;w=120')
    t.is(answer.headers['ratelimit'], `"dyndns";r=${3 - i};t=120`)
    t.is(answer.headers['retry-after'], undefined)
  }
  const before = await domainOf(account.api, domain)
  const refused = await send(4)
  t.deepEqual(told(refused), THROTTLED)
  t.is(refused.headers['retry-after'], '120')
  t.is(refused.headers['content-type'], 'text/plain')
  t.is(refused.headers['ratelimit'], '"dyndns";r=0;t=120')
  t.deepEqual(await domainOf(account.api, domain), before)
  t.is(await addresses(account.api, domain, ''), '192.0.2.3 ')
  clock += 119_001
  t.deepEqual(told(await send(4)), [429, 'Request was throttled. Expected available in 1 second.'])
  clock += 999
  t.deepEqual(told(await send(4)), [200, 'good'])
})

test.serial('each domain has a count of its own, whichever names, tokens and addresses ask', async (t) => {
  const [one, other] = [await newDomain(account.api), await newDomain(account.api)]
  const token = await addToken(service(), account.id)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  t.deepEqual(told(await update(account.api, { hostname: `a.${one}` }, from('192.0.2.1'))), [200, 'good'])
  t.deepEqual(told(await update(token.api, { hostname: `b.${one}` }, from('2001:db8::1'))), [200, 'good'])
  t.deepEqual(told(await update(token.api, { hostname: `c.${one},d.${one}` }, from('::1'))), [200, 'good\ngood'])
  for (const address of ['192.0.2.1', '192.0.2.9', '2001:db8:9::1', '::ffff:192.0.2.8']) {
    t.deepEqual(told(await update(account.api, { hostname: `e.${one}` }, from(address))), THROTTLED)
  }
  t.deepEqual(told(await update(account.api, { hostname: `a.${other}` })), [200, 'good'])
})

test.serial('updates and writes over REST are counted apart', async (t) => {
  const domain = await newDomain(account.api)
  for (let i = 1; i <= 3; i++) t.is((await update(account.api, { hostname: domain })).status, 200)
  t.is((await update(account.api, { hostname: domain })).status, 429)
  t.is((await account.api.delete(`/domains/${domain}/rrsets/absent/A/`)).status, 204)
})

test.serial('what fails before is not counted, what fails after is', async (t) => {
  const domain = await newDomain(account.api)
  for (let i = 0; i < 5; i++) {
    t.is((await update(service().anonymous, { hostname: domain })).status, 401)
    t.is((await update(account.api, { hostname: `${domain},nothing` })).status, 404)
    t.is((await update(account.api, {})).status, 400)
  }
  for (let i = 0; i < 3; i++) t.is((await update(account.api, { hostname: domain, myip: '1.' })).status, 400)
  t.deepEqual(told(await update(account.api, { hostname: domain, myip: '1.' })), THROTTLED)
  const wrongMethod = await account.api.post(`//root/update?hostname=${domain}`)
  t.deepEqual(told(wrongMethod), THROTTLED)
})

test.serial('nobody is refused his address', async (t) => {
  for (let i = 0; i < 10; i++) {
    const answer = await service().anonymous.get('//root/nic/checkip.html', {
      headers: { 'x-forwarded-for': '2001:db8::1' },
    })
    t.deepEqual(told(answer), [200, '2001:db8::1'])
    t.is(answer.headers['ratelimit'], undefined)
  }
})
