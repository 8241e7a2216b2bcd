import test from 'ava'
import { mayWrite, policiesOn } from '../../src/service/tokens/policies.ts'
import { transaction } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { statementsOf } from '../support/statements.ts'
import { insert, type Row, useTables } from './tables.ts'

const tables = useTables()

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
