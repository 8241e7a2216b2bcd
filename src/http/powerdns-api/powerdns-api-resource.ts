import { BODY_COLLECTION, BODY_RESOURCE } from '../../limits.ts'
import type { Config } from '../../settings/config.ts'
import { refuseBeyondQuota } from '../domains/domain-handlers.ts'
import { arrayOf, type Component, described, type JsonSchema, object, oneOf, ref, STRING } from '../fields/schema.ts'
import { CHANGES } from '../kit/change-representation.ts'
import type { Middleware } from '../kit/context.ts'
import type { Group, Resource } from '../kit/resource.ts'
import { authenticateByKey, authenticateByKeyFor, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { reportPublication } from '../middleware/report-publication.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, shows } from '../openapi/answers.ts'
import { describeApi } from '../openapi/document.ts'
import { documentIn } from '../openapi/documents-resource.ts'
import { NOT_PERMITTED, RRSET_SCOPES, rrsetRates } from '../rrsets/rrset-resource.ts'
import { CRYPTOKEY } from './cryptokey-representation.ts'
import { searchData } from './search-handlers.ts'
import { FOUND_RECORD, FOUND_ZONE } from './search-representation.ts'
import * as servers from './server-handlers.ts'
import { API, SERVER } from './server-representation.ts'
import * as zones from './zone-handlers.ts'
import { ZONE, ZONE_RRSET } from './zone-representation.ts'

const SERVER_PATH = '/api/v1/servers/localhost'

const authenticateForZone = authenticateByKeyFor(zones.zoneInPath)

/** A zone with its RRsets, which `rrsets=false` leaves out. */
const ZONE_WITH_RRSETS: Component = {
  ...ZONE.full,
  title: 'ZoneWithRRsets',
  properties: { ...ZONE.full.properties, rrsets: arrayOf(ref(ZONE_RRSET.schema)) },
}
const whole = shows(ZONE_WITH_RRSETS)

const RRSET_INPUT: JsonSchema = {
  type: 'object',
  properties: {
    name: described(STRING, 'Absolute, in any case.', 'www.example.com.'),
    type: described(STRING, 'The record type.', 'A'),
    ttl: described({ type: ['integer', 'string'] }, 'In seconds.', 3600),
    records: described(arrayOf({ type: 'object' }), 'Objects with `content`.', [{ content: '192.0.2.1' }]),
    comments: described(arrayOf({ type: 'object' }), 'Ignored.', []),
  },
  required: ['name', 'type'],
}
const AMENDMENT: JsonSchema = {
  ...RRSET_INPUT,
  properties: {
    ...RRSET_INPUT.properties,
    changetype: described(STRING, 'REPLACE, DELETE, EXTEND or PRUNE, in any case.', 'REPLACE'),
  },
  required: ['name', 'type', 'changetype'],
}

const RESULT = object({ result: STRING })

const WRITING = { 403: NOT_PERMITTED, 409: [], 422: [] }

const ABOUT = {
  title: "Zoneplane, as PowerDNS' API",
  summary: 'Zones, for clients of PowerDNS.',
  description:
    "The paths and objects of the HTTP API of PowerDNS Authoritative, with the rights of a token. Contract: PowerDNS' own " +
    'documents, and docs/powerdns-api.md for what differs.',
  security: {
    key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The secret of a token.' },
  },
}

/** Describes PowerDNS' API (contract §20), and returns what makes its document. */
export function powerdnsApi(config: Config): { groups: Group[]; describe: () => Record<string, unknown> } {
  const describe = () => describeApi(groups, config, ABOUT)
  const document = documentIn('openapi-powerdns.json', 'showDocument', 'Show this document', () =>
    JSON.stringify(describe()),
  )
  const groups = [serverGroup, zoneGroup(config)].map((group) => ({
    ...group,
    resources: group.resources.map((resource): Resource => ({ ...resource, powerdns: true })),
  }))
  groups.push({ tag: 'Document', text: 'The description of these paths.', resources: [document] })
  return { groups, describe }
}

function reading(
  path: string,
  id: string,
  summary: string,
  schema: JsonSchema,
  handler: Resource['guards'][0],
): Resource {
  return {
    path,
    guards: [authenticateByKey, requires('reads'), throttle('dns_api_cheap')],
    GET: { id, summary, answers: { 200: shows(schema) }, chain: [handler] },
  }
}

function ofZone(part: string, id: string, summary: string, item: JsonSchema, handler: Middleware): Resource {
  return {
    path: `${SERVER_PATH}/zones/:zone/${part}`,
    guards: [authenticateForZone, throttle('dns_api_cheap')],
    GET: { id, summary, answers: { 200: shows(arrayOf(item)) }, chain: [handler] },
  }
}

const serverGroup: Group = {
  tag: 'Servers',
  text: 'The one server.',
  resources: [
    reading('/api', 'listApis', 'List the versions of the API', arrayOf(ref(API.schema)), servers.showApis),
    reading('/api/v1/servers', 'listServers', 'List the servers', arrayOf(ref(SERVER.schema)), servers.listServers),
    reading(SERVER_PATH, 'showServer', 'Show the server', ref(SERVER.schema), servers.showServer),
    {
      path: `${SERVER_PATH}/search-data`,
      guards: [authenticateByKey, requires('reads'), throttle('dns_api_cheap')],
      GET: {
        id: 'searchData',
        summary: 'Search zones and records',
        description: 'Zones by a pattern with `*` and `?`, records by their full name or content.',
        query: ['q', 'max', 'object_type'],
        answers: { 200: shows(arrayOf({ anyOf: [ref(FOUND_ZONE.schema), ref(FOUND_RECORD.schema)] })) },
        errors: { 422: [], 503: [] },
        chain: [searchData],
      },
    },
    reading(
      `${SERVER_PATH}/statistics`,
      'listStatistics',
      'List statistics',
      arrayOf({ type: 'object' }),
      servers.listNothing,
    ),
  ],
}

function zoneGroup(config: Config): Group {
  return {
    tag: 'Zones',
    text: 'The domains of the account, as zones.',
    resources: [
      {
        path: `${SERVER_PATH}/zones`,
        guards: [
          authenticateByKey,
          requires('reads', { POST: 'domainCreation' }),
          refuseBeyondQuota,
          throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' }),
        ],
        GET: {
          id: 'listZones',
          summary: 'List zones',
          query: ['zone', 'dnssec'],
          answers: { 200: shows(arrayOf(ref(ZONE.schema))) },
          errors: { 422: [] },
          chain: [zones.listZones],
        },
        POST: {
          id: 'createZone',
          summary: 'Create a zone',
          query: ['rrsets'],
          takes: json({
            type: 'object',
            properties: {
              name: described(STRING, 'Absolute.', 'example.com.'),
              kind: oneOf('Native', 'Master', 'Primary'),
              nameservers: described(arrayOf(STRING), 'Ignored: the service has its own.', []),
              rrsets: arrayOf(RRSET_INPUT),
              zone: described(STRING, 'A zone file, instead of `rrsets`.', ''),
            },
            required: ['name', 'kind'],
          }),
          answers: { 201: whole },
          errors: WRITING,
          isRecorded: true,
          chain: [reportPublication, body(config.bodyLimit, { untyped: true }), zones.createZone],
        },
      },
      {
        path: `${SERVER_PATH}/zones/:zone`,
        guards: [authenticateForZone, requires('rrsets', { DELETE: 'domainDeletion' }), rrsetRates],
        conditional: true,
        GET: {
          id: 'showZone',
          summary: 'Show a zone',
          query: ['rrsets', 'rrset_name', 'rrset_type'],
          answers: { 200: { ...whole, headers: ['ETag'] } },
          errors: { 422: [], 503: [] },
          chain: [zones.showZone],
        },
        PATCH: {
          id: 'changeZone',
          summary: 'Change RRsets of a zone',
          description: 'All or nothing, in one publication. EXTEND and PRUNE add and remove one record.',
          query: ['dry_run', 'ptr'],
          takes: json({ type: 'object', properties: { rrsets: arrayOf(AMENDMENT) }, required: ['rrsets'] }),
          answers: { 200: { ...shows(ref(CHANGES)), text: 'The result of a dry run.' }, 204: NOTHING },
          errors: WRITING,
          isRecorded: true,
          chain: [reportPublication, body(BODY_COLLECTION, { untyped: true }), zones.changeZone],
        },
        PUT: {
          id: 'keepSettings',
          summary: 'Confirm settings of a zone',
          description: 'Accepts the settings that the zone has anyway.',
          takes: json({ type: 'object', properties: { kind: oneOf('Native', 'Master', 'Primary') } }),
          answers: { 204: NOTHING },
          errors: { 422: [] },
          chain: [body(BODY_RESOURCE, { untyped: true }), zones.keepSettings],
        },
        DELETE: {
          id: 'deleteZone',
          summary: 'Delete a zone',
          answers: { 204: NOTHING },
          errors: WRITING,
          isRecorded: true,
          chain: [zones.deleteZone],
        },
      },
      {
        path: `${SERVER_PATH}/zones/:zone/export`,
        guards: [authenticateForZone, throttle({ ...RRSET_SCOPES, reads: 'dns_api_expensive' })],
        GET: {
          id: 'exportZone',
          summary: 'Export a zone file',
          answers: {
            200: {
              content: {
                'application/json': object({ zone: STRING }),
                'text/plain': STRING,
              },
            },
          },
          errors: { 409: [] },
          chain: [zones.exportZone],
        },
      },
      ofZone(
        'cryptokeys',
        'listCryptokeys',
        'List the keys that sign a zone',
        ref(CRYPTOKEY.schema),
        zones.listCryptokeys,
      ),
      ofZone('metadata', 'listMetadata', 'List the metadata of a zone', { type: 'object' }, servers.listNothing),
      ...[
        { verb: 'rectify', id: 'rectifyZone', summary: 'Rectify a zone', text: 'Rectified' },
        { verb: 'notify', id: 'notifyZone', summary: 'Notify the servers of a zone', text: 'Notification queued' },
      ].map(({ verb, id, summary, text }): Resource => ({
        path: `${SERVER_PATH}/zones/:zone/${verb}`,
        guards: [authenticateForZone, throttle('dns_api_cheap')],
        PUT: {
          id,
          summary,
          description: 'Does nothing: the service does it after every change.',
          answers: { 200: shows(RESULT) },
          chain: [zones.confirm(text)],
        },
      })),
    ],
  }
}
