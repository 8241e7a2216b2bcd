import test from 'ava'
import { broken, brokenAcross, insert, useTables } from './tables.ts'

// What the API shows of the rules of policies (contract §6.3), test/api/tokens/token-policies.test.ts has.

const tables = useTables()

/** Statements with the names of rows in place of their ids, such as `:token`. */
type Fill = (sql: string) => string

/** Makes accounts, a token and a domain of `owner`, a domain of `bound`, and a token of `third`. */
async function fill(): Promise<Fill> {
  const rows = tables()
  const [owner, bound, third] = [await rows.account(), await rows.account(), await rows.account()]
  const ids = { owner, bound, third, token: await rows.token(owner), other: await rows.token(third) }
  const domains = { domain: await rows.domain(owner), domainOfBound: await rows.domain(bound) }
  return (sql) => sql.replace(/:(\w+)/g, (_, name: string) => `'${{ ...ids, ...domains }[name]!}'`)
}

const set = (change: string) => `update tokens set ${change} where id = :token`
const BIND = set('user_override_id = :bound')
const AUTO = set('auto_policy = true')

/** Adds a policy to a token; by default the default policy, without `perm_write`. */
function policy(members: Record<string, string> = {}, token = ':token'): string {
  const row = { created: 'now()', token_id: token, ...members }
  return `insert into policies (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

const OF_TYPE = policy({ type: `'A'` })
const FALLBACK = 'token_id = :token and (domain_id, subname, type) is null'
const move = `update policies set token_id = :other where ${FALLBACK}`
const permit = `update policies set perm_write = true where ${FALLBACK}`
const remove = `delete from policies where ${FALLBACK}`

/** What the last statement breaks after the others, which succeed; undefined: it succeeds, too. */
const CASES: [what: string, constraint: string | undefined, ...statements: string[]][] = [
  ['a name is too long', 'tokens_name', set(`name = repeat('n', 178)`), set(`name = repeat('n', 179)`)],
  ['a maximum age is negative', 'tokens_max_age', set(`max_age = '0'`), set(`max_age = '-1 second'`)],
  ['a maximum of disuse is negative', 'tokens_max_unused_period', set(`max_unused_period = '-1 second'`)],
  [
    'a secret is that of another token',
    'tokens_secret_hash',
    set('secret_hash = (select secret_hash from tokens where id = :other)'),
  ],
  ['a token is bound to its owner', 'tokens_override_not_owner', set('user_override_id = :owner')],
  ['a bound token may manage tokens', 'tokens_override_no_management', BIND, set('perm_manage_tokens = true')],
  ['a token that manages is bound', 'tokens_override_no_management', set('perm_manage_tokens = true'), BIND],
  ['a bound token becomes a login', 'tokens_override_no_mfa', BIND, set('mfa = true')],
  ['a login is bound', 'tokens_override_no_mfa', set('mfa = false'), BIND],
  ['a bound token is unbound', 'tokens_override_immutable', BIND, set('user_override_id = null')],
  ['it is bound to another account', 'tokens_override_immutable', BIND, set('user_override_id = :third')],
  ['it is bound again, or renamed', undefined, BIND, BIND, set(`name = 'other'`)],
  [
    'a token whose policies name a domain is bound',
    'tokens_bind_without_domains',
    ...[policy(), policy({ domain_id: ':domain' }), BIND],
  ],
  ['a pattern has no text', 'policies_pattern', policy(), policy({ type: `'A'`, is_pattern: 'true' })],
  [
    'a pattern is there twice, beside the subname of the same text',
    'policies_scope',
    ...[policy(), policy({ subname: `'*.a'` }), policy({ subname: `'*.a'`, is_pattern: 'true' })],
    policy({ subname: `'*.a'`, is_pattern: 'true', perm_write: 'true' }),
  ],
  ['the default policy is deleted before others', 'policies_default_first', policy(), OF_TYPE, remove],
  [
    'it is deleted after the others',
    undefined,
    policy(),
    OF_TYPE,
    `delete from policies where token_id = :token and type = 'A'`,
    remove,
  ],
  ['it is made specific', 'policies_default_first', policy(), `update policies set type = 'A' where ${FALLBACK}`],
  ['it is moved away from others', 'policies_default_first', policy(), OF_TYPE, move],
  ['it is moved to a token that has one', 'policies_scope', policy(), policy({}, ':other'), move],
  ['auto_policy is set without it', 'policies_auto_policy', AUTO],
  ['auto_policy is set, and it permits', 'policies_auto_policy', policy({ perm_write: 'true' }), AUTO],
  ['it permits while auto_policy is set', 'policies_auto_policy', policy(), AUTO, permit],
  ['it is deleted while auto_policy is set', 'policies_auto_policy', policy(), AUTO, remove],
  ['it is deleted when auto_policy is not', undefined, policy(), AUTO, set('auto_policy = false'), remove],
  [
    'a policy names a domain of another account than the one that the token acts as',
    'policies_own_domain',
    ...[BIND, policy(), policy({ domain_id: ':domainOfBound' }), policy({ domain_id: ':domain' })],
  ],
]

for (const [what, constraint, ...statements] of CASES) {
  test(`if ${what}, that ${constraint === undefined ? 'is accepted' : `breaks ${constraint}`}`, async (t) => {
    const filled = await fill()
    const outcomes = []
    for (const sql of statements) outcomes.push(await broken(tables().pool.query(filled(sql))))
    t.deepEqual(outcomes, [...statements.slice(1).map(() => undefined), constraint])
  })
}

for (const end of ['owner', 'bound']) {
  test(`a bound token is deleted with its account: ${end}`, async (t) => {
    const filled = await fill()
    for (const sql of [BIND, 'delete from domains where id in (:domain, :domainOfBound)']) {
      await tables().pool.query(filled(sql))
    }
    await tables().pool.query(filled(`delete from accounts where id = :${end}`))
    t.is((await tables().pool.query(filled('select from tokens where id = :token'))).rowCount, 0)
  })
}

test('a token with auto_policy and its default policy can be made in one transaction', async (t) => {
  const account = await tables().account()
  t.is(await broken(tables().token(account, { auto_policy: true })), 'policies_auto_policy')
  const client = await tables().pool.connect()
  await client.query('begin')
  const token = await insert(client, 'tokens', {
    ...{ created: 'now', owner_id: account, secret_hash: Buffer.from('auto'), auto_policy: true },
  })
  await insert(client, 'policies', { created: 'now', token_id: token })
  t.is(await broken(client.query('commit')), undefined)
  client.release()
})

/** Statements of two concurrent transactions, after those that make what they change. */
const RACES: [what: string, constraint: string, before: string[], first: string, second: string][] = [
  ['two default policies are added', 'policies_scope', [], policy(), policy({ perm_write: 'true' })],
  ['a specific policy is added, and the default one deleted', 'policies_default_first', [policy()], OF_TYPE, remove],
  ['the default policy is deleted, and a specific one added', 'policies_default_first', [policy()], remove, OF_TYPE],
  ['auto_policy is set, and the default policy permits', 'policies_auto_policy', [policy()], AUTO, permit],
]

for (const [what, constraint, before, first, second] of RACES) {
  test(`if at the same time ${what}, that breaks ${constraint}`, async (t) => {
    const filled = await fill()
    for (const sql of before) await tables().pool.query(filled(sql))
    const outcome = await brokenAcross(
      tables().pool,
      (client) => client.query(filled(first)),
      (client) => client.query(filled(second)),
    )
    t.is(outcome, constraint)
  })
}

test('uncommitted additions and deletions of policies do not block the use of the token', async (t) => {
  const filled = await fill()
  for (const sql of [policy(), policy({ domain_id: ':domain' })]) await tables().pool.query(filled(sql))
  const client = await tables().pool.connect()
  await client.query('begin')
  await client.query(filled(OF_TYPE))
  await client.query(filled('delete from domains where id = :domain'))
  const use = await tables().pool.connect()
  await use.query(`set lock_timeout = '100ms'`)
  t.is(await broken(use.query(filled(set('last_used = now()')))), undefined)
  await client.query('rollback')
  for (const connection of [client, use]) connection.release(true)
})
