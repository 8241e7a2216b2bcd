import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, newReservedDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client, Options } from '../../support/clients/client.ts'
import { told, update } from '../../support/clients/dyndns.ts'
import { addMember, loginOf } from '../../support/clients/members.ts'
import { amendment, doorOf, ZONES } from '../../support/clients/powerdns.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { commandsOn } from '../../support/command-line.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf } from '../../support/state/history.ts'

// Messages of writes (contract §15.14).

const service = useService({ LOCAL_PUBLIC_SUFFIXES: 'dyn.zoneplane.test' })
const zoneplane = commandsOn(() => service().system)

const why = (text: string): Options => ({ headers: { 'zoneplane-message': text } })
/** As a header of octets: undici sends each character as one. */
const octets = (text: string) => Buffer.from(text).toString('latin1')

let last = 0
/** A record set that was not there before. */
const other = () => rrset({ subname: `h${++last}` })

async function messagesOf(api: Client, domain: string, query = ''): Promise<(string | null)[]> {
  return (await entriesOf(api, domain, query)).map(({ message }) => message)
}

async function newSite(): Promise<{ account: Account; api: Client; domain: string; path: string }> {
  const account = await service().account()
  const domain = await newDomain(account.api)
  return { account, api: account.api, domain, path: `/domains/${domain}/rrsets/` }
}

test('every write that makes an entry gives it its message', async (t) => {
  const { account, api, domain, path } = await newSite()
  const door = doorOf(account)
  const zone = `${ZONES}/${domain}.`
  const writes: [string, (options: Options) => Promise<Answer>][] = [
    ['POST', (options) => api.post(path, rrset(), options)],
    ['bulk', (options) => api.put(path, [other()], options)],
    ['PATCH', (options) => api.patch(`${path}www/A/`, { ttl: 7200 }, options)],
    ['PUT', (options) => api.put(`${path}www/A/`, rrset({ ttl: 1800 }), options)],
    ['DELETE', (options) => api.delete(`${path}www/A/`, options)],
    [
      'undo',
      async (options) =>
        api.post(`/domains/${domain}/history/${(await entriesOf(api, domain))[0]!.id}/undo/`, undefined, options),
    ],
    [
      'restore',
      async (options) =>
        api.post(`/domains/${domain}/restore/`, { version: (await entriesOf(api, domain))[3]!.version }, options),
    ],
    [
      'zone file',
      ({ headers }) =>
        api.send('PUT', `/domains/${domain}/zonefile/`, undefined, {
          headers: { ...headers, 'content-type': 'text/dns' },
          body: `mail.${domain}. 3600 IN A 192.0.2.9\n`,
        }),
    ],
    ['door', (options) => door.patch(zone, { rrsets: [amendment(domain)] }, options)],
    ['rollover', (options) => api.post(`/domains/${domain}/rollover/`, {}, options)],
    ['cancel', (options) => api.delete(`/domains/${domain}/rollover/`, options)],
    ['deletion', (options) => api.delete(`/domains/${domain}/`, options)],
    ['return', (options) => api.post('/domains/', { name: domain, restore: true }, options)],
    ['deletion by the door', (options) => door.delete(zone, options)],
  ]
  for (const [name, write] of writes) {
    const { status, text } = await write(why(`by ${name}`))
    t.true(status < 300, `${name}: ${status} ${text}`)
  }
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  const expected = [...writes.map(([name]) => `by ${name}`).reverse(), null]
  t.deepEqual(await messagesOf(api, domain), [null, ...expected])
  const [entry] = await entriesOf(api, domain, '?search=message:zone')
  t.is(((await api.get(`/domains/${domain}/history/${entry!.id}/`)).json as typeof entry)!.message, 'by zone file')

  const made = await door.post(ZONES, { name: `x${domain}.`, kind: 'Native' }, why('a zone'))
  t.is(made.status, 201)
  t.deepEqual(await messagesOf(api, `x${domain}`), ['a zone'])
  succeeded(await api.post('/domains/', { name: `y${domain}` }, why('a domain')), 201)
  t.deepEqual(await messagesOf(api, `y${domain}`), ['a domain'])
})

