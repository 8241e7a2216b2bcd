/** What the document says before all else. */
export const INTRODUCTION = `
The API hosts DNS zones. It is compatible with version 1 of deSEC's API, and has some resources of its own.

**Paths** work with and without a final slash. Unknown query parameters and unknown or read-only members of bodies are
ignored.

**Bodies** are JSON in UTF-8, with \`Content-Type: application/json\`, unless something else is said. The members of
responses come in a fixed order; times have six fraction digits and are UTC.

**Errors** of what was submitted are \`400\` with the problems of each member, as arrays of texts; those of the whole
object are in \`non_field_errors\`. All other errors have one member, \`detail\`. Requests with a method that a resource does
not have are \`405\`, and those with a path that does not exist \`404\`.

**Other methods**: every path answers \`OPTIONS\`, empty, with \`Allow\`; and \`HEAD\` as GET without the body, but for dynamic
DNS.

**Lists** of more than 500 objects must be read page by page: ask with an empty \`cursor\`, then follow the \`next\` URL in
\`Link\`.

**Rates** are limited. \`RateLimit\` tells what is left; \`429\` has \`Retry-After\`, and was not carried out.

**Conditions**: domains and RRsets have an \`ETag\`. With \`If-Match\`, a write is made only if nobody else has written
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
