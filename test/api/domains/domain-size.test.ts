import { one } from '../../../src/store/database.ts'
import { emailOf } from '../../support/clients/accounts.ts'
import {
  freshName,
  newDomain,
  newReservedDomain,
  newRRset,
  newZone,
  rrset,
  type RRsetBody,
  succeeded,
} from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { told, update } from '../../support/clients/dyndns.ts'
import { said } from '../../support/clients/people.ts'
import { commandsOn } from '../../support/command-line.ts'
import { ask, lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { entriesOf, undo } from '../../support/state/history.ts'

// The octets of a domain's records: how they are counted, and their limit (contract §8.6).

const LIMIT = 65_536
const SUFFIX = 'dyn.size.test'

const service = useService({ LIMIT_OCTETS: String(LIMIT), LOCAL_PUBLIC_SUFFIXES: SUFFIX })

const EXCEEDED = `Limit exceeded: a domain can have at most ${LIMIT} octets of records.`
const REFUSED: [number, string] = [403, JSON.stringify({ detail: EXCEEDED })]

/** Different records of type TXT, each with so many octets. */
function texts(count: number, octets: number): string[] {
  return Array.from({ length: count }, (_, i) => `"${String(i).padStart(octets - 2, 'x')}"`)
}

/** A TXT RRset of 30,000 octets. */
function large(subname: string): RRsetBody {
  return rrset({ subname, type: 'TXT', records: texts(300, 100) })
}

function replaceZone(api: Client, domain: string, zonefile: string): Promise<Answer> {
  const headers = { 'content-type': 'text/dns' }
  return api.send('PUT', `/domains/${domain}/zonefile/`, undefined, { headers, body: zonefile })
}

/** What is counted for a domain, and what its records have. */
async function octetsOf(name: string): Promise<{ counted: number; stored: number }> {
  return one(
    service().system.db,
    `select record_octets as counted, cast((
       select coalesce(sum(octet_length(array_to_string(records, ''))), 0) from rrsets where domain_id = domains.id
     ) as integer) as stored from domains where name = :name`,
    { name },
  )
}

test('delegations count in the zone of the local public suffix, and appear beyond its limit', async (t) => {
  const { api, account } = await newZone(service())
  await newReservedDomain(service(), account.id, SUFFIX)
  const before = await octetsOf(SUFFIX)
  await service().sql('update domains set record_octets = record_octets + :LIMIT where name = :SUFFIX', {
    LIMIT,
    SUFFIX,
  })
  await newDomain(api, `child.${SUFFIX}`)
  const { counted, stored } = await octetsOf(SUFFIX)
  t.true(stored > before.stored)
  t.is(counted, stored + LIMIT)
  succeeded(await api.delete(`/domains/child.${SUFFIX}/`), 204)
  t.is((await octetsOf(SUFFIX)).counted, before.counted + LIMIT)
})

test('beyond the limit, every way to write is refused, and what has less is accepted', async (t) => {
  const { api, domain, account, rrsets: path } = await newZone(service(), large('a'), large('b'))
  succeeded(await api.delete(`${path}b/TXT/`), 204)
  const [deletion] = await entriesOf(api, domain)
  await newRRset(api, domain, large('c'))
  const before = await octetsOf(domain)

  t.deepEqual(said(await api.post(path, large('d'))), REFUSED)
  t.deepEqual(said(await api.post(`${path}?dry_run=true`, large('d'))), REFUSED)
  t.deepEqual(said(await api.patch(path, [rrset(), large('d')])), REFUSED)
  t.deepEqual(said(await api.put(`${path}c/TXT/`, { ...large('c'), records: texts(500, 100) })), REFUSED)
  t.deepEqual(said(await api.patch(`${path}c/TXT/`, { records: texts(500, 100) })), REFUSED)
  t.deepEqual(said(await undo(api, domain, deletion!)), REFUSED)
  const lines = ['a', 'c', 'd'].flatMap((name) => texts(300, 100).map((text) => `${name} TXT ${text}`))
  t.deepEqual(said(await replaceZone(api, domain, lines.join('\n'))), REFUSED)
  t.is((await api.post(path, { ...large('d'), ttl: 1 })).status, 400, 'other problems come first')
  t.deepEqual(await octetsOf(domain), before)
  t.is((await ask(service().powerDns, `d.${domain}`, 'TXT')).rcode, 'NXDOMAIN')

  const room = LIMIT - before.stored
  succeeded(await api.post(path, rrset({ subname: 'd', type: 'TXT', records: texts(room / 100, 100) })), 201)
  const fit = LIMIT - (await octetsOf(domain)).stored
  t.deepEqual(said(await api.post(path, rrset({ subname: 'e', type: 'TXT', records: texts(1, fit + 1) }))), REFUSED)
  succeeded(await api.post(path, rrset({ subname: 'e', type: 'TXT', records: texts(1, fit) })), 201)
  t.is((await octetsOf(domain)).counted, LIMIT)
  t.deepEqual(told(await update(account.api, { hostname: `g.${domain}`, myip: '192.0.2.1' })), [403, EXCEEDED])
  // Changes of the same size, exchanges and deletions.
  succeeded(await api.patch(`${path}a/TXT/`, { ttl: 60 }), 200)
  succeeded(await api.patch(path, [{ ...large('a'), records: [] }, large('f')]), 200)
  succeeded(await api.delete(`${path}f/TXT/`), 204)
  succeeded(await undo(api, domain, deletion!), 200)
})

test('of two writes at once that fit only one by one, one is refused', async (t) => {
  const { api, rrsets: path, domain } = await newZone(service(), large('a'))
  const answers = await Promise.all(['b', 'c'].map((subname) => api.post(path, large(subname))))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 403])
  t.is((await octetsOf(domain)).counted, (await octetsOf(domain)).stored)
})

