/** An account, and the properties of the acting token that determine its visible domains. */
export interface Viewer {
  tokenId: string
  /** The effective account: the bound account of an override token, otherwise the owner. */
  accountId: string
  override: boolean
  /** True if the token has policies; without them it may write everything. */
  restricted: boolean
}

/** Reports whether the viewer sees only the domains that its policies name, not all of the account (contract §3.3). */
export function isConfined({ override, restricted }: Viewer): boolean {
  return override && restricted
}

/** Returns the SQL condition for a domain that the viewer can see; its members are bindings; without viewer: any. */
export function visibleTo(viewer: Viewer | undefined): string {
  if (viewer === undefined) return 'true'
  const own = 'domains.owner_id = :accountId'
  if (!viewer.override) return own
  // The token may have got its first policies, or lost its last, since it was authenticated. `between`: see tokens.ts.
  return `${own} and (domains.id in (select domain_id from policies where token_id = :tokenId)
    or not exists (select from policies where token_id between :tokenId and :tokenId))`
}
