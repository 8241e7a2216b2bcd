import { domainOf, freshName, newDomain, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { amendment, doorOf, newDoors, type PdnsZone, rrsetsOf, ZONES } from '../../support/clients/powerdns.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §20.1 to §20.3: PowerDNS' API, and its zones.

const service = useService({ NAMESERVERS: 'ns1.example.net, ns2.example.net' })

test('a token is the key, in its own header alone', async (t) => {
  const { account, door, zone, domain } = await newDoors(service())
  t.is((await door.get(zone)).status, 200)
  const stranger = new Client(door.url)
  for (const headers of [
    {},
    { authorization: `Token ${account.secret}` },
    { 'x-api-key': '' },
    { 'x-api-key': 'unknown' },
    { 'x-api-key': `Token ${account.secret}` },
  ] as Record<string, string>[]) {
    const { status, json, headers: answered } = await stranger.get(zone, { headers })
    t.deepEqual([status, json, answered['www-authenticate']], [401, { error: 'Unauthorized' }, 'X-API-Key'])
  }
  t.is((await stranger.get(`/domains/${domain}/`, { headers: { 'x-api-key': account.secret } })).status, 401)
})

test('no cache stores an answer, because those for other keys have the same URL', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  const answers = [
    await door.get(ZONES),
    await door.get(`${ZONES}/x.${domain}.`),
    await door.get(`${zone}?rrsets=x`),
    await door.get(`${zone}/export`),
    await new Client(door.url).get(zone),
  ]
  t.deepEqual(
    answers.map(({ status, headers }) => [status, headers['cache-control']]),
    [200, 404, 422, 200, 401].map((status) => [status, 'no-store']),
  )
})

test('a preflight allows the header of the key', async (t) => {
  const headers = { origin: 'https://example.com', 'access-control-request-method': 'GET' }
  const answer = await new Client(service().url).send('OPTIONS', ZONES, undefined, { headers })
  t.regex(String(answer.headers['access-control-allow-headers']), /\bx-api-key\b/)
})

test('without POWERDNS_API, there are no such paths', async (t) => {
  await withService({ POWERDNS_API: 'off' }, async (other) => {
    const { secret } = await other.account()
    const door = new Client(other.url, secret, 'powerdns')
    for (const path of ['//root/api', '/servers', ZONES, '/openapi-powerdns.json']) {
      t.is((await door.get(path)).status, 404, path)
    }
  })
})

test('clients find the server', async (t) => {
  const { door } = await newDoors(service())
  t.deepEqual((await door.get('//root/api')).json, [{ url: '/api/v1', version: 1 }])
  const [server] = (await door.get('/servers')).json as Record<string, string>[]
  t.deepEqual((await door.get('/servers/localhost')).json, server)
  t.is(server!['id'], 'localhost')
  t.regex(server!['version']!, /^5\.0\.\d+-zoneplane$/)
  t.deepEqual((await door.get('/servers/localhost/statistics')).json, [])
  const { status, json } = await door.get('/servers/other')
  t.deepEqual([status, json], [404, { detail: 'Not found.' }])
})

test('a zone has its RRsets with full names, and the SOA and the serial that DNS serves', async (t) => {
  const { door, zone, domain } = await newDoors(service(), { subname: 'www' })
  const { json } = succeeded(await door.get(zone), 200)
  const [soa] = await lookUp(service().powerDns, domain, 'SOA')
  const serial = Number(soa!.split(' ')[2])
  const record = (content: string) => ({ content, disabled: false })
  t.deepEqual(json, {
    account: '',
    api_rectify: true,
    catalog: '',
    dnssec: true,
    edited_serial: serial,
    id: `${domain}.`,
    kind: 'Native',
    last_check: 0,
    master_tsig_key_ids: [],
    masters: [],
    name: `${domain}.`,
    notified_serial: serial,
    nsec3narrow: false,
    nsec3param: '1 0 0 -',
    serial,
    slave_tsig_key_ids: [],
    soa_edit: '',
    soa_edit_api: 'DEFAULT',
    url: `/api/v1/servers/localhost/zones/${domain}.`,
    rrsets: [
      { comments: [], name: `${domain}.`, records: [record(soa!)], ttl: 300, type: 'SOA' },
      {
        comments: [],
        name: `${domain}.`,
        records: [record('ns1.example.net.'), record('ns2.example.net.')],
        ttl: 3600,
        type: 'NS',
      },
      { comments: [], name: `www.${domain}.`, records: [record('192.0.2.1')], ttl: 3600, type: 'A' },
    ],
  })
})

