import test from 'ava'
import { settingsText } from '../src/cli/settings.ts'
import { readConfig } from '../src/settings/config.ts'
import { problems } from './support/settings.ts'

// The settings of single sign-on (contract §§11.4 and 16).

const GOOD = {
  OIDC_ISSUER: 'https://login.example.net/realms/dns',
  OIDC_CLIENT_ID: 'zoneplane',
  OIDC_CLIENT_SECRET: 'secret',
  PUBLIC_URL: 'https://dns.example.net',
}

test('complete settings are accepted', (t) => {
  t.deepEqual(problems(GOOD), [])
  const { oidcSignUp } = readConfig({ ...GOOD, OIDC_SIGN_UP: 'example.net, example.org' })
  t.deepEqual(oidcSignUp, ['example.net', 'example.org'])
  t.true(readConfig({ ...GOOD, OIDC_SIGN_UP: 'on' }).oidcSignUp)
})

const ISSUER_LIKE =
  'OIDC_ISSUER: must be a URL beginning with https://, without "/.well-known/…", such as https://login.example.net'

for (const [title, more, expected] of [
  ['an issuer without encryption', { OIDC_ISSUER: 'http://login.example.net' }, ISSUER_LIKE],
  ['the address of its metadata', { OIDC_ISSUER: 'https://a.test/.well-known/openid-configuration' }, ISSUER_LIKE],
  ['an issuer with a query', { OIDC_ISSUER: 'https://a.test/?x' }, ISSUER_LIKE],
  ['an issuer with a password', { OIDC_ISSUER: 'https://a:b@a.test/' }, ISSUER_LIKE],
  ['no client', { OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: needed with OIDC_ISSUER'],
  ['no secret', { OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: needed with OIDC_ISSUER'],
  ['no public URL', { PUBLIC_URL: '' }, 'PUBLIC_URL: needed with OIDC_ISSUER, which sends browsers back to it'],
  ['no console', { CONSOLE: 'off' }, 'CONSOLE: OIDC_ISSUER needs it, because the sign-in ends there'],
  ['no issuer', { OIDC_ISSUER: '' }, 'OIDC_ISSUER: needed with OIDC_CLIENT_ID, OIDC_CLIENT_SECRET'],
  [
    'addresses that nobody checks',
    { OIDC_TRUST_EMAIL: 'on', REGISTRATION: 'open', EMAIL_CONFIRMATION: 'off' },
    'OIDC_TRUST_EMAIL: not with REGISTRATION=open and EMAIL_CONFIRMATION=off, because nobody checks addresses then',
  ],
  [
    'sign-up without passwords',
    { PASSWORDS: 'off', REGISTRATION: 'open' },
    'PASSWORDS=off: not with REGISTRATION=open, which makes passwords',
  ],
  [
    'domains that are none',
    { OIDC_SIGN_UP: 'yes!' },
    'OIDC_SIGN_UP: must be "on", "off", or domains of e-mail addresses, such as "example.net, example.org"',
  ],
] as const) {
  test(`a start is refused: ${title}`, (t) => {
    t.deepEqual(problems({ ...GOOD, ...more }), [expected])
  })
}

test('without passwords there is an issuer', (t) => {
  t.deepEqual(problems({ PASSWORDS: 'off' }), ['PASSWORDS=off: needs OIDC_ISSUER, or nobody could sign in'])
})

test('the help of the settings has the address of the callback', (t) => {
  t.regex(settingsText(undefined), /PUBLIC_URL\/api\/v1\/auth\/oidc\/callback\//)
  t.regex(settingsText('https://dns.example.net/'), /https:\/\/dns\.example\.net\/api\/v1\/auth\/oidc\/callback\//)
})
