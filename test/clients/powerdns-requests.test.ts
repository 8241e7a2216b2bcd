import type { ExecutionContext } from 'ava'
import { request } from 'undici'
import { test } from '../support/serial.ts'
import { Domain, usePlace } from './support/clients.ts'

// The requests of programs that no package registry has, in the order of their code, and what that code needs of the
// answers. Each table names the code that it was read from.

const place = usePlace()

/** A request below /api/v1/servers/localhost. */
interface Step {
  sends: string
  body?: unknown
  /** Of the body; JSON without it. */
  type?: string
  gets: number
  /** Members that the code reads, such as `rrsets.0.name`, with their values; or what it searches the text for. */
  reads?: Record<string, unknown> | RegExp
}

/** Sends the requests to a domain, with `NAME` for its name. */
async function replay(t: ExecutionContext, name: string, steps: Step[]): Promise<void> {
  for (const { sends, body, type = 'application/json', gets, reads } of steps) {
    const [method, path] = sends.replaceAll('NAME', name).split(' ') as [string, string]
    const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const { statusCode, text } = await send(method, path, content?.replaceAll('NAME', name), type)
    t.is(statusCode, gets, `${sends}: ${text}`)
    if (reads instanceof RegExp) t.regex(text, reads, sends)
    else
      for (const [member, value] of Object.entries(reads ?? {}))
        t.deepEqual(at(JSON.parse(text), member.replaceAll('NAME', name)), named(value, name), `${sends}: ${member}`)
  }
}

async function send(method: string, path: string, body: string | undefined, type: string) {
  const { servers, service } = place()
  const url = `${service.url}/api/v1/servers/localhost${path}`
  const headers = { 'x-api-key': servers.owner.secret, ...(body !== undefined && { 'content-type': type }) }
  const answer = await request(url, { method, headers, body: body ?? null })
  return { statusCode: answer.statusCode, text: await answer.body.text() }
}

