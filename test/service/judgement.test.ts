import test from 'ava'
import { createHash } from 'node:crypto'
import { lowerCase, parseName } from '../../src/dns/names.ts'
import { parseRdata } from '../../src/dns/rdata.ts'
import { type DelegationState, judge, STATES } from '../../src/service/delegation/judgement.ts'
import type { Observation } from '../../src/service/delegation/observation.ts'
import type { Key } from '../../src/service/domains/keys.ts'
import { delegationDigests } from '../../src/service/secrets/delegation-digests.ts'

// Contract §15.9: what the owner of a domain is told about its delegation.

const NAME = 'shop.example'
const OWNER = lowerCase(parseName(`${NAME}.`))
const OURS = ['ns1.zoneplane.test', 'ns2.zoneplane.test']

/** A key with this algorithm; the octet makes it differ from others. */
function key(octet: number, { algorithm = 13, managed = true } = {}): Key {
  const dnskey = `257 3 ${algorithm} ${Buffer.alloc(64, octet).toString('base64')}`
  const ds = delegationDigests(OWNER, parseRdata('DNSKEY', dnskey).wire)
  return { dnskey, ds, flags: 257, keytype: managed ? 'csk' : null, managed }
}

const OWN = key(1)
const [DS] = OWN.ds as [string]
const [FOREIGN] = key(2).ds as [string]
const OTHER_SIGNER = key(3, { managed: false })
const SILENT = key(4, { algorithm: 15, managed: false })

/** The DS of a key with SHA-1. */
const SHA1 = `${DS.split(' ').slice(0, 2).join(' ')} 1 ${createHash('sha1')
  .update(OWNER + parseRdata('DNSKEY', OWN.dnskey).wire, 'latin1')
  .digest('hex')}`

type Server = Partial<Observation['servers'][number]>

/** An observation in which the servers of the parent zone have these delegations, and all nameservers are well. */
function seen(...servers: Server[]): Observation {
  const hosts = new Set(servers.flatMap(({ ns }) => ns ?? OURS))
  return {
    parent: 'example',
    servers: servers.map((server, i) => ({
      ...{ name: `${'ab'[i]}.nic.example`, address: `192.0.2.${i + 1}`, ns: OURS, ds: [], dsTtl: null, glue: {} },
      ...{ problem: null, ...server },
    })),
    nameservers: [...hosts].map((name) => ({ name, addresses: ['192.0.2.7'], glue: [], problem: null })),
  }
}

/** The same, in which all servers agree. */
function both(server: Server, firstNameserver: Partial<Observation['nameservers'][number]> = {}): Observation {
  const { nameservers, ...rest } = seen(server, server)
  return { ...rest, nameservers: nameservers.map((each, i) => (i === 0 ? { ...each, ...firstNameserver } : each)) }
}

const digestMissing = (ds: string) =>
  `Add the DS record "${ds}" at your registrar: another key has a DS record of the digest type 4, and some resolvers then ignore the other types.`
const REMOVE = `Remove the DS record "${FOREIGN}" at your registrar: the domain has no such key.`
const UNSIGNED = `Add the DS record "${DS}" at your registrar: until then, the domain is not protected by DNSSEC.`
const SILENT_SERVER = 'The server a.nic.example (192.0.2.1) of the parent zone example does not answer.'
const BOGUS =
  'The signatures of the parent zone example are broken: validating resolvers reject it, and all domains below it. Only its operator can mend that. Tell them.'
const DISAGREE =
  'The servers of the parent zone example disagree. After a change this ends by itself, so check again later.'

