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

/** The setting of each member. */
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

/** Reads the settings that the body mentions (contract §5.1). */
export function readToken(body: unknown): TokenInput {
  const { problems, ...values } = readFields(body, shape)
  const settings = Object.entries(values).map(([name, value]) => [SETTINGS[name as keyof typeof shape], value])
  return { settings: Object.fromEntries(settings) as Partial<TokenSettings>, problems }
}

export function presentToken(token: Token) {
  const { id, created, lastUsed, owner, userOverride, mfa, valid } = token
  const settings = Object.entries(SETTINGS).map(([name, setting]) => [name, token[setting]] as const)
  return {
    ...{ id, created, last_used: lastUsed, owner, user_override: userOverride, mfa },
    ...Object.fromEntries(settings),
    is_valid: valid,
  }
}

/** A new token with its secret, which no later response contains (contract §5.1). */
export function presentNewToken(token: Token, secret: string) {
  return { ...presentToken(token), token: secret }
}
