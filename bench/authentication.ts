import { type Db, openDatabase, query } from '../src/store/database.ts'
import { medians, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

const RUNS = 2_000
const WRITES = 600
const TOKENS = 100_000
const POLICIES = 1_000
const TRIES = 10_000

/** Authentication with few and many tokens and policies, also for writes; and whether its time reveals secrets. */
export async function authentication({ api, send, read, databaseUrl }: Setup): Promise<void> {
  const db = openDatabase(databaseUrl, 1)
  const [owner] = await query<{ id: string }>(db, 'select owner_id as id from tokens')
  await addToken(db, owner!.id, 'plain')
  await api('POST', '/domains/', { name: zone(0) })
  await api('POST', `/domains/${zone(0)}/rrsets/`, rrset('host2', 0))
  // The first runs warm up.
  await medians(RUNS, () => read('/', 'plain'))
  const [empty] = await medians(RUNS, () => read('/', 'plain'))
  state('index, 2 tokens, p50', `${empty!.toFixed(3)} ms`)

  await query(
    db,
    `insert into tokens (created, owner_id, secret_hash)
     select now(), :owner, sha256(convert_to('token' || n, 'UTF8')) from generate_series(1, cast(:count as integer)) as n`,
    { owner: owner!.id, count: TOKENS },
  )
  const restricted = await addToken(db, owner!.id, 'restricted')
  await query(db, 'insert into policies (created, token_id) values (now(), :id)', { id: restricted })
  await query(
    db,
    `insert into policies (created, token_id, domain_id, subname, perm_write)
     select now(), :id, domains.id, 'host' || n, true from domains, generate_series(2, cast(:count as integer)) as n
     where name = :name`,
    { id: restricted, count: POLICIES, name: zone(0) },
  )
  const patterned = await addToken(db, owner!.id, 'patterned')
  await query(db, 'insert into policies (created, token_id) values (now(), :id)', { id: patterned })
  // Twenty shapes, as many as a token can have. Only the last one matches the name that is written.
  await query(
    db,
    `insert into policies (created, token_id, domain_id, subname, is_pattern, perm_write)
     select now(), cast(:id as uuid), domains.id,
       case n when 1 then '*' else repeat('a.', cast(n % 19 as integer)) || '**.host' || n end, true, true
     from domains, generate_series(1, cast(:count as integer)) as n where name = :name`,
    { id: patterned, count: POLICIES, name: zone(0) },
  )
  await addMember(db, owner!.id, 'member')
  await query(db, 'analyze')
  await db.end()

  const [plain, many] = await medians(
    RUNS,
    () => read('/', 'plain'),
    () => read('/', 'restricted'),
  )
  state(`index, ${TOKENS} tokens, p50`, `${plain!.toFixed(3)} ms`)
  state('  ratio', (plain! / empty!).toFixed(2))
  state(`index, a token with ${POLICIES} policies, p50`, `${many!.toFixed(3)} ms`)
  state('  ratio', (many! / empty!).toFixed(2))

  const [ordinary, member] = await medians(
    RUNS,
    () => read('/', 'plain'),
    () => read('/', 'member'),
  )
  state('index, the login of a member, p50', `${member!.toFixed(3)} ms`)
  state('  ratio', (member! / ordinary!).toFixed(2))

  let writes = 0
  const write = (secret: string) => async () => {
    const status = await send(
      'PATCH',
      `/domains/${zone(0)}/rrsets/host2/A/`,
      JSON.stringify({ records: [address(++writes)] }),
      secret,
    )
    if (status !== 200) throw new Error(`a write was answered with ${status}`)
  }
  await medians(WRITES, write('plain'))
  const [free, authorised, byPattern] = await medians(WRITES, write('plain'), write('restricted'), write('patterned'))
  state('one-RRset change, p50', `${free!.toFixed(3)} ms`)
  state(`by a token with ${POLICIES} policies on the domain`, `${authorised!.toFixed(3)} ms`)
  state('  ratio', (authorised! / free!).toFixed(2))
  state(`by a token with ${POLICIES} patterns on the domain`, `${byPattern!.toFixed(3)} ms`)
  state('  ratio', (byPattern! / free!).toFixed(2))

  // The times must be equal: both are rejected, but the first secret shares most characters with a stored one.
  const [near, far] = await medians(
    TRIES,
    (i) => read('/domains/', `token${i + 1}x`),
    (i) => read('/domains/', String(i).padStart(28, 'z')),
  )
  state('unknown secret that begins like a known one', `${near!.toFixed(3)} ms`)
  state('unknown secret unlike any known one', `${far!.toFixed(3)} ms`)
}

/** A login with which another account acts for this one. */
async function addMember(db: Db, account: string, secret: string): Promise<void> {
  await query(
    db,
    `with person as (
       insert into accounts (created, email, state, credentials_changed)
       values (now(), 'member@bench.test', 'active', now()) returning id
     ), member as (
       insert into members (created, account_id, person_id, email, role, confined, source, accepted)
       select now(), :account, id, '', 'editor', false, 'invitation', now() from person returning id, person_id
     )
     insert into tokens (created, owner_id, secret_hash, mfa, member_id)
     select now(), person_id, sha256(convert_to(:secret, 'UTF8')), true, id from member`,
    { account, secret },
  )
}

async function addToken(db: Db, owner: string, secret: string): Promise<string> {
  const [token] = await query<{ id: string }>(
    db,
    `insert into tokens (created, owner_id, secret_hash)
     values (now(), :owner, sha256(convert_to(:secret, 'UTF8'))) returning id`,
    { owner, secret },
  )
  return token!.id
}
