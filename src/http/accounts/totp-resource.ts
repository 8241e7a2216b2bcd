import { BODY_FORM, FACTORS_MAX } from '../../limits.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, authenticateIfPresented, requires, requiresIfPresented } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, says, shows } from '../openapi/answers.ts'
import * as totp from './totp-handlers.ts'
import { CODE, FACTOR } from './totp-representation.ts'

const form = body(BODY_FORM)
const passive = throttle('account_management_passive')

const managingFactors = [authenticate, requires('factors', { GET: 'factorReads' }), passive]
const factorInput = json(FACTOR.input('FactorInput'))

const factorChange = {
  summary: 'Rename a second factor',
  takes: factorInput,
  answers: { 200: shows(FACTOR.schema) },
  chain: [form, totp.changeFactor],
}

/** Second factors (contract §12). */
export const FACTORS: Group = {
  tag: 'Multi-factor authentication',
  text:
    'Second factors for logins (TOTP, RFC 6238). Managing them needs a login token. From the first use of a factor on, ' +
    'logins need a code.',
  resources: [
    {
      path: '/api/v1/auth/totp/',
      guards: managingFactors,
      GET: {
        id: 'listFactors',
        summary: 'List second factors',
        ...pages(FACTOR.schema),
        chain: [totp.listFactors],
      },
      POST: {
        id: 'createFactor',
        summary: 'Create a second factor',
        description: 'Until multi-factor authentication is enabled, a link in a mail must confirm it.',
        takes: factorInput,
        answers: {
          201: shows(FACTOR.full),
          202: says('This operation requires confirmation. Please check your mailbox for instructions!'),
        },
        errors: {
          400: ['An authentication factor with this name already exists.'],
          403: [`Limit exceeded: an account can have at most ${FACTORS_MAX} TOTP factors.`],
        },
        chain: [form, totp.createFactor],
      },
    },
    {
      path: '/api/v1/auth/totp/:id/',
      guards: managingFactors,
      GET: {
        id: 'showFactor',
        summary: 'Show a second factor',
        answers: { 200: shows(FACTOR.schema) },
        chain: [totp.showFactor],
      },
      PUT: { id: 'replaceFactor', ...factorChange },
      PATCH: { id: 'changeFactor', ...factorChange },
      DELETE: {
        id: 'deleteFactor',
        summary: 'Delete a second factor',
        description: 'Succeeds also without such a factor.',
        answers: { 204: NOTHING },
        errors: {
          403: ['Sign in again: the last second factor can be deleted only within ten minutes of a login.'],
        },
        chain: [totp.deleteFactor],
      },
    },
    {
      path: '/api/v1/auth/totp/:id/verify/',
      guards: [authenticateIfPresented, requiresIfPresented('codes'), passive],
      POST: {
        id: 'verifyCode',
        summary: 'Verify a code of a second factor',
        description:
          'The first use of a factor enables it, and needs no token. Later it completes the login of the token that ' +
          'sends it.',
        takes: json(CODE.schema),
        answers: { 200: says('The code was correct.', 'Your TOTP token has been activated!') },
        errors: { 400: ['Invalid code.'], 401: ['Authentication credentials were not provided.'] },
        chain: [form, totp.verifyCode],
      },
    },
  ],
}
