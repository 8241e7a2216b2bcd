import { Denied } from '../../errors.ts'
import type { Subject } from '../../issuer/claims.ts'
import type { Config } from '../../settings/config.ts'

type Claims = Subject['claims']

/**
 * Returns those of OIDC_GROUPS in which somebody is; undefined if the setting is not used. The claim is a text or a list, at
 * a path: `realm_access.roles`, or a name with dots.
 * @throws Denied if it is in none of them, or the issuer does not tell the groups
 */
export function groupsOf(
  { oidcGroups, oidcGroupsClaim: path, oidcName: name }: Config,
  claims: Claims,
): string[] | undefined {
  if (oidcGroups.length === 0) return undefined
  const known = [...new Set(oidcGroups.map(({ group }) => group))]
  const value = at(claims, path)
  if (value === undefined && isLinked(claims, path)) {
    throw new Denied(
      `${name} tells this service only where your groups are, not which (claim “${path}”). You are perhaps in too many: ` +
        'let whoever runs it send only those that are for this service.',
    )
  }
  const groups = typeof value === 'string' ? [value] : value
  if (groups !== undefined && !(Array.isArray(groups) && groups.every((group) => typeof group === 'string'))) {
    throw new Denied(
      `The claim “${path}” of ${name} is neither a text nor a list of texts. Tell the operator of this service.`,
    )
  }
  const mine = known.filter((group) => groups?.includes(group) === true)
  if (mine.length > 0) return mine
  const reason = groups === undefined ? `${name} tells no groups of you (claim “${path}”)` : 'You are in none of them'
  throw new Denied(`Only members of these groups may use this service: ${known.join(', ')}. ${reason}.`)
}

/** Reports whether the claims say whether somebody is in groups, as far as that is asked. */
export function hasGroups({ oidcGroups, oidcGroupsClaim: path }: Config, claims: Claims): boolean {
  return oidcGroups.length === 0 || at(claims, path) !== undefined
}

/** Returns the value at a path, whose names may themselves have dots. */
function at(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const own = (name: string) => (Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined)
  const whole = own(path)
  if (whole !== undefined) return whole
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const found = at(own(path.slice(0, dot)), path.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** Reports whether the issuer has left the claim out, and says where it can be asked for (OpenID Connect Core §5.6.2). */
function isLinked(claims: Claims, path: string): boolean {
  return at(claims['_claim_names'], path.split('.')[0]!) !== undefined || claims['hasgroups'] === true
}
