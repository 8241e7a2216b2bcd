import test from 'ava'
import fc from 'fast-check'
import { Invalid } from '../../../src/errors.ts'
import { readHosts, readOwnHosts, readUpdates } from '../../../src/http/dyndns/dyndns-representation.ts'
import type { HostUpdate } from '../../../src/service/domains/dyndns.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import { update } from '../../support/clients/dyndns.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService } from '../../support/harness.ts'
import {
  type Action,
  actionFor,
  after,
  isAddress,
  namesOf,
  numberOf,
  ownNamesOf,
  type Pairs,
  problemsOf,
  type Type,
} from './dyndns-model.ts'

// Random queries against a model of contract §§10.3 and 10.4. No query causes a 5xx.

const service = useService({ THROTTLE: 'off', TRUSTED_PROXIES: '127.0.0.1' })

const TYPES: Type[] = ['A', 'AAAA']

const host = fc.constantFrom('a.one.test', 'b.one.test', 'one.test', 'A.one.TEST', '*.one.test', ' b.one.test ')
const stranger = fc.constantFrom('', 'x.two.test', 'YES', 'user@one.test', '\u212a.one.test', 'one.test.')
const hosts = fc
  .array(fc.oneof({ weight: 20, arbitrary: host }, stranger), { minLength: 1, maxLength: 3 })
  .map((list) => list.join())
const part = fc.oneof(
  fc.constantFrom('192.0.2.1', '192.0.2.2', '198.51.100.7', '2001:db8::1', '2001:db8:0:1::2', '::ffff:192.0.2.1'),
  fc.constantFrom('', 'preserve', ' ', ' preserve ', 'Preserve', 'none'),
  fc.constantFrom('10.0.0.0/8', '10.1.2.3/23', '10.1.2.3/0', '10.1.2.3/32', 'fd00::/64', 'fd00:1:2:3::/57', '::/0'),
  fc.constantFrom('10.0.0.0/33', 'fd00::/129', '::/', '1.2/8', '.', ':', '2001:DB8::0001', '1.2.3.4.5', '::1%eth0'),
  fc.tuple(fc.ipV4(), fc.nat(34)).map(([address, length]) => `${address}/${length}`),
  fc.tuple(fc.ipV6(), fc.nat(130)).map(([address, length]) => `${address}/${length}`),
  fc.ipV4(),
  fc.ipV6(),
)
const value = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join())
const pair = fc.oneof(
  fc.tuple(fc.constantFrom('myip', 'myipv4', 'ip', 'ipv4', 'myipv6', 'ipv6'), value),
  fc.tuple(
    fc.tuple(fc.constantFrom('myipv4:', 'myipv6:'), hosts).map((texts) => texts.join('')),
    value,
  ),
  fc.tuple(fc.constantFrom('hostname', 'host_id', 'username'), fc.oneof(hosts, stranger)),
  fc.tuple(fc.constantFrom('system', 'myipv5:a.one.test', 'MYIP', 'myip '), value),
)
const pairs: fc.Arbitrary<Pairs> = fc.array(pair, { maxLength: 6 })
const address = fc.constantFrom('203.0.113.9', '2001:db8:9::9')

/** The query as the service reads it: the last value of a repeated parameter counts. */
function queryOf(all: Pairs): Map<string, string> {
  return new Map(all.filter(([name], i) => !all.slice(i + 1).some(([later]) => later === name)))
}

function actionOf(update: HostUpdate): Action {
  if (update.action === 'preserve') return 'preserve'
  if (update.action === 'prefix') {
    const { octets, length } = update.prefix
    return { network: BigInt(`0x${Buffer.from(octets, 'latin1').toString('hex')}`), length }
  }
  return { addresses: update.action === 'set' ? update.addresses : [] }
}

test('the service reads the same names from a query as the model', (t) => {
  const user = fc.option(fc.oneof(hosts, stranger), { nil: undefined })
  fc.assert(
    fc.property(pairs, user, (all, user) => {
      t.deepEqual(readHosts(queryOf(all), user), namesOf(all, user))
      t.deepEqual([...new Set(readOwnHosts(queryOf(all)))].sort(), [...new Set(ownNamesOf(all))].sort())
    }),
    { numRuns: 5_000 },
  )
  t.pass()
})

test('a query has the same effect on each name and family as in the model', (t) => {
  fc.assert(
    fc.property(pairs, address, (all, caller) => {
      const names = namesOf(all) ?? ['one.test']
      const problems = problemsOf(all, names)
      try {
        const updates = readUpdates(queryOf(all), names, caller)
        t.deepEqual(problems, [])
        const found = new Map(updates.map((each) => [`${each.type} ${each.host}`, actionOf(each)]))
        t.is(found.size, updates.length)
        for (const type of TYPES) {
          for (const name of [...names, ...ownNamesOf(all)]) {
            t.deepEqual(found.get(`${type} ${name}`), actionFor(all, type, name, names, caller))
          }
        }
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        const [text] = (error.problems as { non_field_errors: string[] }).non_field_errors
        t.true(problems.includes(text!), text)
      }
    }),
    { numRuns: 5_000 },
  )
})

