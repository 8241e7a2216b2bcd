import test from 'ava'
import type { PoolClient } from 'pg'
import { mayWrite, policiesOn } from '../../src/service/tokens/policies.ts'
import { transaction } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { type Holder, lock } from '../../src/store/tokens/rights.ts'
import { statementsOf } from '../support/statements.ts'
import { broken, brokenAcross, insert, type Row, rrsetRow, useTables } from './tables.ts'

const tables = useTables()

const label = (length: number) => 'a'.repeat(length)

/** Adds a row with these members. */
const ADD: Record<string, (members: Row) => Promise<string>> = {
  accounts: (members) => tables().account(members),
  domains: async (members) => tables().domain(await tables().account(), members),
  rrsets: async (members) => {
    return insert(tables().pool, 'rrsets', rrsetRow(await tables().domain(await tables().account()), members))
  },
}

const ROWS: Record<keyof typeof ADD, [members: Row, constraint: string | undefined][]> = {
  accounts: [
    [{}, undefined],
    [{ state: 'pending' }, undefined],
    [{ state: 'disabled' }, undefined],
    [{ state: 'deleted' }, 'accounts_state'],
    [{ limit_domains: 0 }, undefined],
    [{ limit_domains: -1 }, 'accounts_limit_domains'],
    [{ daily_rate: -1 }, 'accounts_daily_rate'],
  ],
  domains: [
    [{ name: 'a.b-c.d_e.test' }, undefined],
    [{ name: `${label(63)}.test` }, undefined],
    [{ name: `${label(64)}.test` }, 'domains_name_syntax'],
    [{ name: `${label(62)}.${label(62)}.${label(62)}.ab` }, undefined],
    [{ name: `${label(62)}.${label(62)}.${label(62)}.abc` }, 'domains_name_syntax'],
    [{ name: 'UPPER.test' }, 'domains_name_syntax'],
    [{ name: 'final.test.' }, 'domains_name_syntax'],
    [{ name: 'a..test' }, 'domains_name_syntax'],
    [{ name: 'a.te_st' }, 'domains_name_syntax'],
    [{ name: '*.test' }, 'domains_name_syntax'],
    [{ name: 'line.test\n' }, 'domains_name_syntax'],
    [{ name: 'x.test\ny.test' }, 'domains_name_syntax'],
    [{ name: '' }, 'domains_name_syntax'],
    [{ minimum_ttl: 1 }, undefined],
    [{ minimum_ttl: 86_400 }, undefined],
    [{ minimum_ttl: 0 }, 'domains_minimum_ttl'],
    [{ minimum_ttl: 86_401 }, 'domains_minimum_ttl'],
    [{ version: 0 }, 'domains_version'],
    [{ version: 2 ** 32 - 1 }, undefined],
    [{ version: 2 ** 32 }, 'domains_version'],
    [{ size: -1 }, 'domains_size'],
  ],
  rrsets: [
    [{ subname: '' }, undefined],
    [{ subname: '*' }, undefined],
    [{ subname: '*._a.b-c' }, undefined],
    [{ subname: label(63) }, undefined],
    [{ subname: label(64) }, 'rrsets_subname'],
    [{ subname: `a.${label(63)}.b` }, undefined],
    [{ subname: `a.${label(64)}.b` }, 'rrsets_subname'],
    [{ subname: 'a..b' }, 'rrsets_subname'],
    [{ subname: `${label(59)}.${label(59)}.${label(58)}` }, undefined],
    [{ subname: `${label(59)}.${label(59)}.${label(59)}` }, 'rrsets_subname'],
    [{ subname: 'A' }, 'rrsets_subname'],
    [{ subname: '@' }, 'rrsets_subname'],
    [{ subname: 'a.*' }, 'rrsets_subname'],
    [{ subname: 'a.' }, 'rrsets_subname'],
    [{ subname: 'a\n' }, 'rrsets_subname'],
    [{ type: 'NSEC3PARAM' }, undefined],
    [{ type: 'a' }, 'rrsets_type'],
    [{ type: '' }, 'rrsets_type'],
    [{ type: '1A' }, 'rrsets_type'],
    [{ type: 'ABCDEFGHIJK' }, 'rrsets_type'],
    [{ ttl: 1 }, undefined],
    [{ ttl: 86_400 }, undefined],
    [{ ttl: 0 }, 'rrsets_ttl'],
    [{ ttl: 86_401 }, 'rrsets_ttl'],
    [{ records: [] }, 'rrsets_records'],
    [{ records: Array(4091).fill('x') }, undefined],
    [{ records: Array(4092).fill('x') }, 'rrsets_records'],
  ],
}