test('a zone file beyond the limit creates nothing', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const lines = (count: number) => texts(count, 100).map((text, i) => `n${i % 200} TXT ${text}`)
  t.deepEqual(said(await api.post('/domains/', { name, zonefile: lines(660).join('\n') })), REFUSED)
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  t.is((await ask(service().powerDns, name, 'SOA')).rcode, 'REFUSED')
  succeeded(await api.post('/domains/', { name, zonefile: lines(650).join('\n') }), 201)
})

test('a domain that is beyond a lowered limit comes back after its deletion, and can only shrink', async (t) => {
  const { api, domain, rrsets: path } = await newZone(service())
  await service().sql(
    `with domain as (update domains set size = size + 2, record_octets = record_octets + 70000 where name = :domain returning id)
     insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select id, 'old-' || n % 2, 'TXT', 60, array_agg('"' || lpad(cast(n as text), 98, 'x') || '"'), now(), now()
     from domain, generate_series(1, 700) as n group by id, n % 2`,
    { domain },
  )
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  t.is((await lookUp(service().powerDns, `old-1.${domain}`, 'TXT')).length, 350)
  t.deepEqual(said(await api.post(path, rrset())), REFUSED)
  succeeded(await api.patch(`${path}old-1/TXT/`, { records: texts(349, 100) }), 200)
  t.deepEqual(said(await api.post(path, rrset())), REFUSED)
})

test('a foreign zone beyond the limit is not adopted', async (t) => {
  const account = await service().account()
  const records = texts(400, 100).map((content) => ({ content, disabled: false }))
  const { status } = await service().pdns('POST', '/zones', {
    ...{ name: 'large.example.', kind: 'Native', nameservers: ['ns1.old.example.'] },
    rrsets: ['a', 'b'].map((label) => ({ name: `${label}.large.example.`, type: 'TXT', ttl: 300, records })),
  })
  t.is(status, 201)
  const run = commandsOn(() => service().system)
  const email = await emailOf(service().system, account.id)
  const [succeeded, printed] = await run('adopt', 'large.example', '--account', email, '--apply')
  t.false(succeeded)
  t.true(printed.includes(`because:    it has more than ${LIMIT} octets of records (LIMIT_OCTETS)`), printed)
})
