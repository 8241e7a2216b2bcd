import type { Config } from '../../config.ts'
import { BODY_COLLECTION, BODY_FORM, BODY_RESOURCE, RRSETS_MAX } from '../../limits.ts'
import { arrayOf, ref } from '../fields/schema.ts'
import { authenticate, authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { reportPublication } from '../middleware/publication.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows, text } from '../openapi/answers.ts'
import { CHANGES } from '../representations/change.ts'
import { DOMAIN } from '../representations/domain.ts'
import { ENTRY, OBSTRUCTED, WHEN } from '../representations/history.ts'
import { PUBLICATION } from '../representations/publication.ts'
import { RRSET } from '../representations/rrset.ts'
import { TRANSFERS } from '../representations/transfers.ts'
import type { Group, Resource } from '../resource.ts'
import * as domains from '../routes/domains.ts'
import * as history from '../routes/history.ts'
import { showPublication } from '../routes/publication.ts'
import * as rrsets from '../routes/rrsets.ts'
import { changeTransfers, showTransfers } from '../routes/transfers.ts'
import * as zonefiles from '../routes/zonefiles.ts'

const cheap = throttle('dns_api_cheap')
const domainRates = throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' })
const rrsetScopes = {
  reads: 'dns_api_cheap',
  writes: 'dns_api_per_domain_expensive',
  dryRuns: 'dns_api_cheap',
} as const
const rrsetRates = throttle(rrsetScopes)

const PAUSED = 'example.com is paused by the operator of this service and cannot be changed now.'
const WHOLE_DOMAIN = 'The token must be allowed to write all RRsets of the domain.'
const NOT_FOUND = { 404: ['Not found.'] }
/** Why writes of RRsets are refused. */
const WRITE_ERRORS = { 403: ['Insufficient token permissions.'], 409: [PAUSED], 503: [] }
const LIMIT = `Limit exceeded: a domain can have at most ${RRSETS_MAX} RRsets.`
const ZONE_FILE_EXAMPLE = 'www.example.com.\t3600\tIN\tA\t192.0.2.1'

/** Domains (contract §7). */
export function domainGroup(config: Config): Group {
  return {
    tag: 'Domains',
    text: 'The domains of an account. Each is a signed DNS zone.',
    resources: [
      {
        path: '/api/v1/domains/',
        guards: [authenticate, requires('reads', { POST: 'domainCreation' }), domains.refuseBeyondQuota, domainRates],
        methods: {
          GET: {
            id: 'listDomains',
            summary: 'List domains',
            description: 'Newest first, without their keys.',
            ...pages(DOMAIN.schema, 'owns_qname'),
            chain: [domains.listDomains],
          },
          POST: {
            id: 'createDomain',
            summary: 'Create a domain',
            description: 'It needs `perm_create_domain`. When the response arrives, DNS serves the domain, signed.',
            takes: json(DOMAIN.input('DomainInput', ['name'])),
            answers: { 201: shows(DOMAIN.full) },
            errors: { 400: ['domain with this name already exists.'], 403: [...WRITE_ERRORS[403], LIMIT], 503: [] },
            chain: [reportPublication, body(config.bodyLimit), domains.createDomain],
          },
        },
      },
      {
        path: '/api/v1/domains/:name/',
        guards: [authenticate, requires('reads', { DELETE: 'domainDeletion' }), domainRates],
        conditional: true,
        methods: {
          GET: {
            id: 'showDomain',
            summary: 'Show a domain',
            description: 'With its keys.',
            answers: { 200: shows(DOMAIN.full, 'ETag') },
            errors: NOT_FOUND,
            chain: [domains.showDomain],
          },
          DELETE: {
            id: 'deleteDomain',
            summary: 'Delete a domain',
            description:
              'Also if there is no such domain. It needs `perm_delete_domain`, and to be allowed to write its RRsets.',
            answers: { 204: NOTHING },
            errors: { 409: [PAUSED], 503: [] },
            chain: [domains.deleteDomain],
          },
        },
      },
      zonefile(config),
      {
        path: '/api/v1/domains/:name/publication/',
        guards: [authenticateForDomain, cheap],
        methods: {
          GET: {
            id: 'showPublication',
            summary: 'Show whether the name servers serve a version',
            query: ['version', 'wait'],
            answers: { 200: shows(PUBLICATION.schema) },
            problems: ['version', 'wait'],
            chain: [showPublication],
          },
        },
      },
      {
        path: '/api/v1/domains/:name/transfers/',
        guards: [authenticateForDomain, throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' })],
        methods: {
          GET: {
            id: 'showTransfers',
            summary: 'Show who may transfer the zone',
            description: WHOLE_DOMAIN,
            answers: { 200: shows(TRANSFERS.schema) },
            chain: [showTransfers],
          },
          PUT: {
            id: 'changeTransfers',
            summary: 'Change who may transfer the zone',
            description: `${WHOLE_DOMAIN} If \`tsig\` becomes true, the response has the new key.`,
            takes: json(TRANSFERS.input('TransfersInput', ['addresses', 'notify', 'tsig'])),
            answers: { 200: shows({ anyOf: [ref(TRANSFERS.schema), ref(TRANSFERS.full)] }) },
            errors: { 409: [PAUSED], 503: [] },
            chain: [body(BODY_FORM), changeTransfers],
          },
        },
      },
    ],
  }
}

function zonefile(config: Config): Resource {
  return {
    path: '/api/v1/domains/:name/zonefile/',
    guards: [authenticateForDomain, throttle({ ...rrsetScopes, reads: 'dns_api_expensive' })],
    conditional: true,
    methods: {
      GET: {
        id: 'exportZonefile',
        summary: 'Export a zone file',
        description: 'All records but those of DNSSEC. It can be imported again.',
        answers: { 200: text(ZONE_FILE_EXAMPLE, 'A zone file (RFC 1035 §5).', 'text/dns') },
        chain: [zonefiles.exportZonefile],
      },
      PUT: {
        id: 'replaceZonefile',
        summary: 'Make a domain equal to a zone file',
        description: 'All or nothing: RRsets that the file lacks are deleted, except the NS of the apex.',
        query: ['dry_run'],
        takes: text(ZONE_FILE_EXAMPLE, 'A zone file (RFC 1035 §5).', 'text/dns').content!,
        answers: { 200: shows(CHANGES) },
        errors: { ...WRITE_ERRORS, 400: ['The text is not valid UTF-8.'], 403: [...WRITE_ERRORS[403], LIMIT] },
        problems: ['zonefile', 'dry_run', 'type'],
        chain: [
          reportPublication,
          body(config.bodyLimit, { required: true, text: 'text/dns' }),
          zonefiles.replaceZonefile,
        ],
      },
    },
  }
}

const collectionJson = body(BODY_COLLECTION, { required: true })
const resourceJson = body(BODY_RESOURCE)

const oneInput = RRSET.input('RRsetInput', ['type', 'ttl', 'records'])
const wholes = arrayOf(ref(oneInput))
const shown = ref(RRSET.schema)
const manyShown = arrayOf(shown)
const dryRun = ref(CHANGES)

const writing = {
  query: ['dry_run'],
  errors: { ...WRITE_ERRORS, 403: [...WRITE_ERRORS[403], LIMIT] },
  problems: ['dry_run'],
}
const BULK =
  'All or nothing, in one publication. With problems, the response has an object for each item, empty for good ones.'

/** RRsets (contract §8). */
export const RRSETS: Group = {
  tag: 'RRsets',
  text:
    'The records of a domain. An RRset has all records of one name and type. When the response to a write arrives, DNS ' +
    'serves the new records.',
  resources: [
    {
      path: '/api/v1/domains/:name/rrsets/',
      guards: [authenticateForDomain, rrsetRates],
      conditional: true,
      methods: {
        GET: {
          id: 'listRRsets',
          summary: 'List RRsets',
          description: 'Newest first. Records that the service makes itself, such as those of DNSSEC, are not listed.',
          ...pages(RRSET.schema, 'subname', 'type'),
          errors: { ...pages(RRSET.schema).errors, 403: [rrsets.AUTOMATIC] },
          chain: [rrsets.listRRsets],
        },
        POST: {
          ...writing,
          id: 'createRRsets',
          summary: 'Create an RRset, or several',
          description: `An object creates one RRset; an array, several. ${BULK}`,
          takes: json({ anyOf: [ref(oneInput), wholes] }),
          answers: {
            201: { ...shows({ anyOf: [shown, manyShown] }), text: 'The RRset; of an array, an array.' },
            200: { ...shows(dryRun), text: 'Of a dry run.' },
          },
          chain: [reportPublication, collectionJson, rrsets.writeRRsets],
        },
        PUT: {
          ...writing,
          id: 'replaceRRsets',
          summary: 'Create, replace or delete several RRsets',
          description: `An item with \`"records": []\` deletes its RRset. The response has those that were written. ${BULK}`,
          takes: json(wholes),
          answers: { 200: shows({ anyOf: [manyShown, dryRun] }) },
          chain: [reportPublication, collectionJson, rrsets.writeRRsets],
        },
        PATCH: {
          ...writing,
          id: 'changeRRsets',
          summary: 'Create, change or delete several RRsets',
          description: `Changes only the members that an item has. An item with \`"records": []\` deletes its RRset. ${BULK}`,
          takes: json(arrayOf(ref(RRSET.input('RRsetBulkChange', ['type'])))),
          answers: { 200: shows({ anyOf: [manyShown, dryRun] }) },
          chain: [reportPublication, collectionJson, rrsets.writeRRsets],
        },
      },
    },
    {
      path: '/api/v1/domains/:name/rrsets/:subname/:type/',
      guards: [authenticateForDomain, rrsets.refuseAutomaticType, rrsetRates],
      conditional: true,
      methods: {
        GET: {
          id: 'showRRset',
          summary: 'Show an RRset',
          answers: { 200: shows(RRSET.schema, 'ETag') },
          chain: [rrsets.showRRset],
        },
        PUT: {
          ...writing,
          id: 'replaceRRset',
          summary: 'Replace an RRset',
          description: 'It must exist. `subname` and `type` must be those of the path. `"records": []` deletes it.',
          takes: json(RRSET.input('RRsetReplacement', ['subname', 'type', 'ttl', 'records'])),
          answers: {
            200: shows({ anyOf: [shown, dryRun] }, 'ETagOfWrite'),
            204: { text: 'The RRset was deleted.' },
          },
          chain: [reportPublication, resourceJson, rrsets.changeRRset],
        },
        PATCH: {
          ...writing,
          id: 'changeRRset',
          summary: 'Change an RRset',
          description: 'Changes only the members that the body has. `"records": []` deletes it.',
          takes: json(RRSET.input('RRsetChange')),
          answers: {
            200: shows({ anyOf: [shown, dryRun] }, 'ETagOfWrite'),
            204: { text: 'The RRset was deleted.' },
          },
          chain: [reportPublication, resourceJson, rrsets.changeRRset],
        },
        DELETE: {
          ...writing,
          id: 'deleteRRset',
          summary: 'Delete an RRset',
          description: 'Also if there is no such RRset.',
          answers: { 200: { ...shows(dryRun), text: 'Of a dry run.' }, 204: NOTHING },
          problems: ['dry_run', 'type'],
          chain: [reportPublication, rrsets.deleteRRset],
        },
      },
    },
  ],
}

const reading = [authenticateForDomain, cheap]
const undoing = [authenticateForDomain, rrsetRates]
const obstructed = { text: 'Later changes are in the way, or the domain is paused.', content: json(OBSTRUCTED) }

/** History (contract §15.5). */
export const HISTORY: Group = {
  tag: 'History',
  text: 'Who has changed what in a domain, and the way back.',
  resources: [
    {
      path: '/api/v1/domains/:name/history/',
      guards: reading,
      methods: {
        GET: {
          id: 'listHistory',
          summary: 'List the entries of the history',
          description: 'Newest first, without their changes.',
          ...pages(ENTRY.schema, 'subname', 'type'),
          chain: [history.listEntries],
        },
      },
    },
    {
      path: '/api/v1/domains/:name/history/:id/',
      guards: reading,
      methods: {
        GET: {
          id: 'showHistoryEntry',
          summary: 'Show an entry with its changes',
          answers: { 200: shows(ENTRY.full) },
          chain: [history.showEntry],
        },
      },
    },
    {
      path: '/api/v1/domains/:name/history/:id/undo/',
      guards: undoing,
      conditional: true,
      methods: {
        POST: {
          ...writing,
          id: 'undo',
          summary: 'Undo an entry',
          description: 'Puts each RRset of the entry back to what it was before, unless it was changed since.',
          answers: { 200: shows(CHANGES), 409: obstructed },
          problems: ['dry_run', 'type'],
          chain: [reportPublication, history.undoEntry],
        },
      },
    },
    {
      path: '/api/v1/domains/:name/restore/',
      guards: undoing,
      conditional: true,
      methods: {
        POST: {
          ...writing,
          id: 'restore',
          summary: 'Restore an earlier state',
          description: 'Makes all RRsets as they were at a time, or in a version.',
          takes: json(WHEN.schema),
          answers: { 200: shows(CHANGES), 409: obstructed },
          problems: ['dry_run', 'type'],
          chain: [reportPublication, body(BODY_FORM), history.restoreDomain],
        },
      },
    },
  ],
}