test('a zone is found with and without its final dot, in any case, with escapes', async (t) => {
  const { door, account, domain } = await newDoors(service())
  const underscored = await newDomain(account.api, `my_host.${domain}`)
  for (const id of [domain, `${domain.toUpperCase()}.`, `${domain.replace('d', '=64')}.`, `${domain}./`]) {
    t.is((await door.get(`${ZONES}/${id}`)).status, 200, id)
  }
  const [zone] = (await door.get(`${ZONES}?zone=${underscored}.`)).json as PdnsZone[]
  t.is(zone!['id'], `my=5Fhost.${domain}.`)
  t.is((await door.get(`${ZONES}/${String(zone!['id'])}`)).status, 200)
})

test('foreign zones, absent ones and ids of no name are not found', async (t) => {
  const { door } = await newDoors(service())
  const other = await newDoors(service())
  for (const id of [`${other.domain}.`, 'absent.test.', '=2F', '=00', 'a=zz']) {
    for (const answer of [
      await door.get(`${ZONES}/${id}`),
      await door.patch(`${ZONES}/${id}`, { rrsets: [] }),
      await door.put(`${ZONES}/${id}`, {}),
      await door.delete(`${ZONES}/${id}`),
      await door.get(`${ZONES}/${id}/export`),
      await door.put(`${ZONES}/${id}/rectify`),
      await door.put(`${ZONES}/${id}/notify`),
    ]) {
      t.deepEqual([answer.status, answer.json], [404, { error: 'Not Found' }], id)
    }
  }
})

test('the query chooses RRsets, or none', async (t) => {
  const { door, zone, domain } = await newDoors(
    service(),
    { subname: 'www' },
    { subname: 'www', type: 'TXT', records: ['"a"'] },
  )
  const chosen = async (query: string) => {
    const { rrsets } = succeeded(await door.get(`${zone}?${query}`), 200).json as PdnsZone
    return rrsets.map(({ name, type }) => `${name.slice(0, -domain.length - 2)} ${type}`)
  }
  t.deepEqual(await chosen(`rrset_name=www.${domain}.`), ['www A', 'www TXT'])
  t.deepEqual(await chosen(`rrset_name=WWW.${domain}.&rrset_type=txt`), ['www TXT'])
  t.deepEqual(await chosen(`rrset_name=${domain}.&rrset_type=SOA`), [' SOA'])
  t.deepEqual(await chosen(`rrset_name=${domain}.`), [' SOA', ' NS'])
  t.deepEqual(await chosen('rrset_name=www.other.test.'), [])
  t.deepEqual(await chosen('rrset_name=www'), [])
  t.deepEqual(await chosen(`rrset_name=.${domain}.`), [])
  t.deepEqual(await chosen(`rrset_name=www.${domain}.&rrset_type=%00`), [])
  t.deepEqual(await chosen('rrset_type=TXT'), [' SOA', ' NS', 'www A', 'www TXT'])
  t.false('rrsets' in ((await door.get(`${zone}?rrsets=false`)).json as object))
  const { status, json } = await door.get(`${zone}?rrsets=maybe`)
  t.deepEqual([status, json], [422, { error: 'rrsets: Must be a valid boolean.' }])
})

test('the list has all zones of the account, the newest first, or the one of a name', async (t) => {
  const { account, door, domain } = await newDoors(service())
  const second = await newDomain(account.api)
  await newDoors(service())
  const zones = (await door.get(ZONES)).json as PdnsZone[]
  t.deepEqual(
    zones.map(({ name }) => name),
    [`${second}.`, `${domain}.`],
  )
  t.true(zones.every(({ dnssec, serial, edited_serial }) => dnssec === true && serial === edited_serial))
  const names = async (query: string) =>
    ((await door.get(`${ZONES}?${query}`)).json as PdnsZone[]).map(({ name }) => name)
  t.deepEqual(await names(`zone=${domain}.`), [`${domain}.`])
  t.deepEqual(await names(`zone=${domain.toUpperCase()}.`), [`${domain}.`])
  t.deepEqual(await names('zone=absent.test.'), [])
  const [plain] = (await door.get(`${ZONES}?dnssec=false`)).json as PdnsZone[]
  t.false('dnssec' in plain! || 'edited_serial' in plain!)
  const { status, json } = await door.get(`${ZONES}?zone=${domain}`)
  t.deepEqual([status, json], [422, { error: 'zone: must be an absolute name' }])
})

