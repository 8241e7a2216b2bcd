import { RRSETS_MAX } from '../../limits.ts'
import { throttle } from '../middleware/throttle.ts'

/** The scopes of requests about the RRsets of a domain (contract §14). */
export const RRSET_SCOPES = {
  reads: 'dns_api_cheap',
  writes: 'dns_api_per_domain_expensive',
  dryRuns: 'dns_api_cheap',
} as const
export const rrsetRates = throttle(RRSET_SCOPES)

export const PAUSED = 'example.com is paused by the operator of this service and cannot be changed now.'
export const NOT_PERMITTED = [
  'Insufficient token permissions.',
  `Limit exceeded: a domain can have at most ${RRSETS_MAX} RRsets.`,
]

/** What all writes of RRsets say. */
export const WRITING = {
  query: ['dry_run'],
  errors: { 403: NOT_PERMITTED, 409: [PAUSED], 503: [] },
  problems: ['dry_run'],
}
