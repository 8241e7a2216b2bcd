import type { Token, TokenInput, TokenSettings } from '../../service/tokens/tokens.ts'
import { duration } from './durations.ts'
import { boolean, readFields, text } from './fields.ts'
import { networks } from './networks.ts'

const shape = {
  max_age: duration(),
  max_unused_period: duration(),
  name: text({ trim: true }),
  perm_create_domain: boolean(),
  perm_delete_domain: boolean(),
  perm_manage_tokens: boolean(),
  allowed_subnets: networks(),
  auto_policy: boolean(),
}

/** The settings' names in the service. */
const SETTINGS: Record<keyof typeof shape, keyof TokenSettings> = {
  max_age: 'maxAge',
  max_unused_period: 'maxUnusedPeriod',
  name: 'name',
  perm_create_domain: 'permCreateDomain',
  perm_delete_domain: 'permDeleteDomain',
  perm_manage_tokens: 'permManageTokens',
  allowed_subnets: 'allowedSubnets',
  auto_policy: 'autoPolicy',
}

/** What a body says about a token; settings that it does not mention are not among the result (contract §5.1). */
export function readToken(body: unknown): TokenInput {
  const { problems, ...values } = readFields(body, shape)
  const settings = Object.entries(values).map(([name, value]) => [SETTINGS[name as keyof typeof shape], value])
  return { settings: Object.fromEntries(settings) as Partial<TokenSettings>, problems }
}

export function presentToken(token: Token) {
  return {
    id: token.id,
    created: token.created,
    last_used: token.lastUsed,
    owner: token.owner,
    user_override: token.userOverride,
    mfa: token.mfa,
    max_age: token.maxAge,
    max_unused_period: token.maxUnusedPeriod,
    name: token.name,
    perm_create_domain: token.permCreateDomain,
    perm_delete_domain: token.permDeleteDomain,
    perm_manage_tokens: token.permManageTokens,
    allowed_subnets: token.allowedSubnets,
    auto_policy: token.autoPolicy,
    is_valid: token.valid,
  }
}

/** A token that was just made, with its secret: this once (contract §5.1). */
export function presentNewToken(token: Token, secret: string) {
  return { ...presentToken(token), token: secret }
}