/** A member by its path; `[type]` in it is the RRset of this type. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, key) => {
    const [, wanted] = /^\[(\w+)\]$/.exec(key) ?? []
    if (wanted !== undefined) return (part as { type: string }[]).find(({ type }) => type === wanted)
    return (part as Record<string, unknown> | undefined)?.[key]
  }, value)
}

function named(value: unknown, name: string): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll('NAME', name))
}

const change = (changetype: string, type: string, name: string, more: object = {}) => ({
  rrsets: [{ name, type, changetype, ...more }],
})
const records = (...contents: string[]) => contents.map((content) => ({ content, disabled: false }))

test('acme.sh 3.1 sends what dns_pdns sends, and finds zone and challenges in the text', async (t) => {
  const domain = await Domain.create(place(), 'acmesh.test')
  const txt = (changetype: string, more?: object) => change(changetype, 'TXT', '_acme-challenge.NAME.', more)
  const add = (...values: string[]) =>
    txt('REPLACE', { ttl: 60, records: records(...values.map((each) => `"${each}"`)) })
  const notify = { sends: 'PUT /zones/NAME./notify', body: '', type: 'application/x-www-form-urlencoded', gets: 200 }
  // acmesh-official/acme.sh, dnsapi/dns_pdns.sh: _get_root, _list_existingchallenges, set_record, rm_record
  await replay(t, domain.name, [
    { sends: 'GET /zones', gets: 200, reads: /"name":"acmesh\.test\."/ },
    { sends: 'PATCH /zones/NAME.', body: add('one'), gets: 204 },
    notify,
    { sends: 'GET /zones/NAME.', gets: 200, reads: /"name":"_acme-challenge\.acmesh\.test[^\]]*content":"\\"one\\"/ },
    { sends: 'PATCH /zones/NAME.', body: add('two', 'one'), gets: 204 },
    notify,
    { sends: 'PATCH /zones/NAME.', body: txt('DELETE'), gets: 204 },
    { sends: 'PATCH /zones/NAME.', body: add('two'), gets: 204 },
    { sends: 'PATCH /zones/NAME.', body: txt('DELETE'), gets: 204 },
    notify,
  ])
  await domain.serves(t, `_acme-challenge.${domain.name}`, 'TXT', [])
})

test('Terraform’s provider pan-net/powerdns finds in each answer what its next plan compares', async (t) => {
  const record = { name: 'www.NAME.', type: 'A', content: '192.0.2.1', ttl: 300, disabled: false, 'set-ptr': false }
  const zone = { id: '', name: 'NAME.', url: '', kind: 'Native', dnsssec: false, serial: 0, soa_edit_api: '' }
  const nameservers = ['ns1.zoneplane.test.', 'ns2.zoneplane.test.']
  // pan-net/terraform-provider-powerdns, powerdns/client.go, resource_powerdns_zone.go, resource_powerdns_record.go
  await replay(t, 'terraform.test', [
    { sends: 'GET ', gets: 200 },
    { sends: 'POST /zones', body: { ...zone, nameservers }, gets: 201, reads: { id: 'NAME.' } },
    {
      sends: 'GET /zones/NAME.',
      gets: 200,
      reads: {
        ...{ name: 'NAME.', kind: 'Native' },
        ...{ 'rrsets.[NS].records.0.content': nameservers[0], 'rrsets.[NS].records.1.content': nameservers[1] },
      },
    },
    {
      sends: 'PATCH /zones/NAME.',
      body: change('REPLACE', 'A', 'www.NAME.', { ttl: 300, records: [record] }),
      gets: 204,
    },
    {
      sends: 'GET /zones/NAME.',
      gets: 200,
      reads: { 'rrsets.[A].name': 'www.NAME.', 'rrsets.[A].ttl': 300, 'rrsets.[A].records.0.content': '192.0.2.1' },
    },
    { sends: 'PUT /zones/NAME.', body: { ...zone, name: '' }, gets: 204 },
    {
      sends: 'PUT /zones/NAME.',
      body: { ...zone, kind: 'Slave' },
      gets: 422,
      reads: { error: 'kind: "Slave" is not possible here: zones are Native' },
    },
    { sends: 'PATCH /zones/NAME.', body: change('DELETE', 'A', 'www.NAME.', { ttl: 0 }), gets: 204 },
    { sends: 'DELETE /zones/NAME.', gets: 204 },
    { sends: 'GET /zones/NAME.', gets: 404, reads: { error: 'Not Found' } },
  ])
})

test('Ansible’s collection kpfleming.powerdns_auth creates a zone, and manages RRsets', async (t) => {
  const soa = 'localhost. hostmaster.localhost. 1 86400 7200 3600000 172800'
  const rrsets = [
    { name: 'NAME.', type: 'SOA', ttl: '86400', records: records(soa) },
    { name: 'NAME.', type: 'NS', ttl: '86400', records: records('ns1.example.net.') },
  ]
  // kpfleming/ansible-powerdns-auth, src/plugins/modules/zone.py, rrset.py
  await replay(t, 'ansible.test', [
    { sends: 'GET /zones?zone=NAME.', gets: 200, reads: { length: 0 } },
    {
      sends: 'POST /zones?rrsets=false',
      body: { name: 'NAME.', kind: 'Native', nameservers: [], rrsets },
      gets: 201,
      reads: { id: 'NAME.', rrsets: undefined },
    },
    { sends: 'GET /zones?zone=NAME.', gets: 200, reads: { length: 1, '0.id': 'NAME.' } },
    {
      sends: 'GET /zones/NAME.?rrsets=false',
      gets: 200,
      reads: {
        ...{ name: 'NAME.', kind: 'Native', account: '', dnssec: true, masters: [], catalog: '', api_rectify: true },
        ...{
          nsec3narrow: false,
          soa_edit: '',
          soa_edit_api: 'DEFAULT',
          slave_tsig_key_ids: [],
          master_tsig_key_ids: [],
        },
      },
    },
    { sends: 'GET /zones/NAME./metadata', gets: 200, reads: { length: 0 } },
    {
      sends: 'PATCH /zones/NAME.',
      body: change('REPLACE', 'A', 'www.NAME.', { ttl: 3600, records: records('192.0.2.1', '192.0.2.2') }),
      gets: 204,
    },
    {
      sends: 'GET /zones/NAME.?rrsets=true',
      gets: 200,
      reads: { 'rrsets.[A].ttl': 3600, 'rrsets.[A].records': records('192.0.2.1', '192.0.2.2') },
    },
    { sends: 'PATCH /zones/NAME.', body: change('DELETE', 'A', 'www.NAME.'), gets: 204 },
    { sends: 'PUT /zones/NAME.', body: { kind: 'Native' }, gets: 204 },
    { sends: 'DELETE /zones/NAME.', gets: 204 },
  ])
})

test('Proxmox’ plugin registers addresses of guests, and removes them one by one', async (t) => {
  const domain = await Domain.create(place(), 'proxmox.test')
  await Domain.create(place(), '2.0.192.in-addr.arpa')
  const type = 'application/json; charset=UTF-8'
  const own = (content: string) => ({ content, disabled: false, name: 'vm.NAME.', type: 'A' })
  const a = (changetype: string, more: object) => change(changetype, 'A', 'vm.NAME.', more)
  const ptr = (changetype: string, more: object) => change(changetype, 'PTR', '1.2.0.192.in-addr.arpa.', more)
  const pointer = { content: 'vm.NAME.', disabled: false, name: '1.2.0.192.in-addr.arpa.', type: 'PTR' }
  // proxmox/pve-network, src/PVE/Network/SDN/Dns/PowerdnsPlugin.pm
  await replay(t, domain.name, [
    { sends: 'GET ', gets: 200 },
    { sends: 'GET /zones/NAME?rrsets=false', gets: 200 },
    { sends: 'PATCH /zones/NAME', body: a('REPLACE', { ttl: 14400, records: [own('192.0.2.1')] }), type, gets: 204 },
    {
      sends: 'GET /zones/NAME',
      gets: 200,
      reads: { 'rrsets.[A].name': 'vm.NAME.', 'rrsets.[A].records': records('192.0.2.1') },
    },
    {
      sends: 'PATCH /zones/NAME',
      body: a('REPLACE', { ttl: 14400, records: [...records('192.0.2.1'), own('192.0.2.2')] }),
      type,
      gets: 204,
    },
    {
      sends: 'PATCH /zones/2.0.192.in-addr.arpa.',
      body: ptr('REPLACE', { ttl: 14400, records: [pointer] }),
      type,
      gets: 204,
    },
    { sends: 'PATCH /zones/NAME', body: a('REPLACE', { ttl: 14400, records: records('192.0.2.2') }), type, gets: 204 },
    { sends: 'PATCH /zones/NAME', body: a('DELETE', { records: [] }), type, gets: 204 },
    { sends: 'PATCH /zones/2.0.192.in-addr.arpa.', body: ptr('DELETE', { records: [] }), type, gets: 204 },
  ])
  await domain.serves(t, `vm.${domain.name}`, 'A', [])
})

test('PowerDNS-Admin finds the members of zones and RRsets that it stores and shows', async (t) => {
  const listed = { account: '', dnssec: true, kind: 'Native', last_check: 0, masters: [] }
  const comments = [{ content: 'dropped', account: '' }]
  const mx = { name: 'NAME.', type: 'MX', ttl: 300, records: records('10 mail.NAME.'), comments: [] }
  const txt = { name: 'NAME.', type: 'TXT', ttl: 300, records: records('"one"'), comments, changetype: 'REPLACE' }
  // PowerDNS-Admin/PowerDNS-Admin, powerdnsadmin/models/domain.py, record.py, server.py, lib/utils.py
  await replay(t, 'admin.test', [
    { sends: 'GET /statistics', gets: 200, reads: { length: 0 } },
    {
      sends: 'POST /zones',
      body: { name: 'NAME.', kind: 'NATIVE', masters: [], nameservers: [], soa_edit_api: 'DEFAULT', account: null },
      gets: 201,
    },
    { sends: 'POST /zones', body: { name: 'NAME.', kind: 'NATIVE', masters: [], nameservers: [] }, gets: 409 },
    {
      sends: 'GET /zones',
      gets: 200,
      reads: Object.fromEntries(Object.entries(listed).map(([key, value]) => [`0.${key}`, value])),
    },
    { sends: 'GET /zones/NAME.', gets: 200, reads: { ...listed, name: 'NAME.', catalog: '' } },
    {
      sends: 'GET /zones/NAME',
      gets: 200,
      reads: { 'rrsets.[SOA].comments': [], 'rrsets.[NS].comments': [], 'rrsets.[NS].records.0.disabled': false },
    },
    { sends: 'PATCH /zones/NAME', body: { rrsets: [{ ...mx, changetype: 'REPLACE' }, txt] }, gets: 204 },
    {
      sends: 'PATCH /zones/NAME',
      body: {
        rrsets: [
          { name: 'NAME.', type: 'MX', changetype: 'DELETE' },
          { ...txt, ttl: 600 },
        ],
      },
      gets: 204,
    },
    {
      sends: 'PATCH /zones/NAME',
      body: { rrsets: [{ ...txt, records: [{ content: '"two"', disabled: true }] }] },
      gets: 422,
      reads: { error: 'RRset NAME. IN TXT: disabled: records cannot be disabled here' },
    },
    { sends: 'GET /zones/NAME', gets: 200, reads: { 'rrsets.[TXT].ttl': 600, 'rrsets.[MX]': undefined } },
    { sends: 'GET /zones/NAME/cryptokeys', gets: 200, reads: { '0.keytype': 'csk', '0.active': true } },
    { sends: 'PUT /zones/NAME', body: { soa_edit_api: 'DEFAULT', kind: 'Native' }, gets: 204 },
    { sends: 'PUT /zones/NAME', body: { kind: 'Master', masters: [] }, gets: 204 },
    { sends: 'DELETE /zones/NAME', gets: 204 },
  ])
})