for (const [table, rows] of Object.entries(ROWS)) {
  for (const [members, constraint] of rows) {
    const json = JSON.stringify(members)
    test(`${table}: ${json.slice(0, 40)} (${json.length}) ${constraint === undefined ? 'is accepted' : `breaks ${constraint}`}`, async (t) => {
      t.is(await broken(ADD[table]!(members)), constraint)
    })
  }
}

for (const [table, constraint, one, other] of [
  ['accounts', 'accounts_email', { email: 'One@example.test' }, { email: 'oNE@example.test' }],
  ['domains', 'domains_name', { name: 'unique.test' }, { name: 'unique.test' }],
] as const) {
  test(`${table}: ${JSON.stringify(one)} and ${JSON.stringify(other)} are not both there`, async (t) => {
    await ADD[table]!(one)
    t.is(await broken(ADD[table]!(other)), constraint)
  })
}

test('accounts: an account with domains cannot be deleted', async (t) => {
  const account = await tables().account()
  await tables().domain(account)
  const deleted = tables().pool.query('delete from accounts where id = $1', [account])
  t.is(await broken(deleted), 'domains_owner_id_fkey')
})

test('rrsets: a name has at most one RRset of a type', async (t) => {
  const domain = await tables().domain(await tables().account())
  await insert(tables().pool, 'rrsets', rrsetRow(domain))
  t.is(await broken(insert(tables().pool, 'rrsets', rrsetRow(domain))), 'rrsets_identity')
})

for (const change of [`subname = 'b'`, `type = 'AAAA'`]) {
  test(`rrsets: ${change} cannot be set on an existing RRset`, async (t) => {
    const domain = await tables().domain(await tables().account())
    await insert(tables().pool, 'rrsets', rrsetRow(domain))
    const changed = tables().pool.query(`update rrsets set ${change} where domain_id = $1`, [domain])
    t.is(await broken(changed), 'rrsets_identity_immutable')
  })
}

test('rrsets: they are deleted with their domain', async (t) => {
  const domain = await tables().domain(await tables().account())
  await insert(tables().pool, 'rrsets', rrsetRow(domain))
  await tables().pool.query('delete from domains where id = $1', [domain])
  t.is((await tables().pool.query('select from rrsets where domain_id = $1', [domain])).rowCount, 0)
})

for (const [first, second] of [
  ['A', 'CNAME'],
  ['CNAME', 'TXT'],
]) {
  const row = (domain: string, type: string | undefined) => rrsetRow(domain, { type, records: ['x'] })

  test(`rrsets: ${second} cannot be added beside ${first}`, async (t) => {
    const domain = await tables().domain(await tables().account())
    await insert(tables().pool, 'rrsets', row(domain, first))
    t.is(await broken(insert(tables().pool, 'rrsets', row(domain, second))), 'rrsets_cname_alone')
    t.is(await broken(insert(tables().pool, 'rrsets', { ...row(domain, second), subname: 'other' })), undefined)
  })

  test(`rrsets: ${first} and ${second} cannot be added in one statement`, async (t) => {
    const domain = await tables().domain(await tables().account())
    const added = tables().pool.query(
      `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select $1, 'www', type, 60, '{x}', now(), now() from unnest($2::text[]) type`,
      [domain, [first, second]],
    )
    t.is(await broken(added), 'rrsets_cname_alone')
  })

  test(`rrsets: two concurrent transactions cannot add ${first} and ${second}`, async (t) => {
    const domain = await tables().domain(await tables().account())
    const add = (type: string | undefined) => (client: PoolClient) => insert(client, 'rrsets', row(domain, type))
    t.is(await brokenAcross(tables().pool, add(first), add(second)), 'rrsets_cname_alone')
    const { rows } = await tables().pool.query('select type from rrsets where domain_id = $1', [domain])
    t.deepEqual(rows, [{ type: first }])
  })
}

