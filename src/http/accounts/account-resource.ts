import { BODY_FORM, TOKENS_MAX } from '../../limits.ts'
import type { Config } from '../../settings/config.ts'
import { DOMAIN } from '../domains/domain-representation.ts'
import { described, named, object, ref, STRING } from '../fields/schema.ts'
import type { Group, Resource } from '../kit/resource.ts'
import { authenticate, authenticateIfPresented, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, says, shows, text } from '../openapi/answers.ts'
import { PAGE_HEADERS } from '../openapi/described-headers.ts'
import { TOKEN } from '../tokens/token-representation.ts'
import * as accounts from './account-handlers.ts'
import { ACCOUNT, accountForms } from './account-representation.ts'
import { CAPTCHA } from './captcha-representation.ts'
import * as confirmations from './confirmation-handlers.ts'
import { FACTOR } from './totp-representation.ts'

type Forms = ReturnType<typeof accountForms>

const form = body(BODY_FORM)
const active = throttle('account_management_active')
const passive = throttle('account_management_passive')

const NO_PASSWORDS = 'Passwords are switched off here. Sign in with single sign-on.'

const WRONG_PASSWORD = { 403: ['Invalid username/password.'] }

/**
 * Describes accounts (contract §11). Without a required token, the API first rejects a wrong method, and then throttles
 * by address (contract §1.2, step 3).
 */
export function accountGroup(config: Config): Group {
  const forms = accountForms(config)
  return {
    tag: 'Accounts',
    text: 'Registration, logins, and other actions on an account. Links in mails confirm the important ones.',
    resources: [
      registration(forms),
      login(forms),
      LOGOUT,
      OWN_ACCOUNT,
      ...mailed(forms, config),
      confirmation(forms),
      ...(config.captcha ? [CAPTCHAS] : []),
    ],
  }
}

function registration(forms: Forms): Resource {
  return {
    path: '/api/v1/auth/',
    guards: [],
    POST: {
      id: 'register',
      summary: 'Create an account',
      description: 'The response is the same if the address already has an account.',
      takes: json(forms.signUp.schema),
      answers: { 202: says('Welcome! Please check your mailbox.', 'Welcome!') },
      chain: [active, authenticateIfPresented, accounts.refuseClosedRegistration, form, accounts.register],
    },
  }
}

function login(forms: Forms): Resource {
  return {
    path: '/api/v1/auth/login/',
    guards: [],
    POST: {
      id: 'logIn',
      summary: 'Log in',
      description:
        'Returns a login token with all permissions. It expires after seven days, or after an hour without use. ' +
        'If the account has multi-factor authentication enabled, the next step is to verify a code.',
      takes: json(forms.credentials.schema),
      answers: { 200: shows(TOKEN.full) },
      errors: {
        403: [...WRONG_PASSWORD[403], `Limit exceeded: an account can have at most ${TOKENS_MAX} login tokens.`],
      },
      chain: [throttle('login'), form, accounts.login],
    },
  }
}

const LOGOUT: Resource = {
  path: '/api/v1/auth/logout/',
  guards: [authenticate, requires('logout')],
  POST: {
    id: 'logOut',
    summary: 'Log out',
    description: 'Deletes the token of the request, whatever its kind.',
    answers: { 204: NOTHING },
    chain: [accounts.logout],
  },
}

const change = {
  summary: 'Change the account',
  takes: json(ACCOUNT.input('AccountChange')),
  answers: { 200: shows(ACCOUNT.schema) },
  chain: [form, accounts.changeAccount],
}

const OWN_ACCOUNT: Resource = {
  path: '/api/v1/auth/account/',
  guards: [authenticate, requires('account', { PUT: 'ownAccount', PATCH: 'ownAccount' }), passive],
  GET: {
    id: 'showAccount',
    summary: 'Show the account',
    answers: { 200: shows(ACCOUNT.schema) },
    chain: [accounts.showAccount],
  },
  PUT: { id: 'replaceAccount', ...change },
  PATCH: { id: 'changeAccount', ...change },
}

