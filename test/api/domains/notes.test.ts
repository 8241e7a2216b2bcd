import { move } from '../../../src/service/operation/moving.ts'
import * as accounts from '../../../src/store/accounts/accounts.ts'
import { newDomain, newRRset, shared, type ShownDomain, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf } from '../../support/state/history.ts'

// Notes of domains (contract §7.11).

const service = useService()
const account = shared(() => service().account({ limitDomains: null }))

const NOTE = 'Moved from ns.example.net. Ask Alice before changes.'

const show = async (api: Client, name: string) => (await api.get(`/domains/${name}/`)).json as ShownDomain
const list = async (api: Client, query = '') => (await api.get(`/domains/${query}`)).json as ShownDomain[]
const write = (api: Client, name: string, note: unknown, headers: Record<string, string> = {}) =>
  api.patch(`/domains/${name}/`, { note }, { headers })

test('a note is the last member of its domain, in lists, too; a domain without one looks as before', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const [before, entries] = [await show(api, name), await entriesOf(api, name)]
  t.false('note' in before)
  const { keys, ...listed } = before
  t.deepEqual(succeeded(await write(api, name, ` ${NOTE}\n`), 200).json, { ...listed, note: NOTE })
  const after = await show(api, name)
  t.deepEqual(after, { ...before, note: NOTE })
  t.is(Object.keys(after).at(-1), 'note')
  t.is((await list(api, `?owns_qname=${name}`))[0]!.note, NOTE)
  t.is((await list(api, `?owns_qname=${name}&overview=true`))[0]!.note, NOTE)
  t.deepEqual(succeeded(await api.patch(`/domains/${name}/`, {}), 200).json, { ...listed, note: NOTE })
  t.deepEqual(succeeded(await write(api, name, ''), 200).json, listed)
  t.deepEqual(await show(api, name), { ...before, keys })
  t.deepEqual(await entriesOf(api, name), entries)
})

test('a note is one line of 500 characters', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  for (const note of ['ü𝒳'.repeat(250), '<b onclick="x">&amp;', '","name":"evil.example","x":"', '\u202emirrored']) {
    succeeded(await write(api, name, note), 200)
    t.is((await show(api, name)).note, note)
  }
  const control = 'Control characters are not allowed.'
  const bad: [note: unknown, ...texts: string[]][] = [
    ['x'.repeat(501), 'Ensure this field has no more than 500 characters.'],
    ['a\nb', control],
    ['a\u001b[31mb', control],
    ['a\u0085b', control],
    ['a\u2028b', control],
    ['a\0b', 'Null characters are not allowed.', control],
    ['\ud800', 'Surrogate characters are not allowed: U+D800.'],
    [null, 'This field may not be null.'],
    [['x'], 'Not a valid string.'],
  ]
  for (const [note, ...texts] of bad) {
    const { status, json } = await write(api, name, note)
    t.deepEqual([status, json], [400, { note: texts }], JSON.stringify(note))
    t.deepEqual((await api.post('/domains/', { name: `x${name}`, note })).json, { note: texts })
  }
  t.is((await show(api, name)).note, '\u202emirrored')
})

test('who may not write the whole domain reads its note and does not change it; others do neither', async (t) => {
  const { id, api } = await account()
  const name = await newDomain(api)
  succeeded(await write(api, name, NOTE), 200)
  const [viewer, editor] = [await addMember(service(), id, 'viewer'), await addMember(service(), id, 'editor')]
  const part = await addToken(service(), id)
  await addPolicies(service(), part.id, { write: true }, { domain: name, type: 'TXT', write: false })
  const host = await service().account()
  const override = await addToken(service(), host.id, { userOverrideId: id })
  await addPolicies(service(), override.id, { write: false }, { domain: name, subname: 'www', write: true })
  for (const { session } of [viewer, editor]) {
    t.is((await show(session, name)).note, NOTE)
    t.is((await write(session, name, 'mine')).status, 403)
  }
  for (const token of [part, override]) {
    t.is((await show(token.api, name)).note, NOTE)
    t.is((await write(token.api, name, 'mine')).status, 403)
  }
  for (const stranger of [host.api, (await service().account()).api]) {
    t.deepEqual(await list(stranger, `?owns_qname=${name}`), [])
    for (const target of [name, 'absent.test']) {
      t.deepEqual((await write(stranger, target, 'mine')).json, { detail: 'Not found.' })
      t.deepEqual((await write(stranger, target, 'x'.repeat(501))).json, { detail: 'Not found.' })
    }
  }
  t.is((await show(api, name)).note, NOTE)
})

test('the account that gets a domain does not read the note of the former one', async (t) => {
  const [from, to] = [await service().account(), await service().account()]
  const name = await newDomain(from.api)
  succeeded(await write(from.api, name, NOTE), 200)
  await move(service().system, [name], (await accounts.get(service().system.db, to.id))!)
  t.false('note' in (await show(to.api, name)))
  t.false((await to.api.get('/activity/')).text.includes('Alice'))
  succeeded(await to.api.delete(`/domains/${name}/`), 204)
  const back = succeeded(await to.api.post('/domains/', { name, restore: true }), 201).json as ShownDomain
  t.false('note' in back)
})

test('a deleted domain has its note again when it is back, unless the request has another one', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const expected: [body: { note?: string }, note: string | undefined][] = [
    [{}, NOTE],
    [{ note: 'Back.' }, 'Back.'],
    [{ note: '' }, undefined],
  ]
  for (const [body, note] of expected) {
    succeeded(await write(api, name, NOTE), 200)
    succeeded(await api.delete(`/domains/${name}/`), 204)
    const back = succeeded(await api.post('/domains/', { name, restore: true, ...body }), 201).json as ShownDomain
    t.is(back.note, note)
    t.is((await show(api, name)).note, note)
  }
  succeeded(await api.delete(`/domains/${name}/`), 204)
  const made = succeeded(await api.post('/domains/', { name, note: NOTE }), 201).json as ShownDomain
  t.is(made.note, NOTE)
})

test('a note is neither published, nor exported, nor logged', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const seen = service().proxy.calls.length
  succeeded(await write(api, name, 'Secretly-noted'), 200)
  const calls = service().proxy.calls.slice(seen)
  t.deepEqual(
    calls.filter(({ path }) => path.includes(name)),
    [],
  )
  t.false((await api.get(`/domains/${name}/zonefile/`)).text.includes('Secretly-noted'))
  t.false((await api.get('/activity/')).text.includes('Secretly-noted'))
  t.false(service().logged().includes('Secretly-noted'))
})

test('a change of the note changes the tag of the domain, so that nobody overwrites what he has not read', async (t) => {
  const { api } = await account()
  const name = await newDomain(api)
  const before = (await api.get(`/domains/${name}/`)).headers['etag'] as string
  const after = succeeded(await write(api, name, NOTE, { 'if-match': before }), 200).headers['etag'] as string
  t.not(after, before)
  t.is((await api.get(`/domains/${name}/`)).headers['etag'], after)
  t.is((await write(api, name, 'mine', { 'if-match': before })).status, 412)
  const records = [{ subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }]
  t.is((await api.put(`/domains/${name}/rrsets/`, records, { headers: { 'if-match': before } })).status, 412)
  t.is((await show(api, name)).note, NOTE)
  succeeded(await write(api, name, '', { 'if-match': after }), 200)
  t.is((await api.get(`/domains/${name}/`)).headers['etag'], before)
  await newRRset(api, name)
  t.is((await write(api, name, NOTE, { 'if-match': before })).status, 412)
})
