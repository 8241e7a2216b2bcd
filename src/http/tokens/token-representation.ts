import { ALLOWED_SUBNETS_MAX, TOKEN_NAME_LENGTH } from '../../limits.ts'
import type { TsigKey } from '../../service/doors/tsig-keys.ts'
import type { Token, TokenInput } from '../../service/tokens/tokens.ts'
import { duration } from '../fields/durations.ts'
import { boolean, text } from '../fields/fields.ts'
import { networks } from '../fields/networks.ts'
import { TEXT } from '../fields/patterns.ts'
import { BOOLEAN, EMAIL, nullable, oneOf, STRING, TIME, UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** A token; in full with its secret (contract §5.1). */
export const TOKEN = representation<Token & { secret?: string }>()(['Token', 'NewToken'], {
  id: { read: UUID, text: 'Identifies the token; it is not a secret.' },
  created: { read: TIME, text: 'The time of its creation.' },
  last_used: { read: nullable(TIME), text: 'The time of the last request that authenticated with it.' },
  owner: { read: EMAIL, text: 'The account that owns the token.' },
  user_override: {
    read: nullable(EMAIL),
    text: 'The account for which the token acts, if not its owner. Only the operator can set it.',
    example: null,
  },
  mfa: {
    read: nullable(BOOLEAN),
    text: 'Null for an API token. For a login token, whether its second factor is verified.',
    example: null,
  },
  max_age: { write: duration(), text: 'The token expires at this age. Null: never.', example: '365 00:00:00' },
  max_unused_period: {
    write: duration(),
    text: 'The token expires after this time without use. Null: never.',
    example: null,
  },
  name: {
    write: text({ trim: true }).meta({ accepted: { ...TEXT, maxLength: TOKEN_NAME_LENGTH } }),
    text: 'For people; at most 178 characters.',
    example: 'home router',
  },
  perm_create_domain: { write: boolean(), text: 'Whether it may create domains.', example: true },
  perm_delete_domain: { write: boolean(), text: 'Whether it may delete domains.', example: false },
  perm_manage_tokens: {
    write: boolean(),
    text: 'Whether it may manage tokens and the account, and so gain every other permission.',
    example: false,
  },
  allowed_subnets: {
    write: networks(),
    text:
      `From where it can be used: at most ${ALLOWED_SUBNETS_MAX} addresses and networks. ` +
      'Addresses become networks in responses.',
    example: ['198.51.100.0/24', '2001:db8::/32'],
  },
  auto_policy: {
    write: boolean(),
    text: 'Whether each domain that it creates gets a policy that permits its writes. Its default policy then forbids writing.',
    example: false,
  },
  is_valid: {
    read: BOOLEAN,
    text: 'Whether it is valid now, by its age and its last use.',
    example: true,
    from: ({ valid }) => valid,
  },
  maker: {
    read: EMAIL,
    isOptional: true,
    text: 'Who made it as a member of the account. Absent if nobody did.',
  },
  tsig: {
    read: BOOLEAN,
    isOptional: true,
    text: 'True if it has a TSIG key. Absent if it has none.',
    example: true,
  },
  message_required: {
    write: boolean(),
    isOptional: true,
    text: 'Whether its writes need the header `Zoneplane-Message`. Absent: no.',
    example: true,
  },
  token: {
    readOnce: STRING,
    text: 'The secret, for the `Authorization` header. Its length may change.',
    example: 'i3QQpBnXLYvMVoxL9bGHPVUGBCiA',
    from: ({ secret }) => secret,
  },
})

/** The TSIG key of a token (contract §21.2). */
export const TSIG_KEY = representation<TsigKey>()(['TokenTsigKey'], {
  name: { read: STRING, text: 'Its name: the id of the token.', example: '3159e485-5499-46c0-ae2b-aeb84d627a8e.' },
  algorithm: { read: oneOf('hmac-sha256'), text: 'Its algorithm.', example: 'hmac-sha256' },
  secret: { read: STRING, text: 'Its secret, in Base64.', example: 'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=' },
})

/** Reads the settings in the body. */
export function readToken(body: unknown): TokenInput {
  const { problems, ...settings } = TOKEN.read(body)
  return { settings, problems }
}