/** Describes the changes that a link in a mail must confirm. */
function mailed(forms: Forms, { passwords }: Config): Resource[] {
  return [
    {
      path: '/api/v1/auth/account/change-email/',
      guards: [],
      POST: {
        id: 'requestEmailChange',
        summary: 'Request another address',
        description: 'A link in a mail to the new address confirms it.',
        takes: json(forms.emailChange.schema),
        answers: { 202: says('Please check your mailbox to confirm email address change.') },
        errors: { 400: ['Email address unchanged.'], ...WRONG_PASSWORD },
        chain: [active, form, accounts.requestEmailChange],
      },
    },
    {
      path: '/api/v1/auth/account/reset-password/',
      guards: [],
      POST: {
        id: 'requestPasswordReset',
        summary: 'Request a new password',
        description: 'Mails a link, if there is such an account. The response is the same without one.',
        takes: json(forms.passwordReset.schema),
        answers: {
          202: says(
            'Please check your mailbox for further password reset instructions. If you did not receive an email, please contact support.',
          ),
        },
        ...(passwords ? {} : { errors: { 403: [NO_PASSWORDS] } }),
        chain: [active, authenticateIfPresented, form, accounts.requestPasswordReset],
      },
    },
    {
      path: '/api/v1/auth/account/delete/',
      guards: [],
      POST: {
        id: 'requestAccountDeletion',
        summary: 'Request the deletion of the account',
        description: 'A link in a mail confirms it. Delete all domains first.',
        takes: json(forms.deletion.schema),
        answers: { 202: says('Please check your mailbox for further account deletion instructions.') },
        errors: { ...WRONG_PASSWORD, 409: ['To delete your user account, first delete all of your domains.'] },
        chain: [active, form, accounts.requestDeletion],
      },
    },
  ]
}

/** Describes the links in mails (contract §11.3). */
function confirmation(forms: Forms): Resource {
  const detail = described(STRING, 'What was done, for people.', 'Success! Your password has been changed.')
  const { properties = {}, required = [] } = TOKEN.full
  const withToken = { ...properties, detail, domain: ref(DOMAIN.schema) }
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  const input = { anyOf: [named(forms.newPassword.schema), { type: 'object' }] }
  const page = text('<!doctype html>…', 'A page for people.', 'text/html').content!
  return {
    path: '/api/v1/v/:action/:code/',
    guards: [confirmations.refuseUnknownAction, confirmations.answerFormWithPage],
    GET: {
      id: 'showConfirmationForm',
      summary: 'Show the page of a link in a mail',
      description:
        'It has a button that confirms the action. It does not check the code, but for that of an invitation.',
      answers: { 200: { content: page, headers: PAGE_HEADERS } },
      chain: [passive, authenticateIfPresented, confirmations.showForm],
    },
    POST: {
      id: 'confirm',
      summary: 'Carry out the action of a link in a mail',
      description:
        '`reset-password` takes a body. `activate-account` can return a domain; below a local ' +
        'public suffix also a token for its updates. `create-totp` returns the factor.',
      takes: { ...json(input), 'application/x-www-form-urlencoded': { type: 'object' } },
      answers: {
        200: {
          content: {
            ...json({
              anyOf: [
                object({ detail }),
                object({ detail, domain: ref(DOMAIN.full) }),
                object(withToken, optional),
                ref(FACTOR.full),
              ],
            }),
            ...page,
          },
          headers: PAGE_HEADERS,
        },
      },
      errors: {
        400: ['This code is invalid, possibly because it expired (validity: 12:00:00).'],
        403: ['User inactive.'],
        409: [
          'This action cannot be carried out because another operation has been performed, invalidating this one. (Are you trying to perform this action twice?)',
          'To delete your user account, first delete all of your domains.',
        ],
      },
      problems: ['user', 'new_email', 'passkey'],
      chain: [active, authenticateIfPresented, body(BODY_FORM, { form: true }), confirmations.confirm],
    },
  }
}

const CAPTCHAS: Resource = {
  path: '/api/v1/captcha/',
  guards: [],
  POST: {
    id: 'createCaptcha',
    summary: 'Create a captcha',
    takes: json(CAPTCHA.input('CaptchaInput')),
    answers: { 201: shows(CAPTCHA.schema) },
    chain: [passive, authenticateIfPresented, form, accounts.createCaptcha],
  },
}
