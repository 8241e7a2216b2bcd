import { BODY_FORM, TOKENS_MAX } from '../../limits.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows } from '../openapi/answers.ts'
import * as members from './member-handlers.ts'
import { MEMBER, MEMBERSHIP } from './member-representation.ts'
import { TOKEN } from './token-representation.ts'

const form = body(BODY_FORM)
const passive = throttle('account_management_passive')
const managing = [authenticate, requires('members'), passive]
const own = [authenticate, requires('memberships'), passive]

const OLD_LOGIN = 'Sign in again: an admin can be invited or made only within ten minutes of a login.'
const BY_GROUP = { 403: ['The groups of single sign-on decide about this member. Change them there.'] }

/** Members of accounts (contract §19). */
export const MEMBERS: Group = {
  tag: 'Members',
  text:
    'Other accounts that may act for an account: as viewer, editor or admin. Both sides need a login token. A membership ' +
    'gives a login token for the other account; its rights are those of the membership at each request.',
  resources: [
    {
      path: '/api/v1/auth/members/',
      // Invitations are mails to strangers.
      guards: [
        authenticate,
        requires('members'),
        throttle({ reads: 'account_management_passive', writes: 'account_management_active' }),
      ],
      GET: {
        id: 'listMembers',
        summary: 'List members and invitations',
        ...pages(MEMBER.schema),
        chain: [members.listMembers],
      },
      POST: {
        id: 'inviteMember',
        summary: 'Invite a member',
        description: 'A link in a mail to the address accepts the invitation, within seven days.',
        takes: json(MEMBER.input('MemberInput', ['email', 'role'])),
        answers: { 201: shows(MEMBER.schema) },
        errors: {
          400: [
            "This is the account's own address.",
            'This address is invited already. Delete the invitation before you send another.',
          ],
          403: ['Limit exceeded: an account can have at most 200 members.', OLD_LOGIN],
        },
        chain: [form, members.invite],
      },
    },
    {
      path: '/api/v1/auth/members/:id/',
      guards: managing,
      GET: {
        id: 'showMember',
        summary: 'Show a member',
        answers: { 200: shows(MEMBER.schema) },
        chain: [members.showMember],
      },
      PATCH: {
        id: 'changeMember',
        summary: 'Change the role or the domains of a member',
        description: 'It holds for requests that are on their way, too.',
        query: ['tokens'],
        takes: json(MEMBER.input('MemberChange')),
        answers: { 200: shows(MEMBER.schema) },
        errors: { 403: [...BY_GROUP[403], OLD_LOGIN] },
        problems: ['tokens'],
        chain: [form, members.changeMember],
      },
      DELETE: {
        id: 'removeMember',
        summary: 'Remove a member, or delete an invitation',
        description:
          'Ends the logins of the member for the account, and the API tokens that the member has made for it.',
        query: ['tokens'],
        answers: { 204: NOTHING },
        errors: BY_GROUP,
        problems: ['tokens'],
        chain: [members.removeMember],
      },
    },
    {
      path: '/api/v1/auth/memberships/',
      guards: own,
      GET: {
        id: 'listMemberships',
        summary: 'List the accounts for which you may act',
        ...pages(MEMBERSHIP.schema),
        chain: [members.listMemberships],
      },
    },
    {
      path: '/api/v1/auth/memberships/:id/',
      guards: own,
      GET: {
        id: 'showMembership',
        summary: 'Show a membership',
        answers: { 200: shows(MEMBERSHIP.schema) },
        chain: [members.showMembership],
      },
      DELETE: {
        id: 'leave',
        summary: 'End a membership',
        description: 'Ends your logins for the account, and the API tokens that you have made for it.',
        answers: { 204: NOTHING },
        chain: [members.leave],
      },
    },
    {
      path: '/api/v1/auth/memberships/:id/token/',
      guards: own,
      POST: {
        id: 'actForAccount',
        summary: 'Log in to act for the account',
        answers: { 201: shows(TOKEN.full) },
        errors: {
          403: [
            'This account is disabled.',
            'Sign in with single sign-on to act for this account: a group there has made you a member.',
            `Limit exceeded: an account can have at most ${TOKENS_MAX} login tokens.`,
          ],
        },
        chain: [members.openSession],
      },
    },
  ],
}