test('the list has all zones of a large account', async (t) => {
  const account = await service().account()
  const door = doorOf(account)
  t.deepEqual((await door.get(ZONES)).json, [])
  await service().sql(
    `insert into domains (name, owner_id, minimum_ttl, version, denial, size, record_octets, created, published, touched)
     select 'many' || i || '.test', :id, 60, 1, '1 0 0 -', 0, 0, now(), now(), now() from generate_series(1, 1201) as i`,
    { id: account.id },
  )
  const zones = (await door.get(ZONES)).json as PdnsZone[]
  t.is(new Set(zones.map(({ name }) => name)).size, 1201)
  await service().sql('delete from domains where owner_id = :id', { id: account.id })
})

test('a new zone is a domain with its RRsets, in one creation', async (t) => {
  const account = await service().account()
  const door = doorOf(account)
  const domain = freshName()
  const { status, json } = await door.post(ZONES, {
    name: `${domain.toUpperCase()}.`,
    kind: 'Master',
    masters: [],
    nameservers: ['ns.elsewhere.test.'],
    soa_edit_api: 'INCEPTION-INCREMENT',
    dnssec: false,
    rrsets: [
      amendment(domain, { comments: [{ content: 'a', account: 'b' }] }),
      amendment(domain, { name: `${domain}.`, type: 'MX', records: [{ content: '10 mx.example.' }] }),
      amendment(domain, { name: `${domain}.`, type: 'SOA', records: [{ content: 'a. b. 1 2 3 4 5' }] }),
      amendment(domain, { name: `${domain}.`, type: 'NS', records: [{ content: 'ns.elsewhere.test.' }] }),
    ],
  })
  t.is(status, 201)
  t.like(json, { name: `${domain}.`, kind: 'Native', dnssec: true })
  t.deepEqual(await rrsetsOf(door, `${ZONES}/${domain}.`), { ' MX': ['10 mx.example.'], 'www A': ['192.0.2.1'] })
  t.deepEqual(await lookUp(service().powerDns, domain, 'NS'), ['ns1.example.net.', 'ns2.example.net.'])
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
  const { json: entries } = await account.api.get(`/domains/${domain}/history/`)
  t.is((entries as unknown[]).length, 1)
  const again = await door.post(ZONES, { name: `${domain}.`, kind: 'Native' })
  t.deepEqual([again.status, again.json], [409, { error: 'Conflict' }])
})

test('a zone that was shown can be created again', async (t) => {
  const door = doorOf(await service().account())
  const domain = freshName()
  succeeded(await door.post(ZONES, { name: `${domain}.`, kind: 'Native', rrsets: [amendment(domain)] }), 201)
  const shown = succeeded(await door.get(`${ZONES}/${domain}.`), 200).json as object
  succeeded(await door.delete(`${ZONES}/${domain}.`), 204)
  succeeded(await door.post(ZONES, shown), 201)
  t.deepEqual(await rrsetsOf(door, `${ZONES}/${domain}.`), { 'www A': ['192.0.2.1'] })
})

test('a new zone can come as a zone file, and its answer without RRsets', async (t) => {
  const door = doorOf(await service().account())
  const domain = freshName()
  const zone = `$ORIGIN ${domain}.\n@ 3600 IN SOA a. b. 1 2 3 4 5\nwww 300 IN A 192.0.2.7\n`
  const { status, json } = await door.post(`${ZONES}?rrsets=false`, { name: `${domain}.`, kind: 'Native', zone })
  t.is(status, 201)
  t.false('rrsets' in (json as object))
  t.deepEqual(await rrsetsOf(door, `${ZONES}/${domain}.`), { 'www A': ['192.0.2.7'] })
})

test('a query that is refused creates no zone', async (t) => {
  const door = doorOf(await service().account())
  const domain = freshName()
  const { status } = await door.post(`${ZONES}?rrsets=maybe`, { name: `${domain}.`, kind: 'Native' })
  t.is(status, 422)
  t.is((await door.get(`${ZONES}/${domain}.`)).status, 404)
})