test('rrsets: a CNAME can replace an RRset that the same transaction deleted', async (t) => {
  const domain = await tables().domain(await tables().account())
  await insert(tables().pool, 'rrsets', rrsetRow(domain))
  const client = await tables().pool.connect()
  await client.query('begin')
  await client.query('delete from rrsets where domain_id = $1', [domain])
  await insert(client, 'rrsets', rrsetRow(domain, { type: 'CNAME', records: ['a.'] }))
  t.is(await broken(client.query('commit')), undefined)
  client.release()
})

test('transactions that keep and change the rights of each other’s holders never wait in a circle', async (t) => {
  const { pool } = tables()
  const holders: Holder[] = ['account a', 'account b', 'token a', 'token b']
  const pairs = holders.flatMap((kept) => holders.map((changed): [Holder, Holder] => [kept, changed]))
  let rounds = 0
  await Promise.all(
    [...pairs, ...pairs.toReversed()].map(async ([kept, changed]) => {
      for (let i = 0; i < 20; i++) {
        await transaction(pool, (trx) => lock(trx, [kept], [changed]))
        rounds++
      }
    }),
  )
  t.is(rounds, 640)
})

/** An account with two domains, another one with one domain, and a token that acts for the first, with these policies. */
async function viewer(override: boolean, policies: (named: string) => Row[]) {
  const { pool, ...fill } = tables()
  const [accountId, other] = [await fill.account(), await fill.account()]
  const names = { named: `named.${accountId}`, unnamed: `unnamed.${accountId}`, foreign: `foreign.${accountId}` }
  const named = await fill.domain(accountId, { name: names.named })
  await fill.domain(accountId, { name: names.unnamed })
  await fill.domain(other, { name: names.foreign })
  const tokenId = await fill.token(override ? other : accountId, override ? { user_override_id: accountId } : {})
  const rows = policies(named)
  for (const row of rows) await insert(pool, 'policies', { created: 'now', token_id: tokenId, ...row })
  return {
    ...names,
    named: { id: Number(named), name: names.named },
    tokenId,
    accountId,
    override,
    restricted: rows.length > 0,
    ...{ memberId: null, role: null, confined: false },
  }
}

const DEFAULT = { perm_write: true }

const VIEWERS: [what: string, override: boolean, policies: (named: string) => Row[], sees: ('named' | 'unnamed')[]][] =
  [
    ['a token', false, () => [], ['named', 'unnamed']],
    ['a token with policies', false, (named) => [DEFAULT, { domain_id: named }], ['named', 'unnamed']],
    ['an override token', true, () => [], ['named', 'unnamed']],
    ['an override token with a default policy', true, () => [DEFAULT], []],
    ['an override token with policies for any domain', true, () => [DEFAULT, { subname: 'www' }, { type: 'A' }], []],
    ['an override token whose policy forbids', true, (named) => [DEFAULT, { domain_id: named }], ['named']],
    [
      'an override token whose policy permits',
      true,
      (named) => [DEFAULT, { domain_id: named, perm_write: true }],
      ['named'],
    ],
    [
      'an override token with several policies for one domain',
      true,
      (named) => [DEFAULT, { domain_id: named, type: 'A' }, { domain_id: named, subname: 'www' }],
      ['named'],
    ],
  ]