test('a message is UTF-8, as it is or encoded, one line of 500 characters', async (t) => {
  const { api, domain, path } = await newSite()
  const long = 'ü𝒳'.repeat(250)
  const cases: [header: string, message: string | null][] = [
    ['Ticket 4711: "move"; it\'s', 'Ticket 4711: "move"; it\'s'],
    [octets('für 日本'), 'für 日本'],
    ["UTF-8''f%C3%BCr%20%e6%97%a5", 'für 日'],
    ["utf-8'de-AT'f%c3%bcr", 'für'],
    ["UTF-8''no ext-value", "UTF-8''no ext-value"],
    ["UTF-8''%E2%80%AEmirrored", '\u202emirrored'],
    [octets(long), long],
    ["UTF-8''%20", null],
    ['', null],
  ]
  for (const [header, message] of cases) {
    succeeded(await api.post(path, other(), why(header)), 201)
    t.is((await messagesOf(api, domain))[0], message, header)
  }
  const before = (await messagesOf(api, domain)).length
  const bad: [header: string, text: string][] = [
    ['f\xfcr', 'Must be UTF-8, as it is or encoded by RFC 8187.'],
    ["UTF-8''%FF", 'Must be UTF-8, as it is or encoded by RFC 8187.'],
    ['a\tb', 'Control characters are not allowed.'],
    ["UTF-8''a%0Ab", 'Control characters are not allowed.'],
    ["UTF-8''a%00b", 'Control characters are not allowed.'],
    ["UTF-8''a%C2%85b", 'Control characters are not allowed.'],
    ["UTF-8''a%E2%80%A8b", 'Control characters are not allowed.'],
    ['x'.repeat(501), 'Ensure this field has no more than 500 characters.'],
  ]
  for (const [header, text] of bad) {
    for (const dryRun of ['false', 'true']) {
      const { status, json } = await api.post(`${path}?dry_run=${dryRun}`, other(), why(header))
      t.deepEqual([status, json], [400, { message: [text] }], header)
    }
  }
  t.is((await messagesOf(api, domain)).length, before)
})

test('a dry run needs no message, and keeps none', async (t) => {
  const { account, domain, path } = await newSite()
  const login = await loginOf(service(), account.id)
  succeeded(await account.api.patch('/auth/account/', { require_message: true }), 200)
  succeeded(await login.api.post(`${path}?dry_run=true`, other()), 200)
  succeeded(await login.api.post(`${path}?dry_run=true`, other(), why('tried')), 200)
  t.deepEqual(await messagesOf(account.api, domain), [null])
})

test('an account can require messages of people, and a token of its own writes', async (t) => {
  const { account, api, domain, path } = await newSite()
  const login = await loginOf(service(), account.id)
  const editor = await addMember(service(), account.id, 'editor')
  const ci = await addToken(service(), account.id, { permManageTokens: true })
  const write = (client: Client, options?: Options) => client.post(path, other(), options)
  const REQUIRED = { message: ['This field is required.'] }

  t.false('require_message' in (succeeded(await api.get('/auth/account/'), 200).json as object))
  t.like(succeeded(await api.patch('/auth/account/', { require_message: true }), 200).json, {
    require_message: true,
  })
  for (const client of [login.api, editor.session]) {
    const { status, json } = await write(client)
    t.deepEqual([status, json], [400, REQUIRED])
    t.is((await client.delete(`/domains/${domain}/`)).status, client === login.api ? 400 : 403)
    succeeded(await write(client, why('said')), 201)
    t.like((await client.get('/auth/token/')).json, { token: { message_required: true } })
  }
  // What makes no entry needs no reason.
  succeeded(await login.api.patch('/auth/account/', { outreach_preference: true }), 200)
  succeeded(await write(ci.api), 201)
  succeeded(await write(api), 201)
  t.false('message_required' in ((await ci.api.get('/auth/token/')).json as { token: object }).token)

  succeeded(await api.patch('/auth/account/', { require_message: false }), 200)
  succeeded(await write(login.api), 201)
  const changed = await api.patch(`/auth/tokens/${ci.id}/`, { message_required: true })
  t.like(succeeded(changed, 200).json, { message_required: true })
  t.deepEqual([(await write(ci.api)).status, (await write(ci.api, why('said'))).status], [400, 201])
  const door = doorOf({ ...account, secret: ci.secret })
  const amended = await door.patch(`${ZONES}/${domain}.`, { rrsets: [amendment(domain)] })
  t.deepEqual([amended.status, amended.json], [422, { error: 'message: This field is required.' }])
  // Routers cannot say why.
  t.deepEqual(told(await update(ci.api, { hostname: domain, myip: '192.0.2.3' })), [200, 'good'])
  const made = await api.post('/auth/tokens/', { name: 'x', message_required: true })
  t.like(succeeded(made, 201).json, { message_required: true })
})

