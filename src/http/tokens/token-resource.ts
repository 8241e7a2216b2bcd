import { BODY_RESOURCE, POLICIES_MAX, SHAPES_MAX, TOKENS_MAX } from '../../limits.ts'
import { arrayOf, ref } from '../fields/schema.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows } from '../openapi/answers.ts'
import { POLICIES_INDEX } from '../service/service-representation.ts'
import { OWN_TOKEN } from './own-token-representation.ts'
import * as policies from './policy-handlers.ts'
import { POLICY } from './policy-representation.ts'
import * as tokens from './token-handlers.ts'
import { TOKEN, TSIG_KEY } from './token-representation.ts'

const resourceJson = body(BODY_RESOURCE)
const rates = throttle('account_management_passive')
const managing = [authenticate, requires('tokens'), rates]

const tokenInput = json(TOKEN.input('TokenInput'))

const tokenChange = {
  summary: 'Change a token',
  description: 'Changes only the members in the body; PUT and PATCH do the same.',
  takes: tokenInput,
  answers: { 200: shows(TOKEN.schema) },
  chain: [resourceJson, tokens.changeToken],
}

/** Tokens (contract §5). */
export const TOKENS: Group = {
  tag: 'Tokens',
  text:
    'Secrets for programs that use the API, with their permissions. Managing them needs a token with ' +
    '`perm_manage_tokens`.',
  resources: [
    {
      path: '/api/v1/auth/tokens/',
      guards: managing,
      GET: {
        id: 'listTokens',
        summary: 'List tokens',
        description:
          "The account's own tokens, and those of other accounts that act for it; also login tokens and invalid ones.",
        ...pages(TOKEN.schema),
        chain: [tokens.listTokens],
      },
      POST: {
        id: 'createToken',
        summary: 'Create a token',
        description: 'Only this response has the secret.',
        takes: tokenInput,
        answers: { 201: shows(TOKEN.full) },
        errors: { 403: [`Limit exceeded: an account can have at most ${TOKENS_MAX} tokens.`] },
        chain: [resourceJson, tokens.createToken],
      },
    },
    {
      path: '/api/v1/auth/tokens/:id/',
      guards: managing,
      GET: {
        id: 'showToken',
        summary: 'Show a token',
        answers: { 200: shows(TOKEN.schema) },
        chain: [tokens.showToken],
      },
      PUT: { id: 'replaceToken', ...tokenChange },
      PATCH: { id: 'changeToken', ...tokenChange },
      DELETE: {
        id: 'deleteToken',
        summary: 'Delete a token',
        description: 'Succeeds also without such a token. A token may delete itself.',
        answers: { 204: NOTHING },
        chain: [tokens.deleteToken],
      },
    },
    {
      path: '/api/v1/auth/tokens/:id/tsig/',
      guards: managing,
      POST: {
        id: 'makeTsigKey',
        summary: 'Make a TSIG key for a token',
        description:
          'With it, DNS UPDATE (RFC 2136) has the rights of the token. Only this response has the secret. An earlier key of ' +
          'the token ends.',
        answers: { 201: shows(TSIG_KEY.schema) },
        errors: { 400: ['A login cannot have a TSIG key.'], 404: [] },
        chain: [tokens.makeTsigKey],
      },
      DELETE: {
        id: 'deleteTsigKey',
        summary: 'Delete the TSIG key of a token',
        description: 'Succeeds also without such a key.',
        answers: { 204: NOTHING },
        chain: [tokens.removeTsigKey],
      },
    },
    {
      path: '/api/v1/auth/token/',
      guards: [authenticate, requires('ownToken'), rates],
      GET: {
        id: 'showOwnToken',
        summary: 'Show the token of the request',
        description: 'With its policies and its account. Needs no permission; also works before a second factor.',
        answers: { 200: shows(OWN_TOKEN.schema) },
        chain: [tokens.showOwnToken],
      },
    },
  ],
}

const wholePolicy = json(POLICY.input('PolicyInput', ['domain', 'type']))
const TOO_MANY_SHAPES = `Limit exceeded: a token can have at most ${SHAPES_MAX} shapes of patterns.`
/** The errors of rejected policies. */
const REFUSED = {
  400: [
    'Policy precedence: The first policy must be the default policy.',
    'When using policies, there must be exactly one default policy.',
  ],
  409: ['Conflict: a policy for this domain, subname and type already exists for this token.'],
}
const policyChange = {
  answers: { 200: shows(POLICY.schema) },
  errors: REFUSED,
  chain: [resourceJson, policies.changePolicy],
}

/** Policies of tokens (contract §6). */
export const POLICIES: Group = {
  tag: 'Policies',
  text:
    'The RRsets that a token may write. A token without policies may write all. Otherwise the most specific policy ' +
    'decides: first by domain, then by subname, then by type. The first policy, the default, has null in all ' +
    'three.',
  resources: [
    {
      path: '/api/v1/auth/tokens/:id/policies/',
      guards: managing,
      GET: {
        id: 'showPolicies',
        summary: 'Show the location of the policies of a token',
        answers: { 200: shows(POLICIES_INDEX) },
        chain: [policies.showPolicies],
      },
    },
    {
      path: '/api/v1/auth/tokens/:id/policies/rrsets/',
      guards: managing,
      GET: {
        id: 'listPolicies',
        summary: 'List the policies of a token',
        description: 'The default policy, then the others, oldest first. The list has no pages.',
        answers: { 200: shows(arrayOf(ref(POLICY.schema))) },
        chain: [policies.listPolicies],
      },
      POST: {
        id: 'createPolicy',
        summary: 'Create a policy',
        takes: wholePolicy,
        answers: { 201: shows(POLICY.schema) },
        errors: {
          ...REFUSED,
          403: [`Limit exceeded: a token can have at most ${POLICIES_MAX} policies.`, TOO_MANY_SHAPES],
        },
        chain: [resourceJson, policies.createPolicy],
      },
    },
    {
      path: '/api/v1/auth/tokens/:id/policies/rrsets/:policy/',
      guards: managing,
      GET: {
        id: 'showPolicy',
        summary: 'Show a policy',
        answers: { 200: shows(POLICY.schema) },
        chain: [policies.showPolicy],
      },
      PUT: { ...policyChange, id: 'replacePolicy', summary: 'Replace a policy', takes: wholePolicy },
      PATCH: {
        ...policyChange,
        id: 'changePolicy',
        summary: 'Change a policy',
        takes: json(POLICY.input('PolicyChange')),
      },
      DELETE: {
        id: 'deletePolicy',
        summary: 'Delete a policy',
        description: 'Succeeds also without such a policy. The default policy must be deleted last.',
        answers: { 204: NOTHING },
        errors: {
          400: [
            "Policy precedence: Can't delete default policy when there exist others.",
            "Can't delete default policy when auto_policy is in effect for the token.",
          ],
        },
        chain: [policies.deletePolicy],
      },
    },
  ],
}
