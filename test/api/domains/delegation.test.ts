import { createSystem } from '../../../src/process/create-system.ts'
import { checkNamed } from '../../../src/service/delegation/checking.ts'
import { mayAsk } from '../../../src/service/domains/transfers.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { domainOf, newDomain, succeeded } from '../../support/clients/api.ts'
import { startWorld, type World } from '../../support/dns/world.ts'
import { type TestService, useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §15.9: a domain is checked at the real nameservers of its parent zone.

const service = useService({ PRIVATE_TRANSFERS: 'on' })
let account: Account
let world: World

test.before('a world above', async () => {
  account = await service().account({ limitDomains: null })
  world = await startWorld(service().powerDns)
  Object.assign(service().system, { parents: world.parents() } satisfies Partial<TestService['system']>)
})

test.after.always(async () => {
  await (world as World | undefined)?.close()
})

interface Shown {
  state: string
  checked: string | null
  parent: string | null
  ds_ttl: number | null
  nameservers: { name: string; address: string; ns: string[]; ds: string[]; problem: string | null }[]
  problems: string[]
}

const OURS = ['ns1.zoneplane.test', 'ns2.zoneplane.test']

async function check(domain: string): Promise<Shown> {
  return succeeded(await account.api.post(`/domains/${domain}/delegation/`), 200).json as Shown
}

async function last(domain: string): Promise<Shown> {
  return succeeded(await account.api.get(`/domains/${domain}/delegation/`), 200).json as Shown
}

/** The lines of the parent zone that delegate a domain. */
function lines(domain: string, ns: string[], ds: string[] = []): string[] {
  return [...ns.map((host) => `${domain}. NS ${host}.`), ...ds.map((content) => `${domain}. 7200 DS ${content}`)]
}

const OTHER_DS = `4711 13 2 ${'ab'.repeat(32)}`

test('a domain that was never checked is unknown', async (t) => {
  const domain = await newDomain(account.api, 'new.example')
  t.deepEqual(await last(domain), {
    ...{ state: 'unknown', checked: null, parent: null, ds_ttl: null, nameservers: [], problems: [] },
  })
})

test('every state is found at real nameservers, and told with what to do', async (t) => {
  const dsOf = async (name: string) => {
    const { keys } = await domainOf(account.api, await newDomain(account.api, `${name}.example`))
    return keys[0]!.ds.find((content) => content.split(' ')[2] === '2')!
  }
  const ds: Record<string, string> = {}
  const names = ['none', 'elsewhere', 'partial', 'insecure', 'secure', 'stale', 'mismatch', 'moving', 'lame']
  for (const name of names) ds[name] = await dsOf(name)
  const all = [
    ...lines('elsewhere.example', ['silent.zoneplane.test']),
    ...lines('partial.example', [...OURS, 'silent.zoneplane.test'], [ds['partial']!]),
    ...lines('insecure.example', OURS),
    ...lines('secure.example', OURS, [ds['secure']!]),
    ...lines('stale.example', OURS, [ds['stale']!, OTHER_DS]),
    ...lines('mismatch.example', OURS, [OTHER_DS]),
    ...lines('lame.example', [OURS[0]!, 'silent.zoneplane.test']),
  ]
  await world.delegate(
    [...all, ...lines('moving.example', OURS, [ds['moving']!])],
    [...all, ...lines('moving.example', OURS)],
  )
  const add = (name: string, until: string) =>
    `Add the DS record "${ds[name]}" at your registrar: until then, ${until}.`
  const remove = `Remove the DS record "${OTHER_DS}" at your registrar: the domain has no such key.`
  const rejected = 'validating resolvers reject the domain'
  const unprotected = 'the domain is not protected by DNSSEC'
  const silent = /^The nameserver silent\.zoneplane\.test does not serve the domain: 127\.[\d.]+ does not answer\.$/
  const expected: [string, string, (string | RegExp)[]][] = [
    [
      'none',
      'not-delegated',
      [
        `The parent zone example does not delegate the domain: enter these nameservers at your registrar: ${OURS.join(', ')}.`,
      ],
    ],
    [
      'elsewhere',
      'elsewhere',
      [`Replace the nameservers silent.zoneplane.test at your registrar by ${OURS.join(', ')}.`, silent],
    ],
    [
      'partial',
      'partial',
      [
        'The nameservers silent.zoneplane.test are not ours: remove them at your registrar, unless they serve the same zone.',
        silent,
      ],
    ],
    ['insecure', 'insecure', [add('insecure', unprotected)]],
    ['secure', 'secure', []],
    ['stale', 'stale', [remove]],
    ['mismatch', 'mismatch', [add('mismatch', rejected), remove]],
    [
      'moving',
      'propagating',
      ['The servers of the parent zone example disagree. After a change this ends by itself, so check again later.'],
    ],
  ]
  for (const [name, state, problems] of expected) {
    const shown = await check(`${name}.example`)
    t.is(shown.state, state, name)
    t.is(shown.parent, 'example')
    t.is(shown.problems.length, problems.length, name)
    for (const [i, problem] of problems.entries()) {
      if (typeof problem === 'string') t.is(shown.problems[i], problem)
      else t.regex(shown.problems[i]!, problem)
    }
    t.deepEqual(await last(`${name}.example`), shown)
  }
  const [a, b] = world.addresses
  t.like(await last('secure.example'), {
    ds_ttl: 7200,
    nameservers: [
      { name: 'a.nic.example', address: a, ns: OURS, ds: [ds['secure']!], problem: null },
      { name: 'b.nic.example', address: b, ns: OURS, ds: [ds['secure']!], problem: null },
    ],
  })
  t.is((await last('insecure.example')).ds_ttl, null)
})

test('a check of a moment ago is the answer to the next request', async (t) => {
  const domain = await newDomain(account.api)
  const first = await check(domain)
  t.deepEqual(await check(domain), first)
  const { now } = service().system
  service().system.now = () => new Date(Date.now() + 11_000).toISOString().replace('Z', '000Z')
  try {
    t.not((await check(domain)).checked, first.checked)
  } finally {
    service().system.now = now
  }
})

test('only who sees the domain sees its delegation', async (t) => {
  const domain = await newDomain(account.api)
  const other = await service().account()
  t.is((await other.api.get(`/domains/${domain}/delegation/`)).status, 404)
  t.is((await other.api.post(`/domains/${domain}/delegation/`)).status, 404)
  t.is((await account.api.get('/domains/absent.test/delegation/')).status, 404)
  t.is((await account.api.put(`/domains/${domain}/delegation/`)).status, 405)
})

test('parents at addresses that are not public are asked only if the operator allows it', async (t) => {
  const { system, backends } = service()
  const [address, port] = world.resolvers.split(':')
  const config = { ...system.config, privateTransfers: false, resolvers: [{ address: address!, port: Number(port) }] }
  await using closed = createSystem(config, backends, system.log)
  for (const [each, isAllowed] of [
    ['8.8.8.8', true],
    ['10.0.0.1', false],
    ['192.0.2.1', false],
    ['2001:db8::1', false],
  ] as const) {
    t.is(mayAsk(config, each), isAllowed, each)
    t.true(mayAsk(system.config, each))
  }
  const servers = ['a', 'b'].map((letter) => ({ name: `${letter}.nic.example`, address: '' }))
  t.deepEqual(await closed.parents.find('secure.example'), { name: 'example', servers })
  const { state, problems } = await checkNamed(closed, ['secure.example']).then(([report]) => report!)
  t.is(state, 'unknown')
  t.is(problems.length, 2)
  for (const problem of problems)
    t.regex(problem, /^The server [ab]\.nic\.example .* has no address that this service may ask\.$/)
})
