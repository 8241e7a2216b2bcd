import { Conflict, Invalid } from '../../errors.ts'

/** The error for the caller, by the name of the violated constraint. */
const ERRORS: Record<string, () => Error> = {
  accounts_email: () => Invalid.field('new_email', 'You already have another account with this email address.'),
  domains_name: () => Invalid.field('name', 'domain with this name already exists.'),
  rrsets_identity: () =>
    Invalid.object('Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'),
  rrsets_cname_alone: () =>
    Invalid.object(
      'RRset with conflicting type present at same subname. (No other RRsets are allowed alongside CNAME.)',
    ),
  policies_scope: () =>
    new Conflict('Conflict: a policy for this domain, subname and type already exists for this token.'),
  policies_default_first: () => Invalid.object('Policy precedence: The first policy must be the default policy.'),
  policies_auto_policy: () => Invalid.field('auto_policy', 'Auto policy requires a restrictive default policy.'),
  totp_factors_name: () => Invalid.object('An authentication factor with this name already exists.'),
  passkeys_name: () => Invalid.object('An authentication factor with this name already exists.'),
  passkeys_credential: () => Invalid.field('passkey', 'This passkey has already been added.'),
}

/** Returns the service's error for a violated constraint; undefined if the violation is a bug of ours. */
export function violationError(error: unknown): Error | undefined {
  const name = (error as { constraint?: string }).constraint
  return name === undefined ? undefined : ERRORS[name]?.()
}
