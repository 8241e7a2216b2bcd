import test from 'ava'
import { list } from '../../src/service/domains/domains.ts'
import { authenticate } from '../../src/service/tokens/authentication.ts'
import { createAccount, emailOf } from '../support/clients/accounts.ts'
import { addMember } from '../support/clients/members.ts'
import { commandsOn } from '../support/command-line.ts'
import { useServers } from '../support/harness.ts'

// The plan of an adoption as docs/operators/adopt.md shows it.

const servers = useServers()

const zoneplane = commandsOn(() => servers().system)

/** The e-mail address of the account that gets the zones. */
const owner = () => emailOf(servers().system, servers().owner.id)

const rrset = (name: string, type: string, content: string, ttl = 3600) => ({
  ...{ name, type, ttl, comments: [] as object[] },
  records: [{ content, disabled: false }],
})

async function make(name: string, settings: object, ...more: object[]): Promise<void> {
  const soa = `ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900`
  const rrsets = [rrset(`${name}.`, 'SOA', soa), rrset(`${name}.`, 'NS', 'ns1.old.example.'), ...more]
  const zone = { name: `${name}.`, kind: 'Native', nameservers: [], soa_edit_api: '', rrsets, ...settings }
  const { status, json } = await servers().pdns('POST', '/zones', zone)
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`)
}

/** What ends the plan of the first test, as the document shows it. */
const SUMMARY = `zones:                 3
can be adopted:        1
  something normalised: 1
  something given up:   1
  NS of other servers:  1, which stay: ns1.old.example. (1)
cannot be adopted:     2
`

test.serial(
  'the plan has totals, and says why zones cannot be adopted; with --verbose, it has each zone',
  async (t) => {
    const email = await owner()
    const mail = rrset('example.net.', 'MX', '10 mail.example.net.', 30)
    await make('example.net', { dnssec: true, account: email }, mail, rrset('www.example.net.', 'A', '192.0.2.1'))
    await make('example.org', { account: 'jane' }, rrset('www.example.org.', 'ALIAS', 'shop.example.com.'))
    await make('example.com', {}, rrset('www.example.com.', 'A', '192.0.2.1'))

    const plan = async (...options: string[]) => {
      const [succeeded, printed] = await zoneplane('adopt', '--all', '--account', email, ...options)
      t.false(succeeded)
      return printed.replaceAll(email, 'ops@example.net')
    }
    t.is(
      await plan(),
      `example.net: cannot be adopted for ops@example.net
  because:    example.net. MX: the TTL 30 is not between 60 and 86400 (--clamp-ttl changes it)
example.org: cannot be adopted for ops@example.net
  because:    www.example.org. ALIAS: The ALIAS RR set type is currently unsupported.
${SUMMARY}`,
    )
    t.is(
      await plan('--verbose'),
      `example.com: can be adopted for ops@example.net
  kept:       2 RRsets
  kept:       serial 2026010203, which goes on
  kept:       NS of other servers: ns1.old.example.
  normalised: it is signed, with NSEC3 1 0 0 -
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
example.net: cannot be adopted for ops@example.net
  because:    example.net. MX: the TTL 30 is not between 60 and 86400 (--clamp-ttl changes it)
  kept:       3 RRsets
  kept:       serial 2026010203, which goes on
  kept:       key with flags 257 and algorithm 13 (active)
  kept:       NSEC
  kept:       NS of other servers: ns1.old.example.
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
example.org: cannot be adopted for ops@example.net
  because:    www.example.org. ALIAS: The ALIAS RR set type is currently unsupported.
  kept:       1 RRset
  kept:       serial 2026010203, which goes on
  kept:       NS of other servers: ns1.old.example.
  normalised: it is signed, with NSEC3 1 0 0 -
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
${SUMMARY}`,
    )
  },
)

test.serial('with --apply, the zones that can be adopted are, and --json tells programs', async (t) => {
  const email = await owner()
  const { system } = servers()
  const add = (domains: string[] | null) => addMember({ system, url: '' }, servers().owner.id, 'viewer', { domains })
  const [viewer, confined] = [await add(null), await add([])]
  const [succeeded, printed] = await zoneplane(
    ...['adopt', 'example.com', 'Example.NET.', '--account', email, '--clamp-ttl', '--apply', '--json'],
  )
  t.true(succeeded, printed)
  const adoptions = JSON.parse(printed) as { zone: string; adopted: boolean; normalised: string[] }[]
  const zones = adoptions.map(({ zone, adopted }) => [zone, adopted])
  t.deepEqual(zones, [
    ['example.com', true],
    ['example.net', true],
  ])
  t.deepEqual(adoptions[1]!.normalised, ['example.net. MX: the TTL 30 becomes 60'])
  // Who sees only some domains does not see new ones.
  for (const [member, sees] of [
    [viewer, ['example.com', 'example.net']],
    [confined, []],
  ] as const) {
    const actor = await authenticate(system, member.secret, '127.0.0.1')
    const { rows } = await list({ system, actor }, {})
    t.deepEqual(rows.flatMap(({ name }) => (name.startsWith('example.') ? name : [])).sort(), [...sees])
  }
  const [, left] = await zoneplane('adopt', '--all', '--account', email)
  t.regex(left, /^example\.org: cannot be adopted/)
  t.notRegex(left, /example\.(com|net)/)
})

test.serial('the account can be that of the field `account`; without owner, nothing is planned', async (t) => {
  const [succeeded, printed] = await zoneplane('adopt', 'example.org', '--by-account-field')
  t.false(succeeded)
  t.regex(printed, /because: {4}no account has the e-mail address "jane"/)
  t.deepEqual(await zoneplane('adopt', 'example.org'), [
    false,
    'zoneplane: Whose domains will they be? Give --account or --by-account-field.\n',
  ])
})

test.serial('many zones that cannot be adopted are counted, and some are named', async (t) => {
  const email = await owner()
  const names = Array.from({ length: 13 }, (_, i) => `many${i}.example`)
  for (const name of names) await make(name, {}, rrset(`www.${name}.`, 'A', '192.0.2.1', 1))
  const [, printed] = await zoneplane('adopt', ...names, '--account', email)
  t.is(printed.match(/^many\d+\.example: cannot be adopted/gm)?.length, 10)
  t.regex(printed, /^and 3 more$/m)
  t.regex(printed, /^cannot be adopted: {5}13$/m)
  const [, all] = await zoneplane('adopt', ...names, '--account', email, '--verbose')
  t.is(all.match(/^many\d+\.example: cannot be adopted/gm)?.length, 13)
  t.notRegex(all, /^and/m)
})

test.serial('the limit of the account is shown as exceeded, before and afterwards', async (t) => {
  const { system } = servers()
  const { id } = await createAccount(system, '', { limitDomains: 1 })
  const email = await emailOf(system, id)
  const names = ['one.example', 'two.example']
  for (const name of names) await make(name, {})
  const listed = async () => (await zoneplane('account', 'list'))[1].split('\n').find((line) => line.includes(email))!
  t.regex(await listed(), / 0\/1 {2}/)
  const [, plan] = await zoneplane('adopt', ...names, '--account', email)
  t.regex(plan, new RegExp(`^${email} will have 2 domains, above its limit of 1: it can create no others$`, 'm'))
  const [succeeded, printed] = await zoneplane('adopt', ...names, '--account', email, '--apply')
  t.true(succeeded, printed)
  t.is(
    printed,
    `zones:                 2
adopted:               2
  something normalised: 2
  something given up:   2
  NS of other servers:  2, which stay: ns1.old.example. (2)
cannot be adopted:     0
${email} has 2 domains, above its limit of 1: it can create no others
`,
  )
  t.regex(await listed(), / 2\/1 \(above the limit\) {2}/)
})

test.serial('a domain can be released', async (t) => {
  t.deepEqual(await zoneplane('release', 'example.com'), [true, 'example.com: released\n'])
  t.deepEqual(await zoneplane('release', 'example.com'), [false, 'zoneplane: There is no domain example.com.\n'])
})
