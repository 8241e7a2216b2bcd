import { BODY_FORM } from '../../limits.ts'
import { CHANGES } from '../kit/change-representation.ts'
import type { Group } from '../kit/resource.ts'
import { authenticateForDomain } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { reportPublication } from '../middleware/report-publication.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, pages, shows } from '../openapi/answers.ts'
import { rrsetRates, WRITING } from '../rrsets/rrset-resource.ts'
import { ACTIVITIES } from './activity-resource.ts'
import * as history from './history-handlers.ts'
import { ENTRY, OBSTRUCTED, WHEN } from './history-representation.ts'

const reading = [authenticateForDomain, throttle('dns_api_cheap')]
const undoing = [authenticateForDomain, rrsetRates]
const obstructed = { text: 'Later changes are in the way, or the domain is paused.', content: json(OBSTRUCTED) }

/** History (contract §15.5). */
export const HISTORY: Group = {
  tag: 'History',
  text: 'The changes of a domain with their authors, and ways to undo them; and what happened in the account.',
  resources: [
    ACTIVITIES,
    {
      path: '/api/v1/domains/:name/history/',
      guards: reading,
      GET: {
        id: 'listHistory',
        summary: 'List the entries of the history',
        description:
          'Newest first. A page of a search can have few entries or none, while others follow: it looks at a part of the ' +
          'history.',
        ...pages(ENTRY.schema, 'subname', 'type', 'search'),
        chain: [history.listEntries],
      },
    },
    {
      path: '/api/v1/domains/:name/history/:id/',
      guards: reading,
      GET: {
        id: 'showHistoryEntry',
        summary: 'Show an entry with all its changes',
        answers: { 200: shows(ENTRY.schema) },
        chain: [history.showEntry],
      },
    },
    {
      path: '/api/v1/domains/:name/history/:id/undo/',
      guards: undoing,
      conditional: true,
      POST: {
        ...WRITING,
        id: 'undo',
        summary: 'Undo an entry',
        description:
          'Puts each RRset of the entry back to what it was before, unless it was changed since. A repair, a replacement ' +
          'of keys, and the creation, deletion and return of the domain cannot be undone.',
        answers: { 200: shows(CHANGES), 409: obstructed },
        problems: ['dry_run', 'ptr', 'subname', 'type'],
        chain: [reportPublication, history.undoEntry],
      },
    },
    {
      path: '/api/v1/domains/:name/restore/',
      guards: undoing,
      conditional: true,
      POST: {
        ...WRITING,
        id: 'restore',
        summary: 'Restore an earlier state',
        description: 'Restores all RRsets of a time, or of a version.',
        takes: json(WHEN),
        answers: { 200: shows(CHANGES), 409: obstructed },
        problems: ['dry_run', 'ptr', 'subname', 'type'],
        chain: [reportPublication, body(BODY_FORM), history.restoreDomain],
      },
    },
  ],
}
