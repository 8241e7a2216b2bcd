import test from 'ava'
import { Throttled } from '../../../src/errors.ts'
import { domainOf, newDomain } from '../../support/clients/api.ts'
import type { Answer } from '../../support/clients/client.ts'
import { addresses, told, update } from '../../support/clients/dyndns.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useAccount, useService } from '../../support/harness.ts'

// Contract §14 for updates: how many are accepted for a domain, and the answer to the others.

const service = useService({
  THROTTLE: 'on',
  THROTTLE_RATES: 'dyndns=3/2h; user=2000/d; dns_api_expensive=1000/h',
  TRUSTED_PROXIES: '127.0.0.1',
})
const account = useAccount(service)

/** Whether an update was throttled for at most two hours, with a plain text. */
function isThrottled({ status, text, headers }: Answer): boolean {
  const seconds = Number(headers['retry-after'])
  return status === 429 && text === new Throttled(seconds).message && seconds > 3600 && seconds <= 7200
}

test.serial('updates above the rate are refused in plain text and have no effect', async (t) => {
  const domain = await newDomain(account().api)
  const send = (octet: number) => update(account().api, { hostname: domain, myip: `192.0.2.${octet}` })
  for (let i = 1; i <= 3; i++) {
    const answer = await send(i)
    t.deepEqual(told(answer), [200, 'good'])
    t.is(answer.headers['ratelimit-policy'], '"dyndns";q=3;w=7200')
    t.regex(String(answer.headers['ratelimit']), new RegExp(`^"dyndns";r=${3 - i};t=[67]\\d{3}$`))
    t.is(answer.headers['retry-after'], undefined)
  }
  const before = await domainOf(account().api, domain)
  const refused = await send(4)
  t.true(isThrottled(refused))
  t.is(refused.headers['content-type'], 'text/plain')
  t.is(refused.headers['ratelimit'], `"dyndns";r=0;t=${String(refused.headers['retry-after'])}`)
  t.deepEqual(await domainOf(account().api, domain), before)
  t.is(await addresses(account().api, domain, ''), '192.0.2.3 ')
})

test.serial('each domain is counted separately, across names and client addresses, for each token', async (t) => {
  const [one, other] = [await newDomain(account().api), await newDomain(account().api)]
  const token = await addToken(service(), account().id)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  t.deepEqual(told(await update(account().api, { hostname: `a.${one}` }, from('192.0.2.1'))), [200, 'good'])
  t.deepEqual(told(await update(account().api, { hostname: `b.${one}` }, from('2001:db8::1'))), [200, 'good'])
  t.deepEqual(told(await update(account().api, { hostname: `c.${one},d.${one}` }, from('::1'))), [200, 'good\ngood'])
  for (const address of ['192.0.2.1', '192.0.2.9', '2001:db8:9::1', '::ffff:192.0.2.8']) {
    t.true(isThrottled(await update(account().api, { hostname: `e.${one}` }, from(address))))
  }
  t.deepEqual(told(await update(account().api, { hostname: `a.${other}` })), [200, 'good'])
  t.deepEqual(told(await update(token.api, { hostname: `e.${one}` })), [200, 'good'])
})

test.serial('an update that fails before throttling is not counted; one that fails after it is', async (t) => {
  const domain = await newDomain(account().api)
  for (let i = 0; i < 5; i++) {
    t.is((await update(service().anonymous, { hostname: domain })).status, 401)
    t.is((await update(account().api, { hostname: `${domain},nothing` })).status, 404)
    t.is((await update(account().api, {})).status, 400)
  }
  for (let i = 0; i < 3; i++) t.is((await update(account().api, { hostname: domain, myip: '1.' })).status, 400)
  t.true(isThrottled(await update(account().api, { hostname: domain, myip: '1.' })))
  const wrongMethod = await account().api.post(`//root/update?hostname=${domain}`)
  t.is(wrongMethod.status, 405)
})