for (const [what, members, error] of [
  ['without name', { name: undefined }, 'name: null is not an absolute name'],
  ['with a name without final dot', { name: 'a.test' }, 'name: "a.test" is not an absolute name'],
  ['without kind', { kind: undefined }, 'kind: required'],
  ['of another kind', { kind: 'Slave' }, 'kind: "Slave" is not possible here: zones are Native'],
  ['with masters', { masters: ['192.0.2.1'] }, 'masters: not possible here'],
  ['in a catalog', { catalog: 'a.test.' }, 'catalog: not possible here'],
  ['for an account', { account: 'a' }, 'account: not possible here'],
  ['with its own NSEC3', { nsec3param: '1 0 1 ab' }, 'nsec3param: not possible here'],
  ['with RRsets and text', { rrsets: [], zone: 'a' }, 'You cannot give rrsets AND zone data as text'],
  ['with relative nameservers', { nameservers: ['ns1'] }, 'nameservers: must be a list of absolute names'],
  ['of a public suffix', { name: 'test.' }, /^name: This domain name conflicts with an existing domain/],
] as const) {
  test(`a zone ${what} is refused`, async (t) => {
    const door = doorOf(await service().account())
    const { status, json } = await door.post(ZONES, { name: `${freshName()}.`, kind: 'Native', ...members })
    t.is(status, 422)
    const text = (json as { error: string }).error
    if (typeof error === 'string') t.is(text, error)
    else t.regex(text, error)
  })
}

test('a zone with wrong RRsets is not created, and the answer names them', async (t) => {
  const door = doorOf(await service().account())
  const domain = freshName()
  const rrsets = [
    amendment(domain, { ttl: 1 }),
    amendment(domain, { type: 'AAAA', records: [{ content: '::g' }] }),
    amendment(domain, { type: 'TXT', records: [{ content: '"fine"' }] }),
  ]
  const { status, json } = await door.post(ZONES, { name: `${domain}.`, kind: 'Native', rrsets })
  t.is(status, 422)
  const first = `RRset www.${domain}. IN A: ttl: Ensure this value is greater than or equal to 60.`
  const second = `RRset www.${domain}. IN AAAA: Record content for type AAAA malformed`
  t.is((json as { error: string }).error, first)
  t.is((json as { errors: string[] }).errors.length, 2)
  t.true((json as { errors: string[] }).errors[1]!.startsWith(second))
  t.is((await door.get(`${ZONES}/${domain}.`)).status, 404)
})

test('a zone is deleted, by a token that may do so', async (t) => {
  const { account, door, zone, domain } = await newDoors(service())
  const weak = await addToken(service(), account.id, {})
  const refused = await new Client(door.url, weak.secret, 'powerdns').delete(zone)
  t.deepEqual([refused.status, refused.json], [403, { error: 'You do not have permission to perform this action.' }])
  t.is((await door.delete(zone)).status, 204)
  t.is((await door.delete(zone)).status, 404)
  t.is((await account.api.get(`/domains/${domain}/`)).status, 404)
})

test('a token without the right creates no zone, nor does one beyond its limit', async (t) => {
  const { account } = await newDoors(service())
  const weak = await addToken(service(), account.id, {})
  const body = { name: `${freshName()}.`, kind: 'Native' }
  const refused = await new Client(account.api.url, weak.secret, 'powerdns').post(ZONES, body)
  t.is(refused.status, 403)
  const full = await service().account({ limitDomains: 0 })
  const { status, json } = await doorOf(full).post(ZONES, body)
  t.is(status, 403)
  t.regex((json as { error: string }).error, /^Domain limit exceeded/)
})

test('PUT accepts what a zone has anyway, and nothing else', async (t) => {
  const { door, zone } = await newDoors(service())
  const before = await door.get(zone)
  for (const [members, error] of [
    [{}],
    [{ kind: 'Native', dnssec: true, api_rectify: true, soa_edit_api: 'DEFAULT', nsec3param: '1 0 0 -', masters: [] }],
    [before.json],
    [{ dnssec: false }, 'dnssec: the service decides: it is true'],
    [{ nsec3param: '' }, 'nsec3param: the service decides: it is "1 0 0 -"'],
    [{ soa_edit_api: 'EPOCH' }, 'soa_edit_api: the service counts the serial itself'],
    [{ kind: 'Consumer' }, 'kind: "Consumer" is not possible here: zones are Native'],
    [{ presigned: true }, 'presigned: not possible here'],
  ] as [object, string?][]) {
    const { status, json } = await door.put(zone, members === before.json ? { ...members, rrsets: undefined } : members)
    t.deepEqual([status, json], error === undefined ? [204, undefined] : [422, { error }])
  }
  t.deepEqual((await door.get(zone)).json, before.json)
})

