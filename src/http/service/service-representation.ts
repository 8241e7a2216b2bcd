import { described, object, oneOf, STRING, UUID, EMAIL, type Component, type JsonSchema } from '../fields/schema.ts'

/** The service's descriptions of itself (contract §§13, 15.2 and 15.8). */

export const LIVENESS: Component = { title: 'Liveness', ...object({ status: oneOf('ok') }) }

const CHECK = oneOf('ok', 'unavailable')

export const HEALTH: Component = {
  title: 'Health',
  ...object(
    {
      status: oneOf('ready', 'unavailable', 'stopping'),
      checks: described(
        object({ database: CHECK, migrations: CHECK, powerdns: CHECK }),
        'The backends. Absent while the process is about to stop.',
      ),
    },
    ['checks'],
  ),
}

function url(path: string): JsonSchema {
  return { type: 'string', format: 'uri', examples: [`https://dns.example.net/api/v1${path}`] }
}

const RESET = { 'reset-password': url('/auth/account/reset-password/') }

export const INDEX: Component = {
  title: 'Index',
  anyOf: [
    {
      ...object({
        account: object({
          show: url('/auth/account/'),
          delete: url('/auth/account/delete/'),
          'change-email': url('/auth/account/change-email/'),
          ...RESET,
        }),
        logout: url('/auth/logout/'),
        tokens: url('/auth/tokens/'),
        domains: url('/domains/'),
      }),
      description: 'With a token.',
    },
    { ...object({ register: url('/auth/'), login: url('/auth/login/'), ...RESET }), description: 'Without one.' },
  ],
}

export const TEST_ACCOUNT: Component = {
  title: 'TestAccount',
  ...object({
    id: UUID,
    email: { ...EMAIL, examples: ['5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d@ci.test'] },
    token: described(STRING, 'The secret of its token.', 'i3QQpBnXLYvMVoxL9bGHPVUGBCiA'),
  }),
}

/** The URL of a token's policies (contract §6.2). */
export const POLICIES_INDEX: Component = {
  title: 'PoliciesIndex',
  ...object({ rrsets: url('/auth/tokens/5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d/policies/rrsets/') }),
}
