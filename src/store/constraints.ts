import { Invalid } from '../errors.ts'

/** What the caller did wrong when the database refused it: by the constraint's name. */
const MEANING: Record<string, () => Error> = {
  accounts_email: () => Invalid.field('new_email', 'You already have another account with this email address.'),
  domains_name: () => Invalid.field('name', 'domain with this name already exists.'),
  rrsets_identity: () =>
    Invalid.object('Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'),
  rrsets_cname_alone: () =>
    Invalid.object(
      'RRset with conflicting type present at same subname. (No other RRsets are allowed alongside CNAME.)',
    ),
}

/** The service's error for a violated constraint, or undefined if the violation is a mistake of ours. */
export function violated(error: unknown): Error | undefined {
  const name = (error as { constraint?: string }).constraint
  return name === undefined ? undefined : MEANING[name]?.()
}
