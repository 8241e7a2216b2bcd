import { PUBLICATION_WAIT } from '../../limits.ts'
import { ACTIONS } from '../../service/accounts/confirmations.ts'
import { STATES } from '../../service/delegation/checks.ts'
import { oneOf, VERSION } from '../fields/schema.ts'
import type { Described } from './described-headers.ts'

/** The parameters in paths. Malformed ones address nothing, so any text is allowed. */
export const PATH_PARAMETERS: Record<string, Described> = {
  name: { description: 'The name of a domain, in lower case, without final dot.', example: 'example.com' },
  subname: {
    description: 'The subname of the RRset; `@` is the apex. One `@` or `...` at its end is ignored.',
    example: 'www',
  },
  type: { description: 'The type of the RRset, in upper case.', example: 'A' },
  id: { description: 'The `id` of the object.', example: '5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d' },
  delivery: { description: 'The `id` of the delivery.', example: '0b7c2a4e-6d1f-4e8a-9c3b-2a1d5e6f7081' },
  policy: { description: 'The `id` of the policy.', example: '0b7c2a4e-6d1f-4e8a-9c3b-2a1d5e6f7081' },
  action: {
    description: `The action of the link: ${ACTIONS.map((action) => `\`${action}\``).join(', ')}.`,
    example: 'activate-account',
  },
  asset: {
    description: 'The name of a file of the documentation page.',
    example: 'swagger-ui.css',
  },
  zone: { description: 'The id of a zone: its absolute name.', example: 'example.com.' },
  code: { description: 'The code in the link.', example: 'pnLKo8W2bC5yVfQqJmHt' },
}

const ADDRESSES =
  'Addresses or one network, separated by commas. Empty: delete; `preserve`: leave as they are. With a network, only the ' +
  'network part of the present addresses changes.'

const FLAG = oneOf('true', 'false')

/** The query parameters that operations name. Others are ignored. */
export const QUERY_PARAMETERS: Record<string, Described> = {
  cursor: {
    description: 'The page of a list: empty for the first; `Link` has those of other pages.',
    example: '',
    allowEmptyValue: true,
  },
  owns_qname: {
    description: 'Shows only the domain to which this name belongs, if there is one.',
    example: '_acme-challenge.www.example.com',
  },
  search: {
    description:
      'Shows only those whose name (of RRsets, the subname) contains this text, in any case. Of a history: those with all ' +
      'of these words in a changed name or in the author, or as a changed type; `name:`, `by:` and `type:` before a word ' +
      'say where.',
    example: 'shop',
    allowEmptyValue: true,
  },
  deleted: {
    description: 'With `true`, shows the deleted domains that can be restored.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'false',
  },
  overview: {
    description: 'With `true`, shows of each domain the number of its RRsets, its last change, and its delegation.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'false',
  },
  subname: {
    description: 'Shows only those of this subname; empty: of the apex.',
    example: 'www',
    allowEmptyValue: true,
  },
  type: { description: 'Shows only those of this type.', example: 'A' },
  content: {
    description:
      'Shows only RRsets with a record of this content. With `type`, in any form; otherwise in canonical form, or an ' +
      'address in any form.',
    example: '192.0.2.1',
  },
  fullName: {
    name: 'name',
    description: 'Shows only those of this full name, with or without final dot.',
    example: 'www.example.com',
  },
  domain: { description: 'Shows only those of this domain.', example: 'example.com' },
  domainOfActivity: {
    name: 'domain',
    description: 'Shows only what is about the domain of this name, also a deleted one.',
    example: 'example.com',
  },
  tokenOfActivity: {
    name: 'token',
    description: 'The id of a token: shows only what it did, and what was done to it.',
    example: '5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d',
  },
  person: {
    description:
      'Shows only what was done by people whose address contains this, and by tokens that they made as members.',
    example: 'alice@example.org',
  },
  source: { description: 'Shows only those of this source.', example: 'api' },
  typeOfActivity: {
    name: 'type',
    description: 'Shows only those of this type, or of all types that begin with this before an underscore.',
    example: 'token',
  },
  since: { description: 'Shows only those of this time and later.', example: '2026-01-31T12:00:00Z' },
  until: { description: 'Shows only those before this time.', example: '2026-02-28T12:00:00Z' },
  searchOfActivity: {
    name: 'search',
    description:
      'Shows only those with all of these words in the name of the domain, a changed subname or the message.',
    example: 'ticket',
  },
  state: {
    description: 'Shows only those in this state.',
    schema: oneOf(...Object.keys(STATES)),
    example: 'insecure',
  },
  tokens: {
    description:
      'What becomes of the API tokens that the member has made for the account, if the rights to make them end.',
    schema: oneOf('keep', 'end'),
    example: 'end',
  },
  dry_run: {
    description: 'With `true`, the service checks everything and writes nothing; the response shows the changes.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'false',
  },
  ptr: {
    description: 'With `propose`, a dry run also shows PTR RRsets of the account that would fit; nothing writes them.',
    schema: oneOf('propose'),
    example: 'propose',
  },
  version: { description: 'A version of the domain; without it, the latest.', schema: VERSION, example: 1795297087 },
  wait: {
    description: `The maximum of seconds to wait until the status is INSYNC. Larger numbers count as ${PUBLICATION_WAIT}.`,
    schema: { type: 'integer', minimum: 0 },
    example: 10,
  },
  zone: { description: 'Shows only the zone of this absolute name.', example: 'example.com.' },
  dnssec: { description: 'With `false`, leaves out `dnssec` and `edited_serial`.', schema: FLAG, example: 'false' },
  q: { description: 'The text to find.', example: 'example.com.' },
  max: {
    description: 'The most results; more than 500 count as 500.',
    schema: { type: 'integer', minimum: 1 },
    example: 100,
  },
  object_type: {
    description: 'What to find.',
    schema: oneOf('all', 'zone', 'record', 'comment'),
    example: 'all',
  },
  rrsets: { description: 'With `false`, leaves out the RRsets.', schema: FLAG, example: 'true' },
  rrset_name: { description: 'Shows only the RRsets of this absolute name.', example: 'www.example.com.' },
  rrset_type: { description: 'With `rrset_name`: shows only the RRset of this type.', example: 'A' },
  hostname: {
    description: 'The names to update, separated by commas.',
    example: 'home.example.com',
    allowEmptyValue: true,
  },
  host_id: { description: 'The same, for clients that use this name.', example: 'home.example.com' },
  myip: { description: `Addresses of both families. ${ADDRESSES}`, example: '192.0.2.7', allowEmptyValue: true },
  myipv4: { description: ADDRESSES, example: '192.0.2.7', allowEmptyValue: true },
  ip: { description: ADDRESSES, example: '192.0.2.7', allowEmptyValue: true },
  ipv4: { description: ADDRESSES, example: '192.0.2.7', allowEmptyValue: true },
  myipv6: { description: ADDRESSES, example: '2001:db8::7', allowEmptyValue: true },
  ipv6: { description: ADDRESSES, example: '2001:db8::7', allowEmptyValue: true },
}
