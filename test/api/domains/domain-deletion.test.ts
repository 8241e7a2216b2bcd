import { query } from '../../../src/store/database.ts'
import {
  callsFor,
  domainOf,
  freshName,
  newDomain,
  newRRset,
  newZone,
  sendHeld,
  succeeded,
} from '../../support/clients/api.ts'
import { addPolicies } from '../../support/clients/tokens.ts'
import { ask, lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const FORBIDDEN = '{"detail":"You do not have permission to perform this action."}'

test('a deleted domain is gone from the API, from PowerDNS and from DNS when the response arrives', async (t) => {
  const { api, domain: name } = await newZone(service(), {})
  t.deepEqual(await lookUp(service().powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
  const answer = await api.delete(`/domains/${name}/`)
  t.deepEqual([answer.status, answer.text], [204, ''])
  t.is((await ask(service().powerDns, `www.${name}`, 'A')).rcode, 'REFUSED')
  t.is((await ask(service().powerDns, name, 'SOA')).rcode, 'REFUSED')
  t.is((await service().pdns('GET', `/zones/${name}.`)).status, 404)
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  t.is((await api.get(`/domains/${name}/rrsets/`)).status, 404)
  t.is((await api.get('/domains/')).text, '[]')
})

test('a domain that is deleted and created again has none of its old RRsets', async (t) => {
  const { api, domain: name } = await newZone(service(), {})
  succeeded(await api.delete(`/domains/${name}/`), 204)
  await newDomain(api, name)
  t.is(((await api.get(`/domains/${name}/rrsets/`)).json as unknown[]).length, 1)
  t.is((await ask(service().powerDns, `www.${name}`, 'A')).rcode, 'NXDOMAIN')
})

test('deleting a domain deletes the policies that name it, and no others', async (t) => {
  const { api } = await service().account()
  const restricted = await service().account()
  const [name, other] = [await newDomain(restricted.api), await newDomain(restricted.api)]
  const rules = [
    { domain: name, write: true },
    { domain: name, type: 'A', write: true },
    { domain: other, write: true },
  ]
  await addPolicies(service(), restricted.tokenId, { write: true }, ...rules)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  t.is((await domainOf(restricted.api, name)).name, name, 'nobody else deletes it')
  succeeded(await restricted.api.delete(`/domains/${name}/`), 204)
  const left = await query<{ name: string | null }>(
    service().system.db,
    'select domains.name from policies left join domains on domains.id = domain_id where token_id = :tokenId',
    { tokenId: restricted.tokenId },
  )
  t.deepEqual(left.map((row) => row.name).sort(), [null, other].sort())
})

test('deleting an absent domain is 204, every time', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  for (let i = 0; i < 2; i++) {
    const answer = await api.delete(`/domains/${name}/`)
    t.deepEqual([answer.status, answer.text], [204, ''])
  }
  t.is(callsFor(service(), name), 0)
})

test('deleting a foreign domain is 204 and does not delete it', async (t) => {
  const { api } = await service().account()
  const owner = await service().account()
  const name = await newDomain(owner.api)
  const before = await domainOf(owner.api, name)
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.deepEqual(await domainOf(owner.api, name), before)
  t.deepEqual((await lookUp(service().powerDns, name, 'SOA')).length, 1)
})

test('deleting a foreign domain does not wait for the writes of its owner', async (t) => {
  const { api } = await service().account()
  const owner = await service().account()
  const name = await newDomain(owner.api)
  const { answering, release } = await sendHeld(service(), 'PATCH', () => newRRset(owner.api, name))
  const answer = await api.delete(`/domains/${name}/`)
  release('pass')
  t.deepEqual([answer.status, answer.text], [204, ''])
  t.is((await answering).domain, name)
})

test('deleting a malformed name is 204', async (t) => {
  const { api, domain: name } = await newZone(service())
  for (const malformed of [
    '@',
    '*',
    'a..b',
    '%00',
    '_',
    `${name}.`,
    name.toUpperCase(),
    'x'.repeat(300),
    '%F0%9F%98%80',
  ]) {
    const answer = await api.delete(`/domains/${malformed}/`)
    t.deepEqual([answer.status, answer.text], [204, ''], malformed)
  }
  t.is((await domainOf(api, name)).name, name)
})

test('deleting without perm_delete_domain is 403, even for absent and foreign domains', async (t) => {
  const { api } = await service().account({ permDeleteDomain: false })
  const own = await newDomain(api)
  for (const name of [own, freshName(), await newDomain((await service().account()).api), '@']) {
    const answer = await api.delete(`/domains/${name}/`)
    t.deepEqual([answer.status, answer.text], [403, FORBIDDEN], name)
  }
  t.is((await domainOf(api, own)).name, own)
})

test('deleting a parent domain keeps its child domains', async (t) => {
  const { api, domain: name } = await newZone(service())
  const child = await newDomain(api, `child.${name}`)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  t.is((await domainOf(api, child)).name, child)
  t.is((await lookUp(service().powerDns, child, 'SOA')).length, 1)
})
