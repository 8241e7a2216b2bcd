import test from 'ava'
import { emailOf } from '../support/clients/accounts.ts'
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

test.serial('the plan says what is kept, what changes, and why a zone cannot be adopted', async (t) => {
  const email = await owner()
  const mail = rrset('example.net.', 'MX', '10 mail.example.net.', 30)
  await make('example.net', { dnssec: true, account: email }, mail, rrset('www.example.net.', 'A', '192.0.2.1'))
  await make('example.org', { account: 'jane' }, rrset('www.example.org.', 'ALIAS', 'shop.example.com.'))
  await make('example.com', {}, rrset('www.example.com.', 'A', '192.0.2.1'))

  const [succeeded, printed] = await zoneplane('adopt', '--all', '--account', email)
  t.false(succeeded)
  t.is(
    printed.replaceAll(email, 'ops@example.net'),
    `example.com: can be adopted for ops@example.net
  kept:       2 RRsets
  kept:       serial 2026010203, which goes on
  normalised: it is signed, with NSEC3 1 0 0 -
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
example.net: cannot be adopted for ops@example.net
  because:    example.net. MX: the TTL 30 is not between 60 and 86400 (--clamp-ttl changes it)
  kept:       3 RRsets
  kept:       serial 2026010203, which goes on
  kept:       key with flags 257 and algorithm 13 (active)
  kept:       NSEC
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
example.org: cannot be adopted for ops@example.net
  because:    www.example.org. ALIAS: The ALIAS RR set type is currently unsupported.
  kept:       1 RRset
  kept:       serial 2026010203, which goes on
  normalised: it is signed, with NSEC3 1 0 0 -
  given up:   SOA ns1.old.example. dns.old.example. 2026010203 10800 3600 604800 900
`,
  )
})

test.serial('with --apply, the zones that can be adopted are, and --json tells programs', async (t) => {
  const email = await owner()
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

test.serial('a domain can be released', async (t) => {
  t.deepEqual(await zoneplane('release', 'example.com'), [true, 'example.com: released\n'])
  t.deepEqual(await zoneplane('release', 'example.com'), [false, 'zoneplane: There is no domain example.com.\n'])
})
