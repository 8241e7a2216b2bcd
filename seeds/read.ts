import { readFileSync } from 'node:fs'
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { reasonOf } from '../src/errors.ts'
import { ConfigError } from '../src/settings/config.ts'
import { isSecret } from '../src/settings/parsers.ts'

/** A part of a seed, with the line of the file where it begins. */
interface Part {
  line: number
}

export interface SeedToken extends Part {
  secret: string
  /** As in the body of a request that creates a token. */
  settings: Record<string, unknown>
  /** As in the bodies of requests that create policies. */
  policies: (Part & { body: object })[]
}

export interface SeedAccount extends Part {
  email: string
  limitDomains?: number | null
  tokens: SeedToken[]
  /** As in the bodies of requests that create domains. */
  domains: (Part & { name: string; body: unknown })[]
}

/** Accounts, tokens, policies and domains that exist from the start. */
export interface Seed {
  file: string
  accounts: SeedAccount[]
}

const TOKEN_MEMBERS = [
  'name',
  'perm_create_domain',
  'perm_delete_domain',
  'perm_manage_tokens',
  'allowed_subnets',
  'auto_policy',
  'max_age',
  'max_unused_period',
]

/** Reads a seed from a YAML file (docs/ci.md). @throws ConfigError that names the line */
export function readSeed(file: string): Seed {
  const lines = new LineCounter()
  const document = parseDocument(readText(file), { lineCounter: lines, prettyErrors: false })
  const fail = (offset: number, message: string): never => {
    throw new ConfigError(`${file}, line ${lines.linePos(offset).line}: ${message}`)
  }
  for (const { pos, message } of document.errors) fail(pos[0], message)
  visit(document, { Alias: (_, node) => fail(offsetOf(node), 'aliases are not supported') })
  const secrets = new Set<string>()

  /** The members of an object, by their names; only these may occur. */
  const members = (node: Node | null, allowed: string[]) => {
    if (!isMap<Node, Node | null>(node)) return fail(offsetOf(node), `expected an object of ${allowed.join(', ')}`)
    const found = new Map<string, Node | null>()
    for (const { key, value } of node.items) {
      const name = String(key)
      if (!allowed.includes(name)) fail(offsetOf(key), `unknown member ${name}; known are ${allowed.join(', ')}`)
      found.set(name, value)
    }
    return found
  }
  const list = (node: Node | null | undefined): Node[] => {
    if (node === undefined) return []
    return isSeq<Node>(node) ? node.items : fail(offsetOf(node), 'expected a list')
  }
  const text = (node: Node | null | undefined, parent: Node, what: string): string =>
    isScalar(node) && typeof node.value === 'string'
      ? node.value
      : fail(offsetOf(node ?? parent), `${what} must be text`)
  const part = (node: Node) => ({ line: lines.linePos(offsetOf(node)).line })

  const token = (node: Node): SeedToken => {
    const { secret, policies, ...settings } = Object.fromEntries(
      members(node, ['secret', 'policies', ...TOKEN_MEMBERS]),
    )
    const chosen = text(secret, node, 'secret')
    if (!isSecret(chosen))
      fail(offsetOf(secret ?? node), 'secret must be 8 to 256 visible ASCII characters without blanks')
    if (secrets.has(chosen)) fail(offsetOf(secret ?? node), 'another token has this secret')
    secrets.add(chosen)
    return {
      ...part(node),
      secret: chosen,
      settings: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value?.toJS(document)])),
      policies: list(policies).map((policy) => {
        members(policy, ['domain', 'subname', 'type', 'perm_write'])
        return { ...part(policy), body: policy.toJS(document) as object }
      }),
    }
  }
  const domain = (node: Node) => {
    const name = text(members(node, ['name', 'zonefile']).get('name'), node, 'name')
    return { ...part(node), name, body: node.toJS(document) as unknown }
  }
  const account = (node: Node): SeedAccount => {
    const {
      email,
      limit_domains: limit,
      tokens,
      domains,
    } = Object.fromEntries(members(node, ['email', 'limit_domains', 'tokens', 'domains']))
    const limitDomains = limit?.toJS(document) as unknown
    const isLimit = limitDomains == null || (Number.isInteger(limitDomains) && Number(limitDomains) >= 0)
    if (!isLimit) fail(offsetOf(limit), 'limit_domains must be a whole number, or null for no limit')
    return {
      ...part(node),
      email: text(email, node, 'email'),
      ...(limit !== undefined && { limitDomains: limitDomains as number | null }),
      tokens: list(tokens).map(token),
      domains: list(domains).map(domain),
    }
  }
  return { file, accounts: list(members(document.contents, ['accounts']).get('accounts')).map(account) }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`ZONEPLANE_SEED: ${reasonOf(error)}`)
  }
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0
}
