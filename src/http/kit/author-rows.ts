import { type Entry, SOURCES } from '../../service/domains/domain-history.ts'
import { EMAIL, nullable, object, oneOf, STRING, UUID } from '../fields/schema.ts'

/** The members that say who made a change (contract §15.5). */
export const AUTHOR_ROWS = {
  source: { read: oneOf(...SOURCES), text: 'The origin of the write.', example: 'api' },
  owner: {
    read: nullable(EMAIL),
    text: 'The account of the token; null if it was deleted, or if the caller may not see it.',
  },
  token: {
    read: nullable(object({ id: UUID, name: nullable({ ...STRING, examples: ['ci'] }) })),
    text: 'The token of the write, without name if it was deleted; null if there was none, or if the caller may not see it.',
    from: ({ tokenId, tokenName }: Pick<Entry, 'tokenId' | 'tokenName'>) =>
      tokenId === null ? null : { id: tokenId, name: tokenName },
  },
}
