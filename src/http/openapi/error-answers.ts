/** The document's description of a status that rejects requests. */
interface Refused {
  /** The name of the component. */
  name: string
  text: string
  /** The `detail` of an example, and of most responses. */
  detail: string
  headers?: readonly string[]
}

/** Contract §2.2. */
export const REFUSALS: Record<number, Refused> = {
  400: {
    name: 'BadRequest',
    text: 'The request cannot be read, or its contents are invalid.',
    detail: 'Bad request.',
  },
  401: {
    name: 'Unauthorized',
    text:
      'The token is missing, unknown, expired, not for the address of the client, or of a disabled account: ' +
      '`Authentication credentials were not provided.`, `Invalid token.`, `User inactive or deleted.`, or what is wrong ' +
      'with the header.',
    detail: 'Invalid token.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    text: 'The caller lacks the permission.',
    detail: 'You do not have permission to perform this action.',
  },
  404: { name: 'NotFound', text: 'There is no such object, or the caller may not see it.', detail: 'Not found.' },
  405: {
    name: 'MethodNotAllowed',
    text: '`Allow` has the methods of the resource.',
    detail: 'Method "PATCH" not allowed.',
  },
  408: { name: 'RequestTimeout', text: 'The body did not arrive in time.', detail: 'Request timed out.' },
  409: {
    name: 'Conflict',
    text: 'The state of the object does not allow this.',
    detail: 'example.com is paused by the operator of this service and cannot be changed now.',
  },
  412: {
    name: 'PreconditionFailed',
    text: 'The condition in `If-Match` or `If-None-Match` does not hold, or the object has no tags. Nothing was changed.',
    detail: 'Precondition failed.',
  },
  413: { name: 'PayloadTooLarge', text: 'The body is too large.', detail: 'Payload too large.' },
  415: {
    name: 'UnsupportedMediaType',
    text: 'The body has another media type or encoding.',
    detail: 'Unsupported media type "text/plain" in request.',
  },
  422: {
    name: 'UnprocessableEntity',
    text: 'The contents of the request are invalid.',
    detail: 'RRset www.example.com. IN A: ttl: Ensure this value is greater than or equal to 60.',
  },
  429: {
    name: 'TooManyRequests',
    text: 'There were too many requests. This one was not carried out, so send it again later.',
    detail: 'Request was throttled. Expected available in 47 seconds.',
    headers: ['Retry-After'],
  },
  431: {
    name: 'RequestHeaderFieldsTooLarge',
    text: 'The header of the request is too large.',
    detail: 'Request header too large.',
  },
  500: { name: 'InternalServerError', text: 'An unexpected failure.', detail: 'Internal Server Error.' },
  503: {
    name: 'ServiceUnavailable',
    text: 'The service, or one of its backends, is unavailable or busy. The text says whether the request was carried out.',
    detail: 'The DNS backend is currently unavailable. Nothing was changed; please retry.',
    headers: ['Retry-After'],
  },
}