test('who may change neither account nor token lifts no requirement, and another tenant requires nothing', async (t) => {
  const { account, path } = await newSite()
  const stranger = await service().account()
  const ci = await addToken(service(), account.id)
  succeeded(await account.api.patch('/auth/account/', { require_message: true }), 200)
  succeeded(await account.api.patch(`/auth/tokens/${ci.id}/`, { message_required: true }), 200)
  const [editor, admin] = [
    await addMember(service(), account.id, 'editor'),
    await addMember(service(), account.id, 'admin'),
  ]
  const bound = await addToken(service(), stranger.id, { userOverrideId: account.id })
  for (const client of [ci.api, editor.session, admin.session, bound.api]) {
    t.is((await client.patch('/auth/account/', { require_message: false })).status, 403)
  }
  for (const client of [ci.api, editor.session, bound.api]) {
    t.is((await client.patch(`/auth/tokens/${ci.id}/`, { message_required: false })).status, 403)
  }
  t.is((await stranger.api.patch(`/auth/tokens/${ci.id}/`, { message_required: false })).status, 404)
  t.is((await ci.api.post(path, other())).status, 400)
  t.is((await admin.session.post(path, other())).status, 400)
  // The person's own account, and the owner of a bound token, require nothing here.
  await stranger.api.patch('/auth/account/', { require_message: true })
  succeeded(await bound.api.post(path, other()), 201)
  const own = await newDomain(editor.own.api)
  succeeded(await editor.own.api.post(`/domains/${own}/rrsets/`, other()), 201)
})

test('a message is found by its words, and read by who reads the entry', async (t) => {
  const { account, api, domain, path } = await newSite()
  succeeded(await api.post(path, [other(), other()], why(octets('Ticket 4711: Größe prüfen'))), 201)
  succeeded(await api.post(path, [other()], why('Ticket 12')), 201)
  const found = async (search: string) =>
    (await entriesOf(api, domain, `?${new URLSearchParams({ search }).toString()}`)).map(({ count }) => count)
  t.deepEqual(await found('ticket'), [1, 2])
  t.deepEqual(await found('ticket größe'), [2])
  t.deepEqual(await found('message:TICKET message:12'), [1])
  t.deepEqual(await found('message:www'), [])
  t.deepEqual(await found('name:ticket'), [])
  t.deepEqual(await found('by:ticket'), [])
  t.deepEqual(await found('message:%'), [])
  const plain = await addToken(service(), account.id)
  const viewer = await addMember(service(), account.id, 'viewer')
  for (const client of [plain.api, viewer.session]) {
    const [entry] = await entriesOf(client, domain)
    t.like(entry, { message: 'Ticket 12', owner: null, token: null })
  }
})

test('what a write causes in the domain of another account has no message there', async (t) => {
  const operator = await service().account()
  await newReservedDomain(service(), operator.id, 'dyn.zoneplane.test')
  const { api } = await service().account()
  succeeded(await api.post('/domains/', { name: 'a.dyn.zoneplane.test' }, why('mine')), 201)
  const [entry] = await entriesOf(operator.api, 'dyn.zoneplane.test')
  t.like(entry, { source: 'operator', message: null, count: 2 })
  t.deepEqual(await messagesOf(api, 'a.dyn.zoneplane.test'), ['mine'])
})

test("after a move, the former account's messages are gone, and the octets are counted again", async (t) => {
  const { api, domain, path } = await newSite()
  const to = await service().account()
  succeeded(await api.post(path, other(), why('our secret plan')), 201)
  const { email } = succeeded(await to.api.get('/auth/account/'), 200).json as { email: string }
  t.deepEqual((await zoneplane('domain', 'move', domain, '--to', email))[0], true)
  t.deepEqual(await messagesOf(to.api, domain), [null, null])
})

test('the commands of the operator have messages', async (t) => {
  const { account, api, domain } = await newSite()
  const { email } = succeeded(await api.get('/auth/account/'), 200).json as { email: string }
  await newRRset(api, domain, other())
  const at = (await entriesOf(api, domain))[1]!.created
  t.true((await zoneplane('domain', 'restore', domain, '--at', at, '--message', 'Support case 7'))[0])
  t.true((await zoneplane('domain', 'create', `o${domain}`, '--account', email, '--message', 'asked by phone'))[0])
  t.like((await entriesOf(api, domain))[0], { source: 'operator', message: 'Support case 7' })
  t.deepEqual(await messagesOf(account.api, `o${domain}`), ['asked by phone'])
  t.regex((await zoneplane('domain', 'history', domain))[1], /^ {2}Support case 7$/m)
  const [succeeds, printed] = await zoneplane('domain', 'create', `p${domain}`, '--account', email, '--message', 'a\nb')
  t.false(succeeds)
  t.regex(printed, /Control characters are not allowed/)
  t.regex((await zoneplane('dnssec', 'roll', '--all', '--message', 'x'))[1], /queue keeps no messages/)
})
