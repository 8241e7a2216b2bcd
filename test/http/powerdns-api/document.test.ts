import test from 'ava'
import { createRouter } from '../../../src/http/router.ts'
import { readConfig } from '../../../src/settings/config.ts'

// Contract §20.1: the document of this API, compared with what the OpenAPI file of PowerDNS 5.1 says of the same paths.

interface Schema {
  $ref?: string
  type?: string
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
}

interface Operation {
  parameters: { $ref: string }[]
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, { name: string; in: string }> }
}

const document = createRouter(readConfig({})).describePowerdns!() as unknown as Document

/** PowerDNS' objects that we show: their members and types. */
const OBJECTS: Record<string, Record<string, string>> = {
  Server: {
    ...{ type: 'string', id: 'string', daemon_type: 'string', version: 'string', url: 'string' },
    ...{ config_url: 'string', zones_url: 'string' },
  },
  Zone: {
    ...{ id: 'string', name: 'string', type: 'string', url: 'string', kind: 'string', record_count: 'integer' },
    ...{ rrsets: 'array', serial: 'integer', notified_serial: 'integer', edited_serial: 'integer', masters: 'array' },
    ...{ dnssec: 'boolean', nsec3param: 'string', nsec3narrow: 'boolean', presigned: 'boolean', soa_edit: 'string' },
    ...{ soa_edit_api: 'string', api_rectify: 'boolean', zone: 'string', catalog: 'string', account: 'string' },
    ...{ nameservers: 'array', master_tsig_key_ids: 'array', slave_tsig_key_ids: 'array', last_check: 'integer' },
  },
  RRSet: { name: 'string', type: 'string', ttl: 'integer', changetype: 'string', records: 'array', comments: 'array' },
  Record: { content: 'string', disabled: 'boolean' },
  Cryptokey: {
    ...{ type: 'string', id: 'integer', keytype: 'string', active: 'boolean', published: 'boolean' },
    ...{ dnskey: 'string', ds: 'array', cds: 'array', privatekey: 'string', algorithm: 'string', bits: 'integer' },
    // Only in its code and its answers.
    flags: 'integer',
  },
  SearchResultZone: { name: 'string', object_type: 'string', zone_id: 'string' },
  SearchResultRecord: {
    ...{ content: 'string', disabled: 'boolean', name: 'string', object_type: 'string', zone_id: 'string' },
    ...{ zone: 'string', type: 'string', ttl: 'integer' },
  },
  Error: { error: 'string', errors: 'array' },
}

/** Our names of them. */
const NAMES: Record<string, string> = {
  ...{ Server: 'Server', ZoneInList: 'Zone', ZoneWithRRsets: 'Zone', RRSet: 'RRSet', Record: 'Record' },
  ...{ Cryptokey: 'Cryptokey', FoundZone: 'SearchResultZone', FoundRecord: 'SearchResultRecord', Error: 'Error' },
}

for (const [own, theirs] of Object.entries(NAMES)) {
  test(`the members of ${own} are those of PowerDNS, with its types`, (t) => {
    const { properties = {} } = document.components.schemas[own]!
    t.true(Object.keys(properties).length > 1)
    for (const [name, { type }] of Object.entries(properties)) t.is(type, OBJECTS[theirs]![name], name)
  })
}

const OF_ZONE = ['rrsets', 'rrset_name', 'rrset_type']

/** PowerDNS' operations: the status of success, the query parameters, and what the body is. */
const OPERATIONS: Record<string, [status: number, query: string[], body: string | undefined]> = {
  'get /servers': [200, [], 'array'],
  'get /servers/localhost': [200, [], 'object'],
  'get /servers/localhost/statistics': [200, ['statistic', 'includerings'], 'array'],
  'get /servers/localhost/search-data': [200, ['q', 'max', 'object_type'], 'array'],
  'get /servers/localhost/zones': [200, ['zone', 'dnssec'], 'array'],
  'post /servers/localhost/zones': [201, ['rrsets'], 'object'],
  'get /servers/localhost/zones/{zone}': [200, [...OF_ZONE, 'record_count', 'include_disabled'], 'object'],
  'patch /servers/localhost/zones/{zone}': [204, [], undefined],
  'put /servers/localhost/zones/{zone}': [204, [], undefined],
  'delete /servers/localhost/zones/{zone}': [204, [], undefined],
  'get /servers/localhost/zones/{zone}/export': [200, [], 'object'],
  'get /servers/localhost/zones/{zone}/cryptokeys': [200, [], 'array'],
  'get /servers/localhost/zones/{zone}/metadata': [200, [], 'array'],
  'put /servers/localhost/zones/{zone}/rectify': [200, [], 'object'],
  'put /servers/localhost/zones/{zone}/notify': [200, [], 'object'],
}

/** Our extensions of PATCH. */
const EXTENSIONS = ['dry_run', 'ptr']

test('the paths and methods are those of PowerDNS, with its statuses, parameters and kinds of bodies', (t) => {
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      method === 'parameters' || !path.startsWith('/api/v1/servers')
        ? []
        : [[`${method} ${path.replace('/api/v1', '').replace(/\/$/, '')}`, operation] as const],
    ),
  )
  t.deepEqual(found.map(([key]) => key).sort(), Object.keys(OPERATIONS).sort())
  for (const [key, { parameters, responses }] of found) {
    const [status, query, body] = OPERATIONS[key]!
    const described = responses[status]
    t.truthy(described, `${key} ${status}`)
    const names = parameters
      .map(({ $ref }) => document.components.parameters[$ref.split('/').at(-1)!]!)
      .filter((parameter) => parameter.in === 'query' && !EXTENSIONS.includes(parameter.name))
    for (const { name } of names) t.true(query.includes(name), `${key} ${name}`)
    const schema = described!.content?.['application/json']?.schema
    t.is(typeOf(schema), body, key)
  }
})

function typeOf(schema: Schema | undefined): string | undefined {
  const { $ref } = schema ?? {}
  return $ref === undefined ? schema?.type : document.components.schemas[$ref.split('/').at(-1)!]!.type
}
