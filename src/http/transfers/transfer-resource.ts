import { BODY_FORM } from '../../limits.ts'
import { ref } from '../fields/schema.ts'
import type { Resource } from '../kit/resource.ts'
import { authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, shows } from '../openapi/answers.ts'
import { changeTransfers, showTransfers } from './transfer-handlers.ts'
import { TRANSFERS } from './transfer-representation.ts'

/** The sentence of a description for what requires the right to write the whole domain (contract §6.5). */
export const WHOLE_DOMAIN = 'The token must be allowed to write all RRsets of the domain.'

/** The permissions to transfer the zone of a domain (contract §15.7). */
export const TRANSFERS_OF_DOMAIN: Resource = {
  path: '/api/v1/domains/:name/transfers/',
  guards: [
    authenticateForDomain,
    requires('settings'),
    throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' }),
  ],
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
    errors: { 409: [] },
    chain: [body(BODY_FORM), changeTransfers],
  },
}
