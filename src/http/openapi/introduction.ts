/** The introduction of the document. */
export const INTRODUCTION = `
The API hosts DNS zones. It is compatible with version 1 of deSEC's API, and has some resources of its own.

**Paths** work with and without a final slash. Unknown query parameters and unknown or read-only members of bodies are
ignored. But a write that has no dry runs rejects \`dry_run\`.

**Bodies** are JSON in UTF-8, with \`Content-Type: application/json\`, unless stated otherwise. The members of responses
have a fixed order. Times have six fraction digits and are UTC.

**Errors**: \`400\` for invalid input has the problems of each member, as arrays of texts; the problems of the whole object
are in \`non_field_errors\`. All other errors have one member, \`detail\`. A method that a resource does not have gets
\`405\`, and an unknown path \`404\`.

**Other methods**: every path answers \`OPTIONS\` with \`Allow\` and no body. It answers \`HEAD\` like GET, without the body,
except for dynamic DNS.

**Lists** of more than 500 objects have pages: ask with an empty \`cursor\`, then follow the \`next\` URL in \`Link\`.

**Rates** are limited. \`RateLimit\` has the requests left. \`429\` has \`Retry-After\`; the request was not carried out.

**Conditions**: domains and RRsets have an \`ETag\`. With \`If-Match\`, a write succeeds only if nobody else has written
meanwhile.
`.trim()

export const SECURITY_SCHEMES = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `Token`, a space, and the secret of a token: `Token i3QQpBnXLYvMVoxL9bGHPVUGBCiA`.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'For dynamic DNS. The password is the secret of a token; the user name is empty, the address of the account, or the ' +
      'names to update.',
  },
  username: { type: 'apiKey', in: 'query', name: 'username', description: 'For dynamic DNS: as with `basic`.' },
  password: { type: 'apiKey', in: 'query', name: 'password', description: 'For dynamic DNS: the secret of a token.' },
}
