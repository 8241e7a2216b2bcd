import type { Role } from '../accounts/members.ts'

/** An account, and the properties of the acting token that determine its visible domains. */
export interface Viewer {
  tokenId: string
  /** The effective account: the bound account of an override token, otherwise the owner. */
  accountId: string
  override: boolean
  /** True if the token has policies; without them it may write everything. */
  restricted: boolean
  /** The membership on which the token depends. */
  memberId: string | null
  /** The role, if it is a member's login. */
  role: Role | null
  /** True if a member's login sees only some domains. */
  confined: boolean
}

/** Reports whether the viewer sees only the domains that its policies, or a membership, name (contract §§3.3 and 19.1). */
export function isConfined({ override, restricted, role, confined }: Viewer): boolean {
  return role === null ? override && restricted : confined
}

/** Returns the SQL condition for a domain that the viewer can see; its members are bindings; without viewer: any. */
export function visibleTo(viewer: Viewer | undefined): string {
  if (viewer === undefined) return 'true'
  const own = 'domains.owner_id = :accountId'
  if (!viewer.override) return own
  // Its domains may have become others since it was authenticated, too.
  if (viewer.role !== null) {
    return `${own} and (domains.id in (select domain_id from member_domains where member_id = :memberId)
      or exists (select from members where id = :memberId and not confined))`
  }
  // The token may have got its first policies, lost its last, or have been deleted, since it was authenticated. `between`: see tokens.ts.
  return `${own} and (domains.id in (select domain_id from policies where token_id = :tokenId)
    or exists (select from tokens where id = :tokenId)
      and not exists (select from policies where token_id between :tokenId and :tokenId))`
}
