import { BODY_FORM } from '../../limits.ts'
import type { Resource } from '../kit/resource.ts'
import { authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, shows } from '../openapi/answers.ts'
import { WHOLE_DOMAIN } from '../transfers/transfer-resource.ts'
import { beginRollover, cancelRollover, confirmRollover, showRollover } from './rollover-handlers.ts'
import { CONFIRMATION_INPUT, ROLLOVER, ROLLOVER_INPUT } from './rollover-representation.ts'

const guards = [
  authenticateForDomain,
  requires('rrsets', { POST: 'keys', DELETE: 'keys' }),
  throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' }),
]

const LIKE_DELETION = `Needs what the deletion of the domain needs: \`perm_delete_domain\`. ${WHOLE_DOMAIN}`

/** The replacement of the keys of a domain (contract §15.10). */
export const ROLLOVERS: Resource[] = [
  {
    path: '/api/v1/domains/:name/rollover/',
    guards,
    GET: {
      id: 'showRollover',
      summary: 'Show the replacement of the keys',
      description: `404 if the keys are not being replaced. ${WHOLE_DOMAIN}`,
      answers: { 200: shows(ROLLOVER.schema) },
      chain: [showRollover],
    },
    POST: {
      id: 'beginRollover',
      summary: 'Replace the keys by a new one, or by those of before',
      description: `Goes on by itself, and needs the owner only if the DS at the parent zone is set by hand. ${LIKE_DELETION}`,
      takes: json(ROLLOVER_INPUT.schema),
      answers: { 201: shows(ROLLOVER.schema) },
      errors: {
        400: ['Cannot be combined with return.'],
        409: ['The keys of this domain are being replaced already.', 'There are no former keys of this domain.'],
      },
      isRecorded: true,
      chain: [body(BODY_FORM), beginRollover],
    },
    DELETE: {
      id: 'cancelRollover',
      summary: 'Go back to the former keys',
      description: `As long as resolvers still have them. ${LIKE_DELETION}`,
      answers: { 200: shows(ROLLOVER.schema), 204: NOTHING },
      errors: { 409: ['It is too late: resolvers may not have the former keys any more.'] },
      isRecorded: true,
      chain: [cancelRollover],
    },
  },
  {
    path: '/api/v1/domains/:name/rollover/confirm/',
    guards,
    POST: {
      id: 'confirmRollover',
      summary: 'Say that others have done their part',
      description: `In await-ds: the parent zone has the new DS, and no longer the former. The service asks it at once; the answer is 409 if it has the former DS, or cannot be asked, unless a login token confirms by force. In publish: all other signers publish the new key. ${LIKE_DELETION}`,
      takes: json(CONFIRMATION_INPUT.schema),
      answers: { 200: shows(ROLLOVER.schema) },
      errors: {
        403: ['Login token required.'],
        409: [
          'The parent zone example still has the former DS: a.nic.example (192.0.2.1) has "6454 13 2 8b2a…". ' +
            'Without the former key, validating resolvers would reject the domain. A login can confirm by force.',
          'The rollover does not wait for a confirmation.',
        ],
        503: [],
      },
      isRecorded: true,
      chain: [body(BODY_FORM), confirmRollover],
    },
  },
]
