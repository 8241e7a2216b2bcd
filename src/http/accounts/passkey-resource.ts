import { BODY_FORM, FACTORS_MAX, TOKENS_MAX } from '../../limits.ts'
import { NO_SITE } from '../kit/passkey-site.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, says, shows } from '../openapi/answers.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import * as passkeys from './passkey-handlers.ts'
import { CREATION_OPTIONS, NEW_PASSKEY, PASSKEY, REQUEST_OPTIONS, SIGNED } from './passkey-representation.ts'

const form = body(BODY_FORM)
const passive = throttle('account_management_passive')
const managing = [authenticate, requires('factors', { GET: 'factorReads' }), passive]

const CREATION = [
  NO_SITE,
  `Limit exceeded: an account can have at most ${FACTORS_MAX} passkeys.`,
  'Sign in again: a passkey can be added only within ten minutes of a login.',
]
const ANSWERS = [
  'This challenge is unknown, used or expired. Please try again.',
  'This passkey is for another site. Please use https://dns.example.net.',
  'The passkey did not verify you. Please set up a PIN or a screen lock for it, and try again.',
  'This passkey is unknown here, or was deleted. Please sign in another way.',
]
const COPIED =
  'This passkey was refused, because it may have been copied. Please sign in another way, delete it, and add a new one.'

/** Passkeys (contract §12.1). */
export const PASSKEYS: Group = {
  tag: 'Passkeys',
  text:
    'Credentials of browsers (Web Authentication) that sign in instead of address and password, and are second factors. ' +
    'Managing them needs a login token.',
  resources: [
    {
      path: '/api/v1/auth/passkeys/',
      guards: managing,
      GET: { id: 'listPasskeys', summary: 'List passkeys', ...pages(PASSKEY.schema), chain: [passkeys.listPasskeys] },
      POST: {
        id: 'createPasskey',
        summary: 'Add a passkey',
        description: 'Until multi-factor authentication is enabled, a link in a mail must confirm it.',
        takes: json(NEW_PASSKEY.schema),
        answers: {
          201: shows(PASSKEY.schema),
          202: says('This operation requires confirmation. Please check your mailbox for instructions!'),
        },
        errors: {
          400: [
            'An authentication factor with this name already exists.',
            'This passkey has already been added.',
            ...ANSWERS,
          ],
          403: CREATION,
        },
        chain: [form, passkeys.createPasskey],
      },
    },
    {
      path: '/api/v1/auth/passkeys/options/',
      guards: managing,
      POST: {
        id: 'showCreationOptions',
        summary: 'Ask for a new passkey',
        description:
          'The answer is for `PublicKeyCredential.parseCreationOptionsFromJSON`. Its challenge is for this token.',
        answers: { 200: shows(CREATION_OPTIONS) },
        errors: { 403: CREATION },
        chain: [passkeys.showCreationOptions],
      },
    },
    {
      path: '/api/v1/auth/passkeys/:id/',
      guards: managing,
      GET: {
        id: 'showPasskey',
        summary: 'Show a passkey',
        answers: { 200: shows(PASSKEY.schema) },
        chain: [passkeys.showPasskey],
      },
      PATCH: {
        id: 'changePasskey',
        summary: 'Rename a passkey',
        takes: json(PASSKEY.input('PasskeyInput')),
        answers: { 200: shows(PASSKEY.schema) },
        chain: [form, passkeys.changePasskey],
      },
      DELETE: {
        id: 'deletePasskey',
        summary: 'Delete a passkey',
        description: 'Succeeds also without such a passkey.',
        answers: { 204: NOTHING },
        errors: {
          403: ['Sign in again: the last second factor can be deleted only within ten minutes of a login.'],
        },
        chain: [passkeys.deletePasskey],
      },
    },
    {
      path: '/api/v1/auth/login/passkey/options/',
      guards: [],
      POST: {
        id: 'showLoginOptions',
        summary: 'Ask for a passkey to log in',
        description: 'The answer is for `PublicKeyCredential.parseRequestOptionsFromJSON`.',
        answers: { 200: shows(REQUEST_OPTIONS) },
        errors: { 403: [NO_SITE] },
        chain: [throttle('login'), passkeys.showLoginOptions],
      },
    },
    {
      path: '/api/v1/auth/login/passkey/',
      guards: [],
      POST: {
        id: 'logInWithPasskey',
        summary: 'Log in with a passkey',
        description: 'Returns a login token with all permissions, like a login by password with a second factor.',
        takes: json(SIGNED.schema),
        answers: { 200: shows(TOKEN.full) },
        errors: {
          400: [...ANSWERS, COPIED],
          403: [NO_SITE, 'User inactive.', `Limit exceeded: an account can have at most ${TOKENS_MAX} login tokens.`],
        },
        chain: [throttle('login'), form, passkeys.login],
      },
    },
    {
      path: '/api/v1/auth/token/passkey/options/',
      guards: [authenticate, requires('codes'), passive],
      POST: {
        id: 'showTokenOptions',
        summary: 'Ask for a passkey as second factor',
        description:
          'The answer is for `PublicKeyCredential.parseRequestOptionsFromJSON`. Its challenge is for this token.',
        answers: { 200: shows(REQUEST_OPTIONS) },
        errors: { 403: [NO_SITE] },
        chain: [passkeys.showTokenOptions],
      },
    },
    {
      path: '/api/v1/auth/token/passkey/',
      guards: [authenticate, requires('codes'), passive],
      POST: {
        id: 'verifyPasskey',
        summary: 'Verify a passkey as second factor',
        description: 'Completes the login of the token that sends it.',
        takes: json(SIGNED.schema),
        answers: { 200: says('The passkey was correct.') },
        errors: { 400: [...ANSWERS, COPIED], 403: [NO_SITE] },
        chain: [form, passkeys.verifyPasskey],
      },
    },
  ],
}