const ROWS: [what: string, Observation, DelegationState, problems: string[]][] = [
  [
    'the parent was not found',
    { parent: null, servers: [], nameservers: [] },
    'unknown',
    ['The resolvers of this service do not tell which zone delegates the domain.'],
  ],
  ['no server of the parent answers', seen({ problem: 'does not answer' }), 'unknown', [SILENT_SERVER]],
  [
    'no server of the parent is known',
    seen(),
    'unknown',
    ['The resolvers tell no server of the parent zone example that this machine can reach.'],
  ],
  [
    'no server of the parent may be asked',
    seen({ address: '', problem: 'has no address that this service may ask' }),
    'unknown',
    ['The server a.nic.example of the parent zone example has no address that this service may ask.'],
  ],
  [
    'there is no delegation',
    both({ ns: [] }),
    'not-delegated',
    [
      'The parent zone example does not delegate the domain: enter these nameservers at your registrar: ns1.zoneplane.test, ns2.zoneplane.test.',
    ],
  ],
  [
    'other nameservers have the domain',
    both({ ns: ['ns.other.example'] }),
    'elsewhere',
    ['Replace the nameservers ns.other.example at your registrar by ns1.zoneplane.test, ns2.zoneplane.test.'],
  ],
  [
    'other nameservers have the domain, signed with other keys',
    both({ ns: ['ns.other.example'], ds: [FOREIGN] }),
    'elsewhere',
    [
      `Before that, remove the DS records "${FOREIGN}" at your registrar, and wait for a day: they belong to other keys, and the domain would fail.`,
      'Replace the nameservers ns.other.example at your registrar by ns1.zoneplane.test, ns2.zoneplane.test.',
    ],
  ],
  [
    'some nameservers are not ours',
    both({ ns: ['ns.other.example', ...OURS], ds: [DS] }),
    'partial',
    ['The nameservers ns.other.example are not ours: remove them at your registrar, unless they serve the same zone.'],
  ],
  ['there is no DS', both({}), 'insecure', [UNSIGNED]],
  ['the DS is right', both({ ds: [DS] }), 'secure', []],
  ['the DS are right, with both digests', both({ ds: OWN.ds }), 'secure', []],
  ['the DS of another signer is there, too', both({ ds: [DS, OTHER_SIGNER.ds[0]!] }), 'secure', []],
  ['all DS of both signers are there', both({ ds: [...OWN.ds, ...OTHER_SIGNER.ds] }), 'secure', []],
  [
    'another signer lacks the digest type of ours',
    both({ ds: [...OWN.ds, OTHER_SIGNER.ds[0]!] }),
    'secure',
    [digestMissing(OTHER_SIGNER.ds[1]!)],
  ],
  [
    'we lack the digest type of another signer',
    both({ ds: [DS, ...OTHER_SIGNER.ds] }),
    'secure',
    [digestMissing(OWN.ds[1]!)],
  ],
  ['a DS has no key', both({ ds: [DS, FOREIGN] }), 'stale', [REMOVE]],
  [
    'a DS has a key of an algorithm that does not sign',
    both({ ds: [DS, SILENT.ds[0]!] }),
    'stale',
    [
      `Remove the DS record "${SILENT.ds[0]}" at your registrar: no key of its algorithm signs, so strict resolvers reject the domain.`,
    ],
  ],
  [
    'no DS has a key',
    both({ ds: [FOREIGN] }),
    'mismatch',
    [`Add the DS record "${DS}" at your registrar: until then, validating resolvers reject the domain.`, REMOVE],
  ],
  [
    'the only DS is that of another signer',
    both({ ds: [OTHER_SIGNER.ds[0]!] }),
    'mismatch',
    [`Add the DS record "${DS}" at your registrar: until then, validating resolvers reject the domain.`],
  ],
  ...[`4711 200 2 ${'ab'.repeat(32)}`, `4711 13 99 ${'ab'.repeat(32)}`].map((ds): (typeof ROWS)[number] => [
    `resolvers do not know the only DS (${ds.slice(0, 12)})`,
    both({ ds: [ds] }),
    'mismatch',
    [
      `Add the DS record "${DS}" at your registrar: until then, the domain is not protected by DNSSEC, because resolvers know no algorithm or digest type of the DS records that are there.`,
      `Remove the DS record "${ds}" at your registrar: the domain has no such key.`,
    ],
  ]),
  [
    'resolvers know one of the DS, which has no key',
    both({ ds: [`4711 200 2 ${'ab'.repeat(32)}`, FOREIGN] }),
    'mismatch',
    [
      `Add the DS record "${DS}" at your registrar: until then, validating resolvers reject the domain.`,
      `Remove the DS record "4711 200 2 ${'ab'.repeat(32)}" at your registrar: the domain has no such key.`,
      REMOVE,
    ],
  ],
  ['the parent is bogus, and there is no DS', { ...both({}), isParentBogus: true }, 'insecure', [BOGUS]],
  ['the parent is bogus, and the DS is right', { ...both({ ds: [DS] }), isParentBogus: true }, 'secure', [BOGUS]],
  [
    'the parent is ours, and does not delegate the domain',
    { ...both({ ns: [] }), isParentOurs: true },
    'not-delegated',
    [
      `The parent zone example, which this service has, too, does not delegate the domain, and validating resolvers reject it. Add these record sets to example: "shop 3600 NS ns1.zoneplane.test.", "shop 3600 NS ns2.zoneplane.test.", "shop 300 DS ${DS}".`,
    ],
  ],
  [
    'the parent is ours, and has no DS',
    { ...both({}), isParentOurs: true },
    'insecure',
    [UNSIGNED.replace('at your registrar', 'in the zone example, which this service has, too')],
  ],
  ['the servers have different DS', seen({ ds: [DS] }, { ds: [] }), 'propagating', [DISAGREE]],
  ['the servers have different NS', seen({ ns: [] }, {}), 'propagating', [DISAGREE]],
  [
    'one server of the parent does not answer, and the other one does',
    seen({ problem: 'does not answer', ns: [] }, { ds: [DS] }),
    'secure',
    [SILENT_SERVER],
  ],
  [
    'the DS has a digest of SHA-1',
    both({ ds: [SHA1] }),
    'secure',
    [
      `Add the DS record "${DS}", and then remove the DS record "${SHA1}" at your registrar: resolvers stop trusting its digest, SHA-1.`,
    ],
  ],
  [
    'there is also a DS with a digest of SHA-1',
    both({ ds: [DS, SHA1] }),
    'secure',
    [`Remove the DS record "${SHA1}" at your registrar: resolvers stop trusting its digest, SHA-1.`],
  ],
  [
    'one of our nameservers is missing',
    both({ ns: [OURS[0]!], ds: [DS] }),
    'secure',
    ['Add the nameserver ns2.zoneplane.test at your registrar.'],
  ],
  [
    'a nameserver does not serve the domain',
    both({ ds: [DS] }, { problem: '192.0.2.7 answers REFUSED' }),
    'secure',
    ['The nameserver ns1.zoneplane.test does not serve the domain: 192.0.2.7 answers REFUSED.'],
  ],
  [
    'glue differs',
    both({ ds: [DS] }, { glue: ['192.0.2.8'] }),
    'secure',
    [
      'The parent zone has the addresses 192.0.2.8 for ns1.zoneplane.test, which has 192.0.2.7: its owner must correct them at their registrar.',
    ],
  ],
  [
    'a check has not come to all nameservers',
    { ...both({ ds: [DS] }), nameservers: both({}).nameservers.slice(1) },
    'secure',
    ['The check did not ask these nameservers: ns1.zoneplane.test. There are too many, or it took too long.'],
  ],
  ['glue has some of the addresses', both({ ds: [DS] }, { glue: ['192.0.2.7'] }), 'secure', []],
]

for (const [what, observation, state, problems] of ROWS) {
  test(`${what}: ${state}`, (t) => {
    const keys = [OWN, OTHER_SIGNER, SILENT]
    t.deepEqual(judge(observation, { name: NAME, nameServers: OURS, keys }), { state, problems })
  })
}

test('every state has a row', (t) => {
  t.deepEqual(new Set(ROWS.map(([, , state]) => state)), new Set(Object.keys(STATES) as DelegationState[]))
})
