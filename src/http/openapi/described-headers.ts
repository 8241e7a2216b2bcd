import { MESSAGE_LENGTH, PUBLICATION_WAIT } from '../../limits.ts'
import { type JsonSchema, oneOf } from '../fields/schema.ts'

/** A header or a parameter, as the document describes it. */
export interface Described {
  /** Its own name, if its key is another one. */
  name?: string
  description: string
  /** The schema; default: a text. */
  schema?: JsonSchema
  required?: boolean
  allowEmptyValue?: boolean
  example?: unknown
}

const INTEGER = { type: 'integer', minimum: 1 }

/** The headers of requests that handlers and middleware read, named like those of responses. */
export const REQUEST_HEADERS: Record<string, Described> = {
  'If-Match': {
    description:
      'The write succeeds only if one of these is the present tag of the RRset in the path, otherwise of the domain. ' +
      '`*`: only if it exists.',
    example: '"5d0c4a1f"',
  },
  'If-None-Match': {
    description:
      'With `*`, the write succeeds only if the addressed object does not exist; with a list of tags, only if none of ' +
      'them is the present one.',
    example: '*',
  },
  IfNoneMatchOfRead: {
    name: 'If-None-Match',
    description: 'With the tag of the present state, the response is 304, without the body.',
    example: '"5d0c4a1f"',
  },
  Prefer: {
    description:
      '`wait=10` (RFC 7240): delays the response to a write until all name servers serve it, or for so many ' +
      `seconds, ${PUBLICATION_WAIT} at most. The write is done before.`,
    example: 'wait=10',
  },
  'Zoneplane-Message': {
    description:
      `Why, for the history: at most ${MESSAGE_LENGTH} characters, without control characters. UTF-8, as it is or encoded by ` +
      "RFC 8187: `UTF-8''f%C3%BCr%20...`. A dry run only examines it. Required if the token, or for logins the account, says so.",
    example: 'Ticket 4711: move the mail to the new host',
  },
  'X-Request-Id': {
    description:
      'The id for the response, the log and the history, if it is up to 128 of `A-Z a-z 0-9 . _ -`, and not like a token.',
    example: 'deploy-42',
  },
  traceparent: {
    description: 'The trace of the request (W3C Trace Context). The log has its id.',
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
}

/** Those of every page. */
export const PAGE_HEADERS = ['Content-Security-Policy', 'Referrer-Policy', 'Cross-Origin-Opener-Policy']

/** Headers of responses, by the name of their component. */
export const RESPONSE_HEADERS: Record<string, Described> = {
  'X-Request-Id': {
    description: 'Identifies the request, also in the log and the history.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    required: true,
    example: 'deploy-42',
  },
  Vary: { description: 'Always `origin`.', schema: oneOf('origin'), required: true },
  VaryOfRoot: { name: 'Vary', description: 'Always the same.', schema: oneOf('origin, Accept'), required: true },
  'X-Content-Type-Options': { description: 'Always `nosniff`.', schema: oneOf('nosniff'), required: true },
  'Strict-Transport-Security': {
    description: 'Browsers shall use HTTPS.',
    required: true,
    example: 'max-age=31536000; includeSubDomains; preload',
  },
  'Access-Control-Allow-Origin': {
    description: 'If the request has an `Origin`: pages of every origin may read the response.',
    schema: oneOf('*'),
  },
  'Access-Control-Expose-Headers': {
    description: 'If the request has an `Origin`: the headers that pages may read.',
    example: 'Link, Retry-After, ETag',
  },
  Allow: { description: 'The methods of the resource.', required: true, example: 'GET, HEAD, OPTIONS' },
  AllowIfRouted: {
    name: 'Allow',
    description: 'The methods of the resource, if there is one.',
    example: 'GET, HEAD, OPTIONS',
  },
  'Cache-Control': {
    description: '`no-store` if the body has a secret.',
    schema: oneOf('no-cache', 'no-store'),
    required: true,
  },
  'Cache-ControlOfPage': {
    name: 'Cache-Control',
    description: 'Of pages: their URL has a code, so caches do not store them.',
    schema: oneOf('no-store'),
  },
  'Cache-ControlOfKey': {
    name: 'Cache-Control',
    description: 'At the paths of PowerDNS: caches do not know that the answer depends on the key.',
    schema: oneOf('no-store'),
  },
  'Cache-ControlOfAsset': {
    name: 'Cache-Control',
    description: 'The page names the version of the asset, which never changes.',
    schema: oneOf('public, max-age=31536000, immutable'),
    required: true,
  },
  'Cache-ControlOfOffer': {
    name: 'Cache-Control',
    description: 'Only another start of the service changes it.',
    schema: oneOf('public, max-age=300'),
    required: true,
  },
  'Content-Encoding': { description: 'The compression of the body.', schema: oneOf('gzip'), required: true },
  'WWW-Authenticate': { description: 'The scheme for `Authorization`.', schema: oneOf('Token'), required: true },
  'WWW-AuthenticateOfKey': {
    name: 'WWW-Authenticate',
    description: 'The header of the key.',
    schema: oneOf('X-API-Key'),
    required: true,
  },
  'Retry-After': { description: 'The seconds before a retry.', schema: INTEGER, required: true, example: 47 },
  RateLimit: {
    description:
      'The tightest window of all rates that count the request: the requests left, and the seconds until there are ' +
      'more. Absent if throttling is off.',
    example: '"dns_api_cheap";r=487;t=12',
  },
  'RateLimit-Policy': {
    description: 'The quota and the seconds of that window. Absent if throttling is off.',
    example: '"dns_api_cheap";q=500;w=60',
  },
  ETag: {
    description: 'The tag of the present state, for `If-Match`.',
    schema: { type: 'string', pattern: '^"[^"]*"$' },
    required: true,
    example: '"5d0c4a1f"',
  },
  ETagOfWrite: {
    name: 'ETag',
    description: 'The tag of the present state, for `If-Match`; absent from dry runs.',
    schema: { type: 'string', pattern: '^"[^"]*"$' },
    example: '"5d0c4a1f"',
  },
  Link: {
    description:
      'For lists with pages, the URLs of the first, the previous and the next page (RFC 8288), as far as they exist.',
    example: '<https://dns.example.net/api/v1/domains/?cursor=>; rel="first"',
  },
  LinkOfIndex: { name: 'Link', description: 'This document, and a page that shows it (RFC 8631).', required: true },
  Location: { description: 'The page of the API.', required: true, example: 'https://dns.example.net/api/v1/docs/' },
  LocationOfConsole: {
    name: 'Location',
    description: 'The page of the console that gets the session.',
    required: true,
    example: 'https://dns.example.net/console/signed-in#pnLKo8W2bC5yVfQqJmHtpnLKo8W2',
  },
  'Set-Cookie': {
    description: 'The cookie that binds the sign-in to the browser, for ten minutes; or its deletion.',
    example: '__Host-zoneplane-sign-in=…; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure',
  },
  'Zoneplane-Version': {
    description:
      'The version of the domain that the write has published; absent if it has published none. DNS may serve a higher ' +
      'SOA serial.',
    schema: { type: 'integer' },
    example: 1795297087,
  },
  'Preference-Applied': { description: 'If `Prefer` delayed the response.', example: 'wait=10' },
  'Zoneplane-Publication': {
    description: 'With `Prefer: wait`: whether all name servers that can be reached serve the version.',
    schema: oneOf('INSYNC', 'PENDING'),
  },
  'Content-Security-Policy': { description: 'The permitted sources of the page.', example: "default-src 'none'" },
  'Cross-Origin-Opener-Policy': {
    description: 'Pages that open it, or that it opens, cannot reach it.',
    schema: oneOf('same-origin'),
  },
  'Referrer-Policy': { description: 'Links do not reveal the URL of the page.', example: 'no-referrer' },
}
