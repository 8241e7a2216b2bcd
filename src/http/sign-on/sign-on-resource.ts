import { BODY_FORM } from '../../limits.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, shows } from '../openapi/answers.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import * as handlers from './sign-on-handlers.ts'
import { LOGOUT_TOKEN, SIGN_ON, SIGN_ON_CODE, SIGN_ON_LINK, SIGN_ON_START } from './sign-on-representation.ts'

const form = body(BODY_FORM)
const active = throttle('login')

const NO_COOKIE = { 400: ['This code was used before, has expired, or is for another browser. Sign in again.'] }

/** Single sign-on (contract §11.4): for the console, and for the issuer. */
export const SIGN_ON_GROUP: Group = {
  tag: 'Single sign-on',
  text:
    'How browsers sign in at an OpenID Connect issuer. A cookie binds each sign-in to its browser. Programs use API ' +
    'tokens instead.',
  resources: [
    {
      path: '/api/v1/auth/oidc/',
      guards: [],
      GET: {
        id: 'showSignOn',
        summary: 'Show single sign-on',
        answers: { 200: shows(SIGN_ON) },
        chain: [throttle('user'), handlers.showSignOn],
      },
      POST: {
        id: 'beginSignOn',
        summary: 'Begin to sign in',
        description: 'Sets the cookie. The browser then goes to the URL, and comes back to the callback.',
        answers: { 200: shows(SIGN_ON_START, 'Set-Cookie') },
        errors: { 503: [] },
        chain: [active, handlers.beginSignOn],
      },
    },
    {
      path: '/api/v1/auth/oidc/callback/',
      guards: [handlers.answerWithPage],
      GET: {
        id: 'finishSignOn',
        summary: 'Come back from the issuer',
        description: 'Works once for each sign-in. Errors are pages for people.',
        answers: {
          303: {
            text: "The console, with a code in the URL's fragment.",
            headers: ['LocationOfConsole', 'Cache-ControlOfPage', 'Referrer-Policy'],
          },
        },
        errors: { 403: ['This sign-in was used before. Sign in again.'], 503: [] },
        chain: [active, handlers.finishSignOn],
      },
    },
    {
      path: '/api/v1/auth/oidc/token/',
      guards: [],
      POST: {
        id: 'exchangeSignOnCode',
        summary: 'Get the login token of a sign-in',
        description: 'The code works once, within a minute, with the cookie of the browser.',
        takes: json(SIGN_ON_CODE.schema),
        answers: { 200: shows(TOKEN.full, 'Set-Cookie') },
        errors: {
          ...NO_COOKIE,
          403: ['Your account is disabled or was deleted. Ask the operator of this service.'],
          409: [
            'The address alice@example.org has an account already. Sign in to it once in another way within ten minutes, to link it with Example Company.',
          ],
        },
        chain: [active, form, handlers.exchangeCode],
      },
    },
    {
      path: '/api/v1/auth/oidc/link/',
      guards: [authenticate, requires('factors', { GET: 'factorReads' }), throttle('account_management_passive')],
      GET: {
        id: 'showLink',
        summary: 'Show whether single sign-on signs in to the account',
        answers: { 200: shows(SIGN_ON_LINK) },
        chain: [handlers.showLink],
      },
      POST: {
        id: 'linkIdentity',
        summary: 'Link the account with the identity of a sign-in',
        description: 'Needs a login token of the account that has the address.',
        takes: json(SIGN_ON_CODE.schema),
        answers: { 204: { ...NOTHING, headers: ['Set-Cookie'] } },
        errors: NO_COOKIE,
        chain: [form, handlers.linkIdentity],
      },
      DELETE: {
        id: 'endLink',
        summary: 'End the link of the account with single sign-on',
        description: 'Its logins and the memberships of its groups end. Succeeds also without a link.',
        answers: { 204: NOTHING },
        errors: {
          403: ['Sign in again: the link can be ended only within ten minutes of a login.'],
          409: ['Nobody could sign in to this account any more. Add a passkey, or set a password first.'],
        },
        chain: [handlers.endLinkOfAccount],
      },
    },
    {
      path: '/api/v1/auth/oidc/logout/',
      guards: [],
      POST: {
        id: 'endSessionsOfIssuer',
        summary: 'End sessions',
        description: 'For the issuer: OpenID Connect Back-Channel Logout 1.0.',
        takes: { 'application/x-www-form-urlencoded': LOGOUT_TOKEN.schema },
        answers: { 200: { text: 'They have ended.' } },
        errors: { 400: ['The logout token is not valid.'], 503: [] },
        chain: [throttle('user'), body(BODY_FORM, { form: true }), handlers.endSessionsOfIssuer],
      },
    },
  ],
}
