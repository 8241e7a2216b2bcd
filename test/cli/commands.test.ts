import test from 'ava'
import { decrypt } from '../../src/service/secrets/encryption.ts'
import { query } from '../../src/store/database.ts'
import { Client } from '../support/clients/client.ts'
import { letterTo } from '../support/clients/mails.ts'
import { addMember } from '../support/clients/members.ts'
import { canLogIn, person, resetLink } from '../support/clients/people.ts'
import { addFactor, addPasskey, addToken } from '../support/clients/tokens.ts'
import { answersOf, commandsOn, runWith } from '../support/command-line.ts'
import { useService } from '../support/harness.ts'
import { runOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// Contract §15.2: the operator's commands, beside a running service. Most run in this process, because starting another
// takes far longer than the command.

const service = useService()

let api: Client

test.before('an account', async () => {
  ;({ api } = await service().account())
})

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const zoneplane = commandsOn(() => service().system)
const { json, refusal } = answersOf(zoneplane)

async function newToken(email: string, ...options: string[]): Promise<{ id: string; token: string }> {
  return (await json('token', 'create', email, ...options)) as { id: string; token: string }
}

test.serial('what waits can be listed, made due, and dropped', async (t) => {
  const { db } = service().system
  await query(
    db,
    `insert into work (kind, subject, due, created, attempts, last_error, payload) values
       ('ping', 'a.example', '2050-01-31T12:00Z', '2049-01-31T12:00Z', 2, 'timeout', '{"secret": "x"}'),
       ('ping', 'b.example', null, '2049-01-31T12:00Z', 9, 'gone', null),
       ('pong', 'c.example', '2050-02-28T12:00Z', '2049-01-31T12:00Z', 0, null, null)`,
  )
  t.deepEqual(await zoneplane('work', 'list', '--kind', 'ping'), [
    true,
    'kind  subject    account  due                  attempts  error\n' +
      'ping  a.example           2050-01-31 12:00:00  2         timeout\n' +
      'ping  b.example           given up             9         gone\n',
  ])
  t.deepEqual(((await json('work', 'list')) as unknown[]).at(-1), {
    ...{ kind: 'ping', subject: 'b.example', account: null, due: null, claimed: null },
    ...{ created: '2049-01-31T12:00:00.000000Z', attempts: 9, error: 'gone' },
  })
  t.deepEqual(await json('work', 'run', '--kind', 'ping'), { due: 1 })
  t.like(((await json('work', 'list', '--kind', 'pong')) as unknown[])[0], { due: '2050-02-28T12:00:00.000000Z' })
  t.deepEqual(await json('work', 'drop', '--kind', 'ping'), { dropped: 2 })
  t.deepEqual(await json('work', 'drop', '--kind', 'pong'), { dropped: 1 })
  t.deepEqual(await zoneplane('work', 'list', '--kind', 'ping'), [true, 'Nothing is to be done.\n'])
})

test.serial('an account can be created, listed, limited, disabled, enabled and deleted', async (t) => {
  const email = 'life@example.net'
  const made = (await json('account', 'create', email, '--domains', '2')) as Record<string, unknown>
  t.regex(String(made['id']), new RegExp(`^${UUID}$`))
  const limits = ['limit_domains', 'daily_rate', 'limit_history_octets']
  t.deepEqual(Object.keys(made), ['id', 'email', 'state', 'created', 'domains', ...limits])
  t.like(made, { email, state: 'active', domains: 0, limit_domains: 2, daily_rate: null })
  t.is(await refusal('account', 'create', 'Life@example.net'), 'Account Life@example.net already exists.')

  const { token } = await newToken(email, '--create-domain')
  const api = service().clientOf(token)
  t.is((await api.post('/domains/', { name: 'life.example' })).status, 201)

  const [succeeded, printed] = await zoneplane('account', 'list')
  t.true(succeeded)
  t.regex(printed, /^EMAIL +STATE +DOMAINS +DAILY RATE +HISTORY OCTETS +CREATED$/m)
  t.regex(printed, /^life@example\.net +active +1\/2 +default +default +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/m)
  t.true(((await json('account', 'list')) as { id: string }[]).some(({ id }) => id === made['id']))

  t.like(await json('account', 'set-limit', email, '--domains', '1'), { limit_domains: 1, daily_rate: null })
  t.is((await api.post('/domains/', { name: 'second.example' })).status, 403)
  t.like(await json('account', 'set-limit', email, '--domains', 'none', '--daily-rate', '50'), {
    limit_domains: null,
    daily_rate: 50,
  })
  t.like(await json('account', 'set-limit', email, '--daily-rate', 'default', '--history-octets', '5000000000'), {
    limit_domains: null,
    daily_rate: null,
    limit_history_octets: 5_000_000_000,
  })
  t.like(await json('account', 'set-limit', email, '--history-octets', 'default'), { limit_history_octets: null })

  t.like(await json('account', 'disable', email), { state: 'disabled' })
  t.is((await api.get('/domains/')).text, '{"detail":"User inactive or deleted."}')
  t.like(await json('account', 'enable', email), { state: 'active' })
  t.is((await api.get('/domains/')).status, 200)

  t.is(await refusal('account', 'delete', email), 'life@example.net has 1 domain; nothing was deleted.')
  t.is((await api.get('/domains/life.example/')).status, 200)
  t.deepEqual(await zoneplane('account', 'delete', email, '--with-domains'), [
    true,
    'life.example: deleted\nlife@example.net: deleted\n',
  ])
  t.is((await api.get('/domains/')).text, '{"detail":"Invalid token."}')
  t.is((await service().pdns('GET', '/zones/life.example.')).status, 404)
  t.is(await refusal('account', 'disable', email), 'Account life@example.net does not exist.')
})

test.serial('if PowerDNS does not delete its zone, an account stays disabled and keeps the domain', async (t) => {
  const email = 'stays@example.net'
  await json('account', 'create', email)
  const { token } = await newToken(email, '--create-domain')
  t.is((await service().clientOf(token).post('/domains/', { name: 'stays.example' })).status, 201)
  service().proxy.fail(({ method, path }) => (method === 'DELETE' && path.includes('stays') ? { refuse: 500 } : 'pass'))
  const args = ['account', 'delete', email, '--with-domains']
  const [succeeded, printed] = await zoneplane(...args)
  service().proxy.heal()
  t.false(succeeded)
  t.regex(printed, /^zoneplane: /m)
  const [account] = await query<{ state: string; domains: number }>(
    service().system.db,
    'select state, domains from accounts where email = :email',
    { email },
  )
  t.deepEqual(account, { state: 'disabled', domains: 1 })
})

test.serial('an account can be disabled without PowerDNS', async (t) => {
  await json('account', 'create', 'urgent@example.net')
  const env = environmentFor(service().backends, { PDNS_API_URL: 'http://127.0.0.1:1' })
  const [succeeded, printed] = await runWith(env, 'account', 'disable', 'urgent@example.net')
  t.true(succeeded)
  t.regex(printed, /^urgent@example\.net +disabled /m)
})

test.serial('a token can be created, is shown once, and can be listed and revoked', async (t) => {
  const email = 'tokens@example.net'
  await json('account', 'create', email)
  const [succeeded, printed] = await zoneplane('token', 'create', email, '--name', 'router', '--manage-tokens')
  t.true(succeeded)
  const [, id, secret] = new RegExp(`^id {6}(${UUID})\nsecret {2}([1-9A-HJ-NP-Za-km-z]{28})\n$`).exec(printed)!
  t.is((await service().clientOf(secret!).get('/domains/')).status, 200)

  const list = (await json('token', 'list', email)) as Record<string, unknown>[]
  t.is(list.length, 1)
  t.like(list[0], {
    id,
    owner: email,
    user_override: null,
    mfa: null,
    name: 'router',
    perm_create_domain: false,
    perm_delete_domain: false,
    perm_manage_tokens: true,
  })
  t.regex(String(list[0]!['last_used']), /^20.*\.\d{6}Z$/)
  const [, shown] = await zoneplane('token', 'list', email)
  t.regex(shown, new RegExp(`^${id!} +tokens@example.net +manage +20\\S+ \\S+ +router$`, 'm'))
  t.false(shown.includes(secret!) || JSON.stringify(list).includes(secret!))

  t.deepEqual(await zoneplane('token', 'revoke', id!), [true, `${id!}: revoked\n`])
  t.is((await service().clientOf(secret!).get('/domains/')).status, 401)
  t.is(await refusal('token', 'revoke', id!), `Token ${id!} does not exist.`)
  t.is(await refusal('token', 'revoke', 'x'), 'Token x does not exist.')
})

test.serial('control characters in the name of a token do not reach the terminal', async (t) => {
  const email = 'escapes@example.net'
  await json('account', 'create', email)
  // Clears the screen, and looks like another row. The last one is the C1 form of ESC [, which JSON does not escape.
  await zoneplane('token', 'create', email, '--name', 'a\u001b[2J\nb\u009b31m')
  const [, shown] = await zoneplane('token', 'list', email)
  t.regex(shown, /^ID .*\n.* a\\u001b\[2J\\u000ab\\u009b31m\n$/)
  const [, printed] = await zoneplane('token', 'list', email, '--json')
  t.regex(printed, /^\P{Cc}+\n$/u)
  t.like(JSON.parse(printed), [{ name: 'a\u001b[2J\nb\u009b31m' }])
})

test.serial('a token can be bound to another account once, under the rules of binding', async (t) => {
  const [owner, bound, third] = ['owner@example.net', 'bound@example.net', 'third@example.net'] as const
  for (const email of [owner, bound, third]) await json('account', 'create', email)
  const { id, token } = await newToken(owner, '--create-domain')
  t.is(await refusal('token', 'bind', id, owner), 'A token cannot be bound to its owner.')
  t.like(await json('token', 'bind', id, bound), { owner, user_override: bound })
  t.is((await service().clientOf(token).post('/domains/', { name: 'bound.example' })).status, 201)
  t.like(await json('domain', 'list', bound), [{ name: 'bound.example', owner: bound }])
  t.is(await refusal('token', 'bind', id, third), 'The token is already bound to bound@example.net, permanently.')
  for (const email of [owner, bound]) t.like(await json('token', 'list', email), [{ id, user_override: bound }])

  const manager = await newToken(owner, '--manage-tokens')
  const login = await newToken(owner)
  await query(service().system.db, 'update tokens set mfa = false where id = :id', { id: login.id })
  const policed = await newToken(bound)
  // Each policy is checked when it is inserted, so the default policy has to be the first.
  const policy = `insert into policies (created, token_id, domain_id)
    values (now(), :id, (select id from domains where name = :name))`
  for (const name of [null, 'bound.example']) await query(service().system.db, policy, { id: policed.id, name })
  for (const [token, why] of [
    [manager, 'perm_manage_tokens and user_override are mutually exclusive.'],
    [login, 'A login token cannot be bound.'],
    [policed, 'A token whose policies name domains cannot be bound.'],
    [{ id: '00000000-0000-0000-0000-000000000000' }, 'Token 00000000-0000-0000-0000-000000000000 does not exist.'],
  ] as const) {
    t.is(await refusal('token', 'bind', token.id, third), why)
  }
})

test.serial('a domain that is reserved for the operator is created, and its account can write to it', async (t) => {
  const email = 'operator@example.net'
  await zoneplane('account', 'create', email)
  const api = service().clientOf((await newToken(email, '--create-domain')).token)
  // The service's name servers are in it.
  const name = 'zoneplane.test'
  t.is((await api.post('/domains/', { name })).status, 400)
  t.deepEqual(await json('domain', 'create', name, '--account', email), { name, owner: email })
  const rrset = { subname: 'ns1', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  t.is((await api.post(`/domains/${name}/rrsets/`, rrset)).status, 201)
  t.is(await refusal('domain', 'create', name, '--account', email), 'domain with this name already exists.')
  await zoneplane('account', 'set-limit', email, '--domains', '1')
  t.is(
    await refusal('domain', 'create', 'second.example', '--account', email),
    'Domain limit exceeded. Please contact support to create additional domains.',
  )
  t.is(
    await refusal('domain', 'create', 'second.example', '--account', 'absent@example.net'),
    'Account absent@example.net does not exist.',
  )
})

test.serial('a new minimum TTL of a domain applies to later writes', async (t) => {
  t.is((await api.post('/domains/', { name: 'ttl.example' })).status, 201)
  t.deepEqual(await zoneplane('domain', 'set-minimum-ttl', 'ttl.example', '5'), [true, 'ttl.example: minimum TTL 5\n'])
  const rrset = { subname: 'www', type: 'A', ttl: 5, records: ['192.0.2.1'] }
  t.is((await api.post('/domains/ttl.example/rrsets/', rrset)).status, 201)
  t.like((await api.get('/domains/ttl.example/')).json, { minimum_ttl: 5 })
  t.is(await refusal('domain', 'set-minimum-ttl', 'absent.example', '5'), 'There is no domain absent.example.')
  t.is(await refusal('domain', 'set-denial', 'absent.example', 'nsec'), 'There is no domain absent.example.')
  const [, printed] = await zoneplane('domain', 'list')
  t.regex(printed, /^NAME +ACCOUNT +STATE +MINIMUM TTL +CREATED$/m)
  t.regex(printed, /^ttl\.example +\S+@example\.test +served +5 +20/m)
})

for (const [args, usage, line] of [
  [['--help'], '[options] [command]', /^ {2}account +create, list/m],
  [['-h'], '[options] [command]', /^ {2}reconcile /m],
  [['account', '--help'], 'account [options] [command]', /^ {2}set-limit \[options\] <email> +set the limits/m],
  [['account', 'create', '--help'], 'account create [options] <email>', /^ {2}--daily-rate <number> +how many/m],
  [
    ['domain', 'set-minimum-ttl', '-h'],
    'domain set-minimum-ttl [options] <name> <seconds>',
    /^ {2}--json +print JSON$/m,
  ],
] as const) {
  test.serial(`help is printed: ${args.join(' ')}`, async (t) => {
    const [succeeded, printed] = await zoneplane(...args)
    t.true(succeeded)
    t.true(printed.startsWith(`Usage: zoneplane ${usage}\n`), printed)
    t.regex(printed, line)
  })
}

test.serial('lost second factors are removed: logins end and need no code, and the owner gets a mail', async (t) => {
  const owner = await person(service())
  const factors = [await addFactor(service(), owner.id), await addFactor(service(), owner.id, { used: false })]
  factors.push(await addPasskey(service(), owner.id))
  const logIn = async () => {
    const { json } = await service().anonymous.post('/auth/login/', owner.credentials)
    const { id, token } = json as { id: string; token: string }
    return { id, api: new Client(service().url, token) }
  }
  const [pending, kept] = [await logIn(), await addToken(service(), owner.id, {})]
  t.is((await pending.api.get('/auth/account/')).status, 403)
  const link = await resetLink(service(), owner)
  const removed = (await json('account', 'remove-factors', owner.email)) as Record<string, string[]>
  t.deepEqual(new Set(removed['factors']), new Set(factors))
  t.deepEqual(removed['logins'], [pending.id])
  t.is((await letterTo(service().system, owner.email, 2)).subject, 'The second factors of your account were removed')
  t.is((await pending.api.get('/auth/account/')).status, 401)
  t.is((await kept.api.get('/domains/')).status, 200)
  t.is((await service().anonymous.post(link.path, { new_password: 'another password' })).status, 409)
  t.is((await (await logIn()).api.get('/auth/account/')).status, 200)
  t.is(
    await refusal('account', 'remove-factors', owner.email),
    `${owner.email} has no second factor; nothing was changed.`,
  )
})

test.serial(
  'an account shows how its owner signs in; the operator ends its links with identities, and its logins',
  async (t) => {
    const owner = await person(service())
    const [login, kept] = [await addToken(service(), owner.id, { mfa: false }), await addToken(service(), owner.id, {})]
    const { db } = service().system
    const sql = `insert into identities (issuer, sub, account_id, created, last_used)
    values ('https://login.example.net', 'a', :id, now(), now())`
    await query(db, sql, { id: owner.id })
    await addPasskey(service(), owner.id)
    const [, printed] = await zoneplane('account', 'show', owner.email)
    t.regex(printed, /^signs in with: password, single sign-on, passkey; second factors: 1$/m)
    t.regex(printed, /^https:\/\/login\.example\.net +a /m)
    t.deepEqual(await json('account', 'unlink', owner.email), {
      account: owner.email,
      identities: 1,
      logins: [login.id],
    })
    t.is((await login.api.get('/auth/token/')).status, 401)
    t.is((await kept.api.get('/auth/token/')).status, 200)
    t.is(
      await refusal('account', 'unlink', owner.email),
      `${owner.email} is linked with no identity; nothing was changed.`,
    )
  },
)

test.serial('changes by the operator are events in the log of the command', async (t) => {
  const email = 'logged@example.net'
  const { id } = (await json('account', 'create', email)) as { id: string }
  const { id: token } = (await json('token', 'create', email)) as { id: string }
  const env = environmentFor(service().backends)
  for (const [work, expected] of [
    // The program itself first, then the same functions in this process.
    [() => runOurs(['account', 'disable', email], env), { event: 'account_changed', account: id, by: 'operator' }],
    [() => logOf('token', 'revoke', token), { event: 'token_deleted', account: id, token, by: 'operator' }],
    [() => logOf('account', 'delete', email), { event: 'account_deleted', account: id, by: 'operator' }],
  ] as const) {
    const [code, printed] = await work()
    t.is(code, 0)
    const lines = printed.split('\n').filter((line) => line.startsWith('{'))
    t.is(lines.length, 1)
    const { timestamp, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>
    t.is(typeof timestamp, 'string')
    t.deepEqual(line, { level: 'info', message: 'event', ...expected })
  }
})

/** The exit code of a command, and what it has logged. */
async function logOf(...args: string[]): Promise<[number, string]> {
  const before = service().logged().length
  const [succeeded] = await zoneplane(...args)
  return [succeeded ? 0 : 1, service().logged().slice(before)]
}

test.serial('stored secrets can be encrypted again', async (t) => {
  const { id } = (await json('account', 'create', 'factors@example.net')) as { id: string }
  const factor = await addFactor(service(), id)
  const stored = async () => {
    const sql = 'select secret from totp_factors where id = :factor'
    return (await query<{ secret: Buffer }>(service().system.db, sql, { factor }))[0]!.secret
  }
  const place = { table: 'totp_factors', owner: factor } as const
  const before = { ...place, secret: await stored() }
  const [{ keys } = { keys: 0 }] = await query<{ keys: number }>(
    service().system.db,
    'select count(*) as keys from keys',
  )
  const text = `second factors: 1 secrets encrypted\nDNSSEC keys: ${keys} encrypted\ntransfer keys: 0 encrypted\nTSIG keys of tokens: 0 encrypted\nsecrets of webhooks: 0 encrypted\n`
  t.deepEqual(await zoneplane('encrypt-again'), [true, text])
  const after = { ...place, secret: await stored() }
  t.notDeepEqual(after.secret, before.secret)
  t.deepEqual(decrypt(service().system, after), decrypt(service().system, before))
})

test.serial('without an environment the program reports what it needs, and still prints its help', async (t) => {
  const [code, printed] = await runOurs(['account', 'list'], {})
  t.is(code, 1)
  t.regex(printed, /^zoneplane: .*DATABASE_URL/)
  const [helped, help] = await runOurs(['--help'], {})
  t.is(helped, 0)
  t.true(help.startsWith('Usage: zoneplane [options] [command]\n'), help)
})

test.serial('members are added, listed and removed; an account is handed over; mails tell both', async (t) => {
  const [owner, member] = [await person(service()), await person(service())]
  t.like(await json('member', 'add', owner.email, member.email, '--role', 'editor'), {
    ...{ email: member.email, role: 'editor', domains: null, state: 'active', source: 'operator' },
  })
  t.like(((await json('member', 'list', owner.email)) as object[])[0], { email: member.email, state: 'active' })
  t.regex((await letterTo(service().system, owner.email)).text, /The operator has made .* a member of your account/)
  t.regex((await letterTo(service().system, member.email)).text, /You may now act for the account/)
  t.is(await refusal('member', 'add', owner.email, 'nobody@example.net'), 'Account nobody@example.net does not exist.')
  t.regex(await refusal('member', 'add', owner.email, member.email), /is that of a member already/)
  t.like(await json('member', 'remove', owner.email, member.email), { email: member.email })
  t.deepEqual(await json('member', 'list', owner.email), [])
  t.is(await refusal('member', 'remove', owner.email, member.email), `${member.email} is no member of ${owner.email}.`)

  t.regex(await refusal('account', 'hand-over', owner.email, member.email), /has an account already/)
  const login = await addToken(service(), owner.id, { mfa: false })
  const kept = await addToken(service(), owner.id, {})
  const link = await resetLink(service(), owner, 3)
  const host = await person(service())
  const { session } = await addMember(service(), host.id, 'viewer', { personId: owner.id })
  await query(
    service().system.db,
    `insert into identities (issuer, sub, account_id, created, last_used)
     values ('https://login.test', 'owner', :id, now(), now())`,
    { id: owner.id },
  )
  t.like(await json('account', 'hand-over', owner.email, 'Heir@example.net'), {
    id: owner.id,
    email: 'Heir@example.net',
  })
  for (const api of [login.api, session]) t.is((await api.get('/domains/')).status, 401)
  t.deepEqual(await query(service().system.db, 'select from identities where account_id = :id', { id: owner.id }), [])
  t.is((await kept.api.get('/domains/')).status, 200)
  t.false(await canLogIn(service(), 'heir@example.net', owner.password))
  t.is((await service().anonymous.post(link.path, { new_password: 'another password' })).status, 409)
  t.is((await letterTo(service().system, owner.email, 4)).subject, 'Your account was handed over')
  t.is((await letterTo(service().system, 'Heir@example.net')).subject, 'You have got an account')
})
