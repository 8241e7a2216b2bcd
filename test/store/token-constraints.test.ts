import test from 'ava'
import { broken, brokenAcross, insert, type Row, useTables } from './tables.ts'

// What the API shows of the rules of policies (contract §6.3), test/api/tokens/token-policies.test.ts has.

const tables = useTables()

/** Adds a policy to a token; by default the default policy, without `perm_write`. */
function policy(tokenId: string, members: Row = {}): Promise<string> {
  return insert(tables().pool, 'policies', { created: 'now', token_id: tokenId, ...members })
}

function sql(text: string, ...values: unknown[]): Promise<unknown> {
  return tables().pool.query(text, values)
}

async function newToken(members: Row = {}): Promise<{ account: string; token: string }> {
  const account = await tables().account()
  return { account, token: await tables().token(account, members) }
}

const TOKENS: [members: Row, constraint: string | undefined][] = [
  [{ name: 'n'.repeat(178) }, undefined],
  [{ name: 'n'.repeat(179) }, 'tokens_name'],
  [{ max_age: '0' }, undefined],
  [{ max_age: '-1 second' }, 'tokens_max_age'],
  [{ max_unused_period: '-1 second' }, 'tokens_max_unused_period'],
]

for (const [members, constraint] of TOKENS) {
  const json = JSON.stringify(members)
  test(`tokens: ${json.slice(0, 40)} (${json.length}) ${constraint === undefined ? 'is accepted' : `breaks ${constraint}`}`, async (t) => {
    t.is(await broken(newToken(members)), constraint)
  })
}

test('tokens: secrets are unique', async (t) => {
  const secret_hash = Buffer.from('the same')
  await newToken({ secret_hash })
  t.is(await broken(newToken({ secret_hash })), 'tokens_secret_hash')
})

test('tokens: a token cannot be bound to its owner', async (t) => {
  const account = await tables().account()
  t.is(await broken(tables().token(account, { user_override_id: account })), 'tokens_override_not_owner')
})

test('tokens: a bound token has neither perm_manage_tokens nor an MFA state', async (t) => {
  const bound = await tables().account()
  for (const [members, constraint] of [
    [{ perm_manage_tokens: true }, 'tokens_override_no_management'],
    [{ mfa: false }, 'tokens_override_no_mfa'],
    [{ mfa: true }, 'tokens_override_no_mfa'],
    [{}, undefined],
  ] as const) {
    t.is(await broken(newToken({ user_override_id: bound, ...members })), constraint)
    const { token } = await newToken(members)
    t.is(await broken(sql('update tokens set user_override_id = $1 where id = $2', bound, token)), constraint)
  }
})

test('tokens: once bound, a token stays bound to the same account', async (t) => {
  const [bound, other] = [await tables().account(), await tables().account()]
  const { token } = await newToken()
  t.is(await broken(sql('update tokens set user_override_id = $1 where id = $2', bound, token)), undefined)
  for (const changed of [other, null]) {
    const update = sql('update tokens set user_override_id = $1 where id = $2', changed, token)
    t.is(await broken(update), 'tokens_override_immutable')
  }
  t.is(await broken(sql('update tokens set user_override_id = $1 where id = $2', bound, token)), undefined)
  t.is(await broken(sql(`update tokens set name = 'other' where id = $1`, token)), undefined)
})

test('tokens: a token whose policies name a domain cannot be bound', async (t) => {
  const { account, token } = await newToken()
  await policy(token)
  await policy(token, { domain_id: await tables().domain(account) })
  const bound = await tables().account()
  const update = sql('update tokens set user_override_id = $1 where id = $2', bound, token)
  t.is(await broken(update), 'tokens_bind_without_domains')
})

for (const end of ['owner', 'bound account']) {
  test(`tokens: a bound token is deleted with its ${end}`, async (t) => {
    const bound = await tables().account()
    const { account, token } = await newToken({ user_override_id: bound })
    await sql('delete from accounts where id = $1', end === 'owner' ? account : bound)
    t.is((await tables().pool.query('select from tokens where id = $1', [token])).rowCount, 0)
  })
}

test('policies: a pattern is a text, and another policy than the subname of the same text', async (t) => {
  const { token } = await newToken()
  await policy(token)
  t.is(await broken(policy(token, { type: 'A', is_pattern: true })), 'policies_pattern')
  await policy(token, { subname: '*.a' })
  await policy(token, { subname: '*.a', is_pattern: true })
  t.is(await broken(policy(token, { subname: '*.a', is_pattern: true, perm_write: true })), 'policies_scope')
})

