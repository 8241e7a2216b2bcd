import type { OwnToken } from '../../service/tokens/own-token.ts'
import { arrayOf, BOOLEAN, COUNT, EMAIL, nullable, object, ref, UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { MEMBERSHIP } from './member-representation.ts'
import { POLICY } from './policy-representation.ts'
import { TOKEN } from './token-representation.ts'

/** The presented token (contract §5.8). */
export const OWN_TOKEN = representation<OwnToken>()(['OwnToken'], {
  token: {
    read: ref(TOKEN.schema),
    text: 'The token, without its secret.',
    from: ({ token }) => TOKEN.present(token),
  },
  policies: {
    read: arrayOf(ref(POLICY.schema)),
    text: 'Its policies: the default policy, then the others, oldest first. Empty: it may write everything.',
    from: ({ policies }) => policies.map((policy) => POLICY.present(policy)),
  },
  account: {
    read: object({ id: nullable(UUID), email: EMAIL, domains: nullable(COUNT) }),
    text: 'The account that it acts for. `id` is null if that is not its owner, and so is `domains`, their number; this also while `mfa_pending`.',
    from: ({ account: { id, email, domains } }) => ({ id, email, domains }),
  },
  mfa_pending: {
    read: BOOLEAN,
    text: 'Whether the login still has to verify a code of a second factor. Until then, it can do little else.',
    example: false,
  },
  membership: {
    read: nullable(ref(MEMBERSHIP.schema)),
    text: "The membership whose rights the token has, if it is a member's login (contract §19).",
    example: null,
    from: ({ membership }) => membership && MEMBERSHIP.present(membership),
  },
})