for (const [what, override, policies, sees] of VIEWERS) {
  test(`${what} sees ${sees.length === 0 ? 'no domain' : sees.join(' and ')}, whichever function looks domains up`, async (t) => {
    const { pool } = tables()
    const { named, unnamed, foreign, ...actor } = await viewer(override, policies)
    const all = [named.name, unnamed, foreign]
    const seen = sees.map((which) => (which === 'named' ? named.name : unnamed))
    for (const name of all) {
      const expected = seen.includes(name) ? name : undefined
      t.is((await domains.find(pool, name, actor))?.name, expected)
      t.is((await transaction(pool, (trx) => domains.lock(trx, name, actor)))?.name, expected)
    }
    const namesOf = (found: domains.Domain[]) => found.map(({ name }) => name).sort()
    t.deepEqual(namesOf(await domains.named(pool, actor, all)), seen)
    t.deepEqual(namesOf((await domains.page(pool, actor)).rows), seen)
    t.deepEqual(
      (await domains.page(pool, actor, undefined, { ids: [named.id] })).rows.length,
      Number(seen.includes(named.name)),
    )
    t.is(await domains.count(pool, actor), seen.length)
  })
}

test('without viewer a domain is found, whichever account owns it', async (t) => {
  const { foreign } = await viewer(false, () => [])
  t.is((await domains.find(tables().pool, foreign))?.name, foreign)
})

test('the policies on a domain are those that name it and those that name no domain', async (t) => {
  const { pool, ...fill } = tables()
  const { named, accountId, ...actor } = await viewer(false, (id) => [
    DEFAULT,
    { subname: 'www' },
    { type: 'A', perm_write: true },
    { domain_id: id, subname: '', type: 'TXT' },
    { subname: '**', is_pattern: true },
  ])
  const other = await fill.domain(accountId)
  await insert(pool, 'policies', { created: 'now', token_id: actor.tokenId, domain_id: other })
  const policies = await policiesOn(pool, actor, named.id)
  const texts = policies.map(({ domainId, subname, isPattern, type, permWrite }) =>
    JSON.stringify([domainId, subname, isPattern, type, permWrite]),
  )
  t.deepEqual(texts.sort(), [
    `[${named.id},"",false,"TXT",false]`,
    '[null,"**",true,null,false]',
    '[null,"www",false,null,false]',
    '[null,null,false,"A",true]',
    '[null,null,false,null,true]',
  ])
})

test('of the policies on a domain, those are read that decide about some names', async (t) => {
  const { pool } = tables()
  const names = ['a.b', '*', 'x', '', '*.b', '**.b', 'a.**', 'b.**', 'a.*']
  const { named, ...actor } = await viewer(false, (id) => [
    DEFAULT,
    ...names.map((subname) => ({ domain_id: id, subname, is_pattern: subname.includes('*') })),
    { subname: 'a.b', type: 'A' },
    { domain_id: id, type: 'A' },
  ])
  const read = async (...subnames: string[]) => {
    const policies = await policiesOn(pool, actor, named.id, new Set(subnames))
    return policies.map(({ subname, type }) => [subname, ...(type === null ? [] : [type])].join(' ')).sort()
  }
  t.deepEqual(await read('a.b'), ['', ' A', '**.b', '*.b', 'a.*', 'a.**', 'a.b', 'a.b A'].sort())
  t.deepEqual(await read(''), ['', '', ' A'])
  t.deepEqual(await read('x', ''), ['', '', ' A', '*', 'x'])
  const some = await policiesOn(pool, actor, named.id, new Set(['x']))
  t.false(mayWrite(some, named.id, { subname: 'x', type: 'A' }))
  t.throws(() => mayWrite(some, named.id, { subname: 'y', type: 'A' }), { message: /not read/ })
})

test.serial('for a token that is not restricted no policies are looked up', async (t) => {
  const { named, ...actor } = await viewer(false, () => [])
  const statements = await statementsOf(async () => {
    t.deepEqual(await policiesOn(tables().pool, actor, named.id), [])
  })
  t.deepEqual(statements, [])
})