let account: Account

test.before('an account with a domain', async () => {
  account = await service().account()
  await newDomain(account.api, 'one.test')
})

const NAMES = ['one.test', 'a.one.test', 'b.one.test', '*.one.test']

/** The sorted addresses of all names, as numbers, by family and name. */
async function stored(): Promise<Map<string, bigint[]>> {
  const rrsets = succeeded(await account.api.get('/domains/one.test/rrsets/'), 200).json as ShownRRset[]
  const found = rrsets.filter(({ type }) => TYPES.includes(type as Type))
  return new Map(
    found.map(({ type, name, records }) => [`${type} ${name.slice(0, -1)}`, ordered(records.map(numberOf))]),
  )
}

function ordered(addresses: bigint[]): bigint[] {
  return addresses.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** The status, the text if the contract has just one, and the addresses afterwards. */
function expected(all: Pairs, caller: string, present: Map<string, bigint[]>) {
  const names = namesOf(all) ?? ['one.test']
  const meant = [...new Set([...names, ...ownNamesOf(all)])]
  if (!meant.every((name) => NAMES.includes(name))) return { status: 404, texts: ['nohost'], then: present }
  const problems = problemsOf(all, names)
  if (problems.length > 0) return { status: 400, texts: problems, then: present }
  const then = new Map(present)
  for (const type of TYPES) {
    for (const name of meant) {
      const action = actionFor(all, type, name, names, caller) ?? 'preserve'
      if (action !== 'preserve' && 'addresses' in action) {
        const isValid = action.addresses.every((each) => isAddress(each, type))
        const isUnique = () => new Set(action.addresses.map(numberOf)).size === action.addresses.length
        if (!isValid || !isUnique()) return { status: 400, texts: undefined, then: present }
      }
      const addresses = ordered(after(present.get(`${type} ${name}`) ?? [], action, type))
      if (addresses.length > 0) then.set(`${type} ${name}`, addresses)
      else then.delete(`${type} ${name}`)
    }
  }
  return { status: 200, texts: [meant.map(() => 'good').join('\n')], then }
}

test.serial('an update stores the addresses of the model, or is refused and changes nothing', async (t) => {
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(pairs, address, async (all, caller) => {
      const { status, texts, then } = expected(all, caller, await stored())
      const answer = await update(account.api, new URLSearchParams(all).toString(), { 'x-forwarded-for': caller })
      t.is(answer.status, status, answer.text)
      if (texts !== undefined) t.true(texts.includes(answer.text), answer.text)
      t.deepEqual(new Map([...(await stored())].sort()), new Map([...then].sort()))
      seen.add(status)
    }),
    { numRuns: 100, endOnFailure: true },
  )
  t.deepEqual([...seen].sort(), [200, 400, 404])
})

const octet = fc.nat(255).map((code) => `%${code.toString(16).padStart(2, '0')}`)
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const piece = fc.oneof(
  ...[octet, visible, fc.constantFrom('=', '&', ',', '%', '%zz', '%00', '%C3', '+', '/', ':', '?')],
  fc.constantFrom('hostname', 'myip', 'myipv6', 'myipv4:', 'one.test', 'a.one.test', 'preserve', '10.0.0.0/8', '::1'),
)
const rubbish = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

test.serial('the answer to any query is plain text and not a 5xx', async (t) => {
  const known = pairs.map((all) => new URLSearchParams(all).toString())
  const query = fc.oneof(
    rubbish,
    fc.tuple(known, rubbish).map((texts) => texts.join('&')),
    fc.tuple(rubbish, rubbish).map(([name, value]) => `hostname=a.one.test&${name}=${value}`),
  )
  const forms = fc.constantFrom('header', 'query')
  await fc.assert(
    fc.asyncProperty(query, forms, async (query, form) => {
      const credentials = form === 'query' ? `&username=one.test&password=${account.secret}` : ''
      const headers = form === 'header' ? [`Authorization: Token ${account.secret}`] : []
      const request = plainRequest(`GET /update?${query}${credentials}`, headers)
      const answer = await exchange(service().url, request)
      t.true([200, 400, 401, 404].includes(answer.status), answer.head)
      t.is(answer.headers['content-type'], 'text/plain', answer.head)
      t.not(answer.body, '')
    }),
    { numRuns: 200, endOnFailure: true },
  )
})
