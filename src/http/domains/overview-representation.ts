import type { Overview } from '../../service/domains/overviews.ts'
import { PHASES } from '../../service/rollovers/rollovers.ts'
import { LAST_CHECK } from '../delegation/delegation-representation.ts'
import { type Component, COUNT, nullable, oneOf, ref, TIME } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { AUTHOR_ROWS } from '../kit/author-rows.ts'
import { DOMAIN } from './domain-representation.ts'

const LAST_CHANGE = representation<NonNullable<Overview['lastChange']>>()(['LastChange'], {
  created: { read: TIME, text: 'The time of the write.' },
  ...AUTHOR_ROWS,
})

const MEMBERS = representation<Overview>()(['OverviewMembers'], {
  rrsets: { read: COUNT, text: 'The number of its RRsets.', example: 12, from: ({ size }) => size },
  last_change: {
    read: nullable(ref(LAST_CHANGE.schema)),
    text: 'Who changed it last, as the newest entry of its history says; null without entries.',
    from: ({ lastChange }) => lastChange && LAST_CHANGE.present(lastChange),
  },
  delegation: {
    read: ref(LAST_CHECK.schema),
    text: 'The state of its delegation, as the last check at its parent found it.',
    from: (overview) => LAST_CHECK.present(overview),
  },
  rollover: {
    read: nullable(oneOf(...PHASES)),
    text: 'The phase of its rollover, as `…/rollover/` says it; null without one.',
    example: null,
  },
})

const { properties, required } = DOMAIN.schema

/** A domain with what the first look at it needs (contract §15.13). */
export const OVERVIEW = {
  schema: {
    ...MEMBERS.schema,
    title: 'DomainOverview',
    properties: { ...properties, ...MEMBERS.schema.properties },
    required: [...required!, ...MEMBERS.schema.required!],
  } satisfies Component,
  present: (overview: Overview) => ({ ...DOMAIN.present(overview), ...MEMBERS.present(overview) }),
}
