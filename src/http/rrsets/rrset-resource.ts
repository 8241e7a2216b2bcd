import { BODY_COLLECTION, BODY_RESOURCE, COLLECTION_ITEMS, RRSETS_MAX } from '../../limits.ts'
import { SUBNAME_TEXT } from '../fields/patterns.ts'
import { arrayOf, type Component, described, type JsonSchema, ref } from '../fields/schema.ts'
import { CHANGES } from '../kit/change-representation.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { reportPublication } from '../middleware/report-publication.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows } from '../openapi/answers.ts'
import * as rrsets from './rrset-handlers.ts'
import { RRSET } from './rrset-representation.ts'

/** The scopes of requests about the RRsets of a domain (contract §14). */
export const RRSET_SCOPES = {
  reads: 'dns_api_cheap',
  writes: 'dns_api_per_domain_expensive',
  dryRuns: 'dns_api_cheap',
} as const
export const rrsetRates = throttle(RRSET_SCOPES)

export const NOT_PERMITTED = [
  'Insufficient token permissions.',
  `Limit exceeded: a domain can have at most ${RRSETS_MAX} RRsets.`,
  'Limit exceeded: a domain can have at most 33554432 octets of records.',
]

/** The common description of all writes of RRsets. */
export const WRITING = {
  query: ['dry_run', 'ptr'],
  errors: { 403: NOT_PERMITTED, 409: [] },
  problems: ['dry_run', 'ptr'],
  isRecorded: true,
} as const

const collectionJson = body(BODY_COLLECTION, { required: true })

/** Returns the same schema, with narrower ones of some members. */
function narrowed(schema: Component, members: Record<string, JsonSchema>): Component {
  return { ...schema, properties: { ...schema.properties, ...members } }
}

/** Returns the schema of the items of a bulk request: their subnames cannot be numbers. */
function itemsOf(schema: Component): JsonSchema {
  const { description = '', examples } = schema.properties!['subname']!
  const item = narrowed(schema, { subname: described(SUBNAME_TEXT, description, examples?.[0]) })
  return { ...arrayOf(ref(item)), maxItems: COLLECTION_ITEMS }
}

/** Returns the schema of an RRset to be created, which has records. */
function newRRset(title: string): Component {
  const schema = RRSET.input(title, ['type', 'ttl', 'records'])
  return narrowed(schema, { records: { ...schema.properties!['records'], minItems: 1 } })
}

const shown = ref(RRSET.schema)
const manyShown = arrayOf(shown)
const dryRun = ref(CHANGES)

const changing = {
  ...WRITING,
  answers: { 200: shows({ anyOf: [shown, dryRun] }, 'ETagOfWrite'), 204: { text: 'The RRset was deleted.' } },
  chain: [reportPublication, body(BODY_RESOURCE), rrsets.changeRRset],
}
const BULK =
  'All or nothing, in one publication. If items have problems, the response has an object for each item, empty if valid.'

/** RRsets (contract §8). */
export const RRSETS: Group = {
  tag: 'RRsets',
  text:
    'The records of a domain. An RRset contains all records of one name and type. When the response to a write ' +
    'arrives, DNS serves the new records.',
  resources: [
    {
      path: '/api/v1/domains/:name/rrsets/',
      guards: [authenticateForDomain, rrsetRates],
      conditional: true,
      GET: {
        id: 'listRRsets',
        summary: 'List RRsets',
        description: 'Newest first, without the records that the service makes itself, such as those of DNSSEC.',
        ...pages(RRSET.schema, 'subname', 'type', 'search'),
        errors: { ...pages(RRSET.schema).errors, 403: [rrsets.AUTOMATIC] },
        chain: [rrsets.listRRsets],
      },
      POST: {
        ...WRITING,
        id: 'createRRsets',
        summary: 'Create one RRset or several',
        description: `An object creates one RRset; an array, several. ${BULK}`,
        takes: json({ anyOf: [ref(newRRset('NewRRset')), itemsOf(newRRset('NewRRsetItem'))] }),
        answers: {
          201: { ...shows({ anyOf: [shown, manyShown] }), text: 'The RRset; for an array, an array.' },
          200: { ...shows(dryRun), text: 'The result of a dry run.' },
        },
        chain: [reportPublication, collectionJson, rrsets.writeRRsets],
      },
      PUT: {
        ...WRITING,
        id: 'replaceRRsets',
        summary: 'Create, replace or delete several RRsets',
        description: `An item with \`"records": []\` deletes its RRset. The response has the written RRsets. ${BULK}`,
        takes: json(itemsOf(RRSET.input('RRsetItem', ['type', 'ttl', 'records']))),
        answers: { 200: shows({ anyOf: [manyShown, dryRun] }) },
        chain: [reportPublication, collectionJson, rrsets.writeRRsets],
      },
      PATCH: {
        ...WRITING,
        id: 'changeRRsets',
        summary: 'Create, change or delete several RRsets',
        description: `Changes only the members of each item. An item with \`"records": []\` deletes its RRset. ${BULK}`,
        takes: json(itemsOf(RRSET.input('RRsetBulkChange', ['type']))),
        answers: { 200: shows({ anyOf: [manyShown, dryRun] }) },
        chain: [reportPublication, collectionJson, rrsets.writeRRsets],
      },
    },
    {
      path: '/api/v1/domains/:name/rrsets/:subname/:type/',
      guards: [authenticateForDomain, rrsets.refuseAutomaticType, rrsetRates],
      conditional: true,
      GET: {
        id: 'showRRset',
        summary: 'Show an RRset',
        answers: { 200: shows(RRSET.schema, 'ETag') },
        chain: [rrsets.showRRset],
      },
      PUT: {
        ...changing,
        id: 'replaceRRset',
        summary: 'Replace an RRset',
        description: 'It must exist. `subname` and `type` must equal those in the path. `"records": []` deletes it.',
        takes: json(RRSET.input('RRsetReplacement', ['subname', 'type', 'ttl', 'records'])),
      },
      PATCH: {
        ...changing,
        id: 'changeRRset',
        summary: 'Change an RRset',
        description: 'Changes only the members in the body. `"records": []` deletes it.',
        takes: json(RRSET.input('RRsetChange')),
      },
      DELETE: {
        ...WRITING,
        id: 'deleteRRset',
        summary: 'Delete an RRset',
        description: 'Succeeds also without such an RRset.',
        answers: { 200: { ...shows(dryRun), text: 'The result of a dry run.' }, 204: NOTHING },
        problems: ['dry_run', 'ptr', 'type'],
        chain: [reportPublication, rrsets.deleteRRset],
      },
    },
    {
      path: '/api/v1/rrsets/',
      guards: [authenticate, requires('rrsets'), rrsetRates],
      GET: {
        id: 'searchRRsets',
        summary: 'Search the RRsets of all domains',
        description: 'By the content of a record, by name, or both; newest first.',
        ...pages(RRSET.schema, 'content', 'fullName', 'type', 'domain'),
        problems: ['content', 'domain', 'name', 'type'],
        chain: [rrsets.searchRRsets],
      },
    },
  ],
}