test('policies: the default policy cannot be deleted, made specific or moved while there are others', async (t) => {
  const [{ token }, other] = [await newToken(), await newToken()]
  const fallback = await policy(token)
  await policy(token, { type: 'A' })
  t.is(await broken(sql('delete from policies where id = $1', fallback)), 'policies_default_first')
  t.is(await broken(sql(`update policies set subname = 'a' where id = $1`, fallback)), 'policies_default_first')
  const move = sql('update policies set token_id = $1 where id = $2', other.token, fallback)
  t.is(await broken(move), 'policies_default_first')
  await sql('delete from policies where token_id = $1 and type is not null', token)
  t.is(await broken(sql('delete from policies where id = $1', fallback)), undefined)
})

test('policies: auto_policy requires a default policy without perm_write', async (t) => {
  const { token } = await newToken()
  const set = () => sql('update tokens set auto_policy = true where id = $1', token)
  t.is(await broken(set()), 'policies_auto_policy')
  const fallback = await policy(token, { perm_write: true })
  t.is(await broken(set()), 'policies_auto_policy')
  await sql('update policies set perm_write = false where id = $1', fallback)
  t.is(await broken(set()), undefined)
  t.is(await broken(sql('update policies set perm_write = true where id = $1', fallback)), 'policies_auto_policy')
  t.is(await broken(sql('delete from policies where id = $1', fallback)), 'policies_auto_policy')
  await sql('update tokens set auto_policy = false where id = $1', token)
  t.is(await broken(sql('delete from policies where id = $1', fallback)), undefined)
})

test('policies: a token with auto_policy and its default policy can be made in one transaction', async (t) => {
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

test('policies: the default policy cannot be deleted while a specific one is being added', async (t) => {
  const { token } = await newToken()
  const fallback = await policy(token)
  const outcome = await brokenAcross(
    tables().pool,
    (client) => insert(client, 'policies', { created: 'now', token_id: token, type: 'A' }),
    (client) => client.query('delete from policies where id = $1', [fallback]),
  )
  t.is(outcome, 'policies_default_first')
})

test('policies: they can name only domains of the account that the token acts as', async (t) => {
  const bound = await tables().account()
  const { account, token } = await newToken({ user_override_id: bound })
  await policy(token)
  t.is(await broken(policy(token, { domain_id: await tables().domain(account) })), 'policies_own_domain')
  t.is(await broken(policy(token, { domain_id: await tables().domain(bound) })), undefined)
})

test('policies: two concurrent transactions cannot add two default policies', async (t) => {
  const { token } = await newToken()
  const outcome = await brokenAcross(
    tables().pool,
    (client) => insert(client, 'policies', { created: 'now', token_id: token }),
    (client) => insert(client, 'policies', { created: 'now', token_id: token, perm_write: true }),
  )
  t.is(outcome, 'policies_scope')
})

test('policies: a specific one cannot be added while the default one is being deleted', async (t) => {
  const { token } = await newToken()
  const fallback = await policy(token)
  const outcome = await brokenAcross(
    tables().pool,
    (client) => client.query('delete from policies where id = $1', [fallback]),
    (client) => insert(client, 'policies', { created: 'now', token_id: token, type: 'A' }),
  )
  t.is(outcome, 'policies_default_first')
})

test('policies: the default one cannot become permissive while auto_policy is being switched on', async (t) => {
  const { token } = await newToken()
  const fallback = await policy(token)
  const outcome = await brokenAcross(
    tables().pool,
    (client) => client.query('update tokens set auto_policy = true where id = $1', [token]),
    (client) => client.query('update policies set perm_write = true where id = $1', [fallback]),
  )
  t.is(outcome, 'policies_auto_policy')
})

test('policies: uncommitted additions and deletions of policies do not block the use of the token', async (t) => {
  const { account, token } = await newToken()
  const [old, young] = [await tables().domain(account), await tables().domain(account)]
  await policy(token)
  await policy(token, { domain_id: old })
  const client = await tables().pool.connect()
  await client.query('begin')
  await insert(client, 'policies', { created: 'now', token_id: token, domain_id: young, perm_write: true })
  await client.query('delete from domains where id = $1', [old])
  const use = await tables().pool.connect()
  await use.query(`set lock_timeout = '100ms'`)
  t.is(await broken(use.query('update tokens set last_used = now() where id = $1', [token])), undefined)
  await client.query('rollback')
  for (const connection of [client, use]) connection.release(true)
})

test('policies: a default policy cannot be made specific, or moved to a token that has one', async (t) => {
  const [{ token }, other] = [await newToken(), await newToken()]
  const fallback = await policy(token)
  await policy(other.token)
  t.is(await broken(sql(`update policies set type = 'A' where id = $1`, fallback)), 'policies_default_first')
  const move = sql('update policies set token_id = $1 where id = $2', other.token, fallback)
  t.is(await broken(move), 'policies_scope')
})
