import { Invalid } from '../../errors.ts'
import { MEMBER_DOMAINS_MAX } from '../../limits.ts'
import { emailProblems } from '../../service/accounts/accounts.ts'
import { type Fate, type Member, ROLES } from '../../service/members/members.ts'
import { array, choice, NULL, ruledText } from '../fields/fields.ts'
import { EMAIL_INPUT } from '../fields/patterns.ts'
import { arrayOf, BOOLEAN, EMAIL, nullable, oneOf, STRING, TIME, UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { type Context, parameter } from '../kit/context.ts'

const email = ruledText({ trim: true }, emailProblems).meta({ accepted: EMAIL_INPUT })
const domains = array(
  (item) => (typeof item === 'string' ? item : { problem: item === null ? NULL : 'Must be a string.' }),
  MEMBER_DOMAINS_MAX,
  STRING,
).nullable()

/** A member of an account, or an invitation (contract §19.1). */
export const MEMBER = representation<Member>()(['Member'], {
  id: { read: UUID, text: 'Identifies the member.' },
  email: {
    writeOnce: email,
    text: "The address of the member's own account, or the one that is invited.",
    example: 'bob@example.org',
  },
  role: { write: choice(ROLES), text: 'What the member may do.', example: 'editor' },
  domains: {
    write: domains,
    text: 'The names of the only domains that the member sees; null: all. Not for admins.',
    example: ['example.com'],
  },
  state: {
    read: oneOf('invited', 'active'),
    text: 'Whether the invitation is accepted.',
    from: ({ personId }) => (personId === null ? 'invited' : 'active'),
  },
  invited: { read: TIME, text: 'The time of the invitation.', from: ({ created }) => created },
  accepted: { read: nullable(TIME), text: 'The time of its acceptance.' },
  last_active: { read: nullable(TIME), text: 'When the member last acted for the account.' },
  source: {
    read: oneOf('invitation', 'operator', 'group'),
    text: 'Who made the membership. `group`: the groups of single sign-on decide about it.',
  },
  second_factor: {
    read: BOOLEAN,
    text: "Whether the member's own account has a second factor here.",
    example: true,
    from: ({ mfaEnabled }) => mfaEnabled,
  },
})

/** A membership, as the member sees it (contract §19.3). */
export const MEMBERSHIP = representation<Member>()(['Membership'], {
  id: { read: UUID, text: 'Identifies the membership.' },
  account: { read: EMAIL, text: 'The account for which the member may act.' },
  role: { read: oneOf(...ROLES), text: 'What the member may do.', example: 'editor' },
  domains: {
    read: nullable(arrayOf(STRING)),
    text: 'The names of the only domains that the member sees; null: all.',
    example: null,
  },
  require_mfa: { read: BOOLEAN, text: 'Whether the account requires a second factor of the member.', example: false },
  accepted: { read: TIME, text: 'Since when.' },
  last_active: { read: nullable(TIME), text: 'When the member last acted for the account.' },
  source: { read: oneOf('invitation', 'operator', 'group'), text: 'Who made the membership.' },
})

/** Reads what shall happen to the tokens of a member whose rights end. @throws Invalid */
export function readFate(ctx: Context): Fate {
  const fate = parameter(ctx, 'tokens') ?? 'end'
  if (fate !== 'keep' && fate !== 'end') throw Invalid.field('tokens', `"${fate}" is not a valid choice.`)
  return fate
}
