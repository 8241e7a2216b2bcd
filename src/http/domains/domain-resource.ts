import { BODY_FORM } from '../../limits.ts'
import type { Config } from '../../settings/config.ts'
import { DELEGATION_OF_DOMAIN, DELEGATIONS } from '../delegation/delegation-resource.ts'
import { arrayOf, type Component, ref } from '../fields/schema.ts'
import { CHANGES } from '../kit/change-representation.ts'
import type { Group, Resource } from '../kit/resource.ts'
import { authenticate, authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { reportPublication } from '../middleware/report-publication.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows, text } from '../openapi/answers.ts'
import { ROLLOVERS } from '../rollovers/rollover-resource.ts'
import { NOT_PERMITTED, RRSET_SCOPES, WRITING } from '../rrsets/rrset-resource.ts'
import * as zonefiles from '../rrsets/zonefile-handlers.ts'
import { TRANSFERS_OF_DOMAIN, WHOLE_DOMAIN } from '../transfers/transfer-resource.ts'
import { DELETED_DOMAIN } from './deleted-domain-representation.ts'
import * as domains from './domain-handlers.ts'
import { DOMAIN, DOMAIN_CHANGE } from './domain-representation.ts'
import { OVERVIEW } from './overview-representation.ts'
import { PUBLICATION } from './publication-representation.ts'

const domainRates = throttle({ reads: 'dns_api_cheap', writes: 'dns_api_expensive' })

const ZONE_FILE = text('www.example.com.\t3600\tIN\tA\t192.0.2.1', 'A zone file (RFC 1035 §5).', 'text/dns')

const newDomain: Component = {
  ...DOMAIN.input('DomainInput', ['name']),
  not: { properties: { restore: {}, zonefile: { minLength: 1 } }, required: ['restore', 'zonefile'] },
  examples: [{ name: 'example.com', zonefile: 'www 3600 IN A 192.0.2.1' }],
}

/** Describes domains (contract §7). */
export function domainGroup(config: Config): Group {
  return {
    tag: 'Domains',
    text: 'The domains of an account. Each is a signed DNS zone.',
    resources: [
      {
        path: '/api/v1/domains/',
        guards: [
          authenticate,
          requires('reads', { POST: 'domainCreation' }),
          domains.refuseListOfDeleted,
          domains.refuseBeyondQuota,
          domainRates,
        ],
        GET: {
          id: 'listDomains',
          summary: 'List domains',
          description:
            'Newest first, without their keys. With `deleted=true`, the deleted ones that can be restored, the last ' +
            'deletion first; this needs `perm_create_domain`. With `overview=true`, each has what the first look at it needs.',
          ...pages(DOMAIN.schema, 'owns_qname', 'search', 'deleted', 'overview'),
          answers: {
            200: shows({ anyOf: [DOMAIN, OVERVIEW, DELETED_DOMAIN].map(({ schema }) => arrayOf(ref(schema))) }, 'Link'),
          },
          problems: ['deleted', 'overview', 'owns_qname'],
          chain: [domains.listDomains],
        },
        POST: {
          id: 'createDomain',
          summary: 'Create a domain',
          description: 'Needs `perm_create_domain`. When the response arrives, DNS serves the signed domain.',
          takes: json(newDomain),
          answers: { 201: shows(DOMAIN.full) },
          errors: { 400: ['domain with this name already exists.'], 403: NOT_PERMITTED },
          isRecorded: true,
          chain: [reportPublication, body(config.bodyLimit), domains.createDomain],
        },
      },
      {
        path: '/api/v1/domains/:name/',
        guards: [authenticate, requires('reads', { PATCH: 'settings', DELETE: 'domainDeletion' }), domainRates],
        conditional: true,
        GET: {
          id: 'showDomain',
          summary: 'Show a domain',
          description: 'With its keys.',
          answers: { 200: shows(DOMAIN.full, 'ETag') },
          chain: [domains.showDomain],
        },
        PATCH: {
          id: 'changeDomain',
          summary: 'Change a domain',
          description: `Changes its note. ${WHOLE_DOMAIN}`,
          takes: json(DOMAIN_CHANGE.schema),
          answers: { 200: shows(DOMAIN.schema, 'ETag') },
          errors: { 409: [] },
          chain: [domains.findDomain, body(BODY_FORM), domains.changeDomain],
        },
        DELETE: {
          id: 'deleteDomain',
          summary: 'Delete a domain',
          description:
            'Succeeds also without such a domain. Needs `perm_delete_domain`, and the permission to write its RRsets.',
          answers: { 204: NOTHING },
          errors: { 409: [] },
          isRecorded: true,
          chain: [domains.deleteDomain],
        },
      },
      zonefile(config),
      {
        path: '/api/v1/domains/:name/publication/',
        guards: [authenticateForDomain, throttle('dns_api_cheap')],
        GET: {
          id: 'showPublication',
          summary: 'Show the publication status of a version',
          query: ['version', 'wait'],
          answers: { 200: shows(PUBLICATION.schema) },
          problems: ['version', 'wait'],
          chain: [domains.showPublication],
        },
      },
      TRANSFERS_OF_DOMAIN,
      ...ROLLOVERS,
      DELEGATION_OF_DOMAIN,
      DELEGATIONS,
    ],
  }
}

/** Describes the zone file of a domain (contract §7.7). */
function zonefile(config: Config): Resource {
  return {
    path: '/api/v1/domains/:name/zonefile/',
    guards: [authenticateForDomain, throttle({ ...RRSET_SCOPES, reads: 'dns_api_expensive' })],
    conditional: true,
    GET: {
      id: 'exportZonefile',
      summary: 'Export a zone file',
      description: 'All records except those of DNSSEC, in a form that can be imported.',
      answers: { 200: ZONE_FILE },
      errors: { 409: ['The operator of the service has suspended the domain.'] },
      chain: [zonefiles.exportZonefile],
    },
    PUT: {
      id: 'replaceZonefile',
      summary: 'Make a domain equal to a zone file',
      description: 'All or nothing: RRsets that the file lacks are deleted, except the NS of the apex.',
      query: WRITING.query,
      takes: ZONE_FILE.content!,
      answers: { 200: shows(CHANGES) },
      errors: { ...WRITING.errors, 400: ['The text is not valid UTF-8.'] },
      problems: ['zonefile', 'dry_run', 'ptr', 'type'],
      isRecorded: true,
      chain: [
        reportPublication,
        body(config.bodyLimit, { required: true, text: 'text/dns' }),
        zonefiles.replaceZonefile,
      ],
    },
  }
}
