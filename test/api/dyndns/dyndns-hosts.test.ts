import test from 'ava'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { addresses, basic, told, update } from '../../support/clients/dyndns.ts'
import { useService } from '../../support/harness.ts'

// Contract §10.3: which names an update changes.

const service = useService({ THROTTLE: 'off' })

/** Owns one.test, sub.one.test, and two.test. */
let account: Account

test.before('domains', async () => {
  account = await service().account()
  for (const name of ['one.test', 'sub.one.test', 'two.test']) await newDomain(account.api, name)
  await newDomain((await service().account()).api, 'foreign.test')
})

const DOMAINS = ['one.test', 'sub.one.test', 'two.test']

let octet = 0

/** Those of the expected names that have the address. */
async function namesWith(address: string, expected: string[]): Promise<string[]> {
  const found: string[] = []
  for (const name of expected) {
    const domain = DOMAINS.filter((each) => name === each || name.endsWith(`.${each}`)).sort(
      (a, b) => b.length - a.length,
    )[0]!
    const shown = await addresses(account.api, domain, name.slice(0, -domain.length - 1))
    if (shown === `${address} `) found.push(name)
  }
  return found
}

const NOHOST = [404, 'nohost']
const MANY = [400, 'Cannot update subdomains from more than one domain.']

/**
 * Parameters, and the names that get the address, or the error: examples, as
 * test/http/requests/dyndns-properties.test.ts compares random names with a model.
 */
for (const [parameters, outcome] of [
  [{ hostname: 'www.one.test' }, ['www.one.test']],
  [{ hostname: 'x.sub.one.test' }, ['x.sub.one.test']],
  [{ hostname: 'xsub.one.test' }, ['xsub.one.test']],
  [{ hostname: '*.a.one.test' }, ['*.a.one.test']],
  // Names that are absent, foreign or invalid.
  [{ hostname: 'www.foreign.test' }, NOHOST],
  [{ hostname: 'xone.test' }, NOHOST],
  [{ hostname: `${'a'.repeat(64)}.one.test` }, NOHOST],
  [{ hostname: 'www.one.test,www.two.test,nothing' }, NOHOST],
  // Names in more than one domain.
  [{ hostname: 'www.one.test,www.two.test' }, MANY],
  [{ hostname: 'www.one.test,www.sub.one.test' }, MANY],
  [{ hostname: 'www.one.test', 'myipv4:www.two.test': '192.0.2.1' }, MANY],
  // No names.
  [{}, [400, 'Request does not properly specify domain for update.']],
  [{ 'myipv4:www.one.test': '192.0.2.1' }, [400, 'Request does not properly specify domain for update.']],
  // Names that are too long for a subname.
  [
    { hostname: `${'a.'.repeat(90)}one.test` },
    [400, 'Ensure this field has no more than 178 characters.\nEnsure this field has no more than 178 characters.'],
  ],
] as [Record<string, string>, string[] | [number, string]][]) {
  test.serial(`names: ${JSON.stringify(parameters).slice(0, 90)}`, async (t) => {
    const address = `198.51.100.${++octet}`
    const answer = await update(account.api, { myip: address, ...parameters })
    if (typeof outcome[0] === 'number') {
      t.deepEqual(told(answer), outcome as [number, string])
      t.is(answer.headers['content-type'], 'text/plain')
    } else {
      t.deepEqual(told(answer), [200, outcome.map(() => 'good').join('\n')])
      t.deepEqual(await namesWith(address, outcome as string[]), outcome as string[])
    }
  })
}

test.serial('without names in the parameters, the user name of Basic authentication counts', async (t) => {
  const send = (user: string, parameters: Record<string, string>) =>
    update(service().anonymous, { myip: '203.0.113.1', ...parameters }, basic(user, account.secret))
  t.deepEqual(told(await send('B1.one.test', {})), [200, 'good'])
  t.deepEqual(told(await send('b6.one.test', { username: 'two.test' })), [200, 'good'])
  t.deepEqual(told(await send('', { username: 'b7.one.test' })), [200, 'good'])
  t.deepEqual(told(await send('', {})), [400, 'Request does not properly specify domain for update.'])
  const names = ['b1', 'b6', 'b7'].map((name) => `${name}.one.test`)
  t.deepEqual(await namesWith('203.0.113.1', names), names)
  t.is(await addresses(account.api, 'two.test', ''), ' ')
})

test.serial("without names, the account's only domain is updated", async (t) => {
  const single = await service().account()
  const send = () => update(single.api, { myip: '192.0.2.1' })
  t.deepEqual(told(await send()), [404, 'nohost'])
  await newDomain(single.api, 'single.test')
  t.deepEqual(told(await send()), [200, 'good'])
  t.is(await addresses(single.api, 'single.test', ''), '192.0.2.1 ')
  const own = { 'myipv4:www.single.test': '192.0.2.2' }
  t.deepEqual(told(await update(single.api, { myip: '192.0.2.3', ...own })), [200, 'good\ngood'])
  t.is(await addresses(single.api, 'single.test', 'www'), '192.0.2.2 ')
  t.is(await addresses(single.api, 'single.test', ''), '192.0.2.3 ')
})
