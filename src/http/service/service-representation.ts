import type { Config } from '../../settings/config.ts'
import {
  arrayOf,
  BOOLEAN,
  type Component,
  COUNT,
  described,
  EMAIL,
  type JsonSchema,
  nullable,
  object,
  oneOf,
  STRING,
  UUID,
} from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** The service's descriptions of itself (contract §§13, 15.2 and 15.8). */

export const LIVENESS: Component = { title: 'Liveness', ...object({ status: oneOf('ok') }) }

const CHECK = oneOf('ok', 'unavailable')

export const HEALTH: Component = {
  title: 'Health',
  ...object(
    {
      status: oneOf('ready', 'unavailable', 'stopping'),
      checks: described(
        object({ database: CHECK, migrations: CHECK, powerdns: CHECK, standbys: CHECK }, ['standbys']),
        'The backends; `standbys` only if there are several PowerDNS. Absent while the process is about to stop.',
      ),
    },
    ['checks'],
  ),
}

const RESET = { 'reset-password': '/auth/account/reset-password/' }

/** The paths at `/`; those of the index: without a token; with one, those of the account, and the others (contract §13). */
export const PATHS = {
  root: { api: '/', docs: '/docs/', openapi: '/openapi.json' },
  withoutToken: { register: '/auth/', login: '/auth/login/', ...RESET },
  account: {
    show: '/auth/account/',
    delete: '/auth/account/delete/',
    'change-email': '/auth/account/change-email/',
    ...RESET,
  },
  others: { logout: '/auth/logout/', tokens: '/auth/tokens/', domains: '/domains/' },
}

/** Returns the schemas of the URLs of these paths. */
function urls(paths: Record<string, string>): Record<string, JsonSchema> {
  const url = (path: string) => ({ type: 'string', format: 'uri', examples: [`https://dns.example.net/api/v1${path}`] })
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, url(path)]))
}

export const ROOT: Component = { title: 'Root', ...object(urls(PATHS.root)) }

export const INDEX: Component = {
  title: 'Index',
  anyOf: [
    { ...object({ account: object(urls(PATHS.account)), ...urls(PATHS.others) }), description: 'With a token.' },
    { ...object(urls(PATHS.withoutToken)), description: 'Without one.' },
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

/** What the service offers, by its settings (contract §13). */
export const OFFER = representation<Config & { passkeys: boolean; checksDelegations: boolean }>()(['Offer'], {
  registration: { read: BOOLEAN, text: 'Whether everybody can sign up.', example: true },
  email_confirmation: {
    read: BOOLEAN,
    text: 'Whether a link in a mail activates a new account. Otherwise it is active at once.',
    example: true,
  },
  captcha: { read: BOOLEAN, text: 'Whether strangers have to solve captchas.', example: false },
  totp: { read: BOOLEAN, text: 'Whether an account can have second factors (TOTP).', example: true, from: () => true },
  passwords: { read: BOOLEAN, text: 'Whether people can sign in with a password.', example: true },
  single_sign_on: {
    read: nullable(STRING),
    text: 'The text of the button for single sign-on; null: there is none.',
    example: 'Example Company',
    from: ({ oidcIssuer, oidcName }) => (oidcIssuer === undefined ? null : oidcName),
  },
  local_public_suffixes: {
    read: arrayOf(STRING),
    text: 'Names of which every account can register direct children, without final dot.',
    example: ['dyn.example.net'],
  },
  nameservers: {
    read: arrayOf(STRING),
    text: 'The nameservers of new domains, with final dot.',
    example: ['ns1.example.net.', 'ns2.example.net.'],
    from: ({ nameServers }) => nameServers,
  },
  minimum_ttl: { read: COUNT, text: 'The `minimum_ttl` of new domains, in seconds.', example: 60 },
  history_days: {
    read: COUNT,
    text: 'The days for which it keeps the history of domains, and can restore deleted ones.',
    example: 90,
  },
  passkeys: {
    read: BOOLEAN,
    text: 'Whether passkeys can be used at this address of the service.',
    example: true,
  },
  delegation_checks: {
    read: BOOLEAN,
    text: 'Whether the service checks the delegations of domains by itself. Otherwise only those who ask for it do.',
    example: true,
    from: ({ checksDelegations }) => checksDelegations,
  },
})

/** The URL of a token's policies (contract §6.2). */
export const POLICIES_INDEX: Component = {
  title: 'PoliciesIndex',
  ...object(urls({ rrsets: '/auth/tokens/5f6c1b2e-9a8d-4c3b-b7e0-1d2f3a4b5c6d/policies/rrsets/' })),
}