test('an export is the zone file, in an object for clients that accept JSON', async (t) => {
  const { api, door, zone, domain } = await newDoors(service(), { subname: 'www' })
  const file = await api.get(`/domains/${domain}/zonefile/`)
  const lines = (text: string) => text.split('\n').slice(1)
  const plain = await door.get(`${zone}/export`, { headers: { accept: 'text/plain' } })
  t.deepEqual([plain.headers['content-type'], lines(plain.text)], ['text/plain', lines(file.text)])
  for (const accept of ['application/json', '*/*']) {
    const { json } = await door.get(`${zone}/export`, { headers: { accept } })
    t.deepEqual(lines((json as { zone: string }).zone), lines(file.text))
  }
})

test('rectify and notify are done already', async (t) => {
  const { door, zone } = await newDoors(service())
  t.deepEqual((await door.put(`${zone}/rectify`)).json, { result: 'Rectified' })
  t.deepEqual((await door.put(`${zone}/notify`)).json, { result: 'Notification queued' })
})

test('a body may have any media type, or none; other JSON than an object is refused', async (t) => {
  const { account, door, zone, domain } = await newDoors(service())
  const body = JSON.stringify({ rrsets: [amendment(domain)] })
  for (const headers of [{}, { 'content-type': 'text/plain' }] as Record<string, string>[]) {
    const answer = await fetch(`${door.url}/api/v1${zone}`, {
      method: 'PATCH',
      body: Buffer.from(body),
      headers: { ...headers, 'x-api-key': account.secret },
    })
    t.is(answer.status, 204)
  }
  for (const [text, status] of [
    ['{', 400],
    ['[]', 422],
    ['1', 422],
    ['null', 422],
    ['', 422],
  ] as const) {
    const answer = await door.patch(zone, undefined, { body: text })
    t.is(answer.status, status, text)
    t.true('error' in (answer.json as object))
  }
})

test('the keys of a zone are those that sign it, without private halves', async (t) => {
  const { api, door, zone, domain } = await newDoors(service())
  const { keys } = await domainOf(api, domain)
  const { json, text } = await door.get(`${zone}/cryptokeys`)
  const [key, ...others] = json as Record<string, unknown>[]
  t.deepEqual(others, [])
  const { dnskey, ds, flags, keytype } = keys[0]!
  t.like(key, { dnskey, ds, flags, keytype, active: true, published: true, algorithm: 'ECDSAP256SHA256' })
  t.is(key!['id'], Number(ds[0]!.split(' ')[0]))
  t.notRegex(text, /private/i)
  t.deepEqual((await door.get(`${zone}/metadata`)).json, [])
})

test('a search finds zones by a pattern, and records by full name or content, of the account alone', async (t) => {
  const { account, door, domain } = await newDoors(service(), { subname: 'www', records: ['192.0.2.77', '192.0.2.78'] })
  const other = await newDoors(service(), { subname: 'www', records: ['192.0.2.77'] })
  const second = await newDomain(account.api, `second.${domain}`)
  const search = async (query: string) => (await door.get(`/servers/localhost/search-data?${query}`)).json
  const zone = (name: string) => ({ name: `${name}.`, object_type: 'zone', zone_id: `${name}.` })
  const record = (content: string) => ({
    ...{ content, disabled: false, name: `www.${domain}.`, object_type: 'record', ttl: 3600, type: 'A' },
    ...{ zone: `${domain}.`, zone_id: `${domain}.` },
  })
  t.deepEqual(await search(`q=${domain}&object_type=zone`), [zone(domain)])
  t.deepEqual(await search(`q=*${domain.toUpperCase()}.&object_type=zone`), [zone(second), zone(domain)])
  t.deepEqual(await search(`q=s?cond.*&object_type=zone`), [zone(second)])
  t.deepEqual(await search('q=*&object_type=zone&max=1'), [zone(second)])
  t.deepEqual(await search(`q=*${other.domain}*&object_type=zone`), [])
  t.deepEqual(await search(`q=www.${domain}.`), [record('192.0.2.77'), record('192.0.2.78')])
  t.deepEqual(await search('q=192.0.2.77'), [record('192.0.2.77')])
  t.deepEqual(await search('q=192.0.2.77&object_type=comment'), [])
  t.deepEqual(await search('q='), { error: "q: can't be blank" })
  t.deepEqual(await search('q=a&max=0'), { error: 'max: must be a number larger than 0' })
  t.deepEqual(await search('q=a&object_type=b'), { error: 'object_type: must be one of all, zone, record, comment' })
  t.regex(JSON.stringify(await search('q=www.*')), /^{"error":"q: records are found by their full name or content/)
})
