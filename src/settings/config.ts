import leven from 'leven'
import { readFileSync } from 'node:fs'
import { reasonOf } from '../errors.ts'
import type { Setting } from './setting.ts'
import { type Config, SETTINGS } from './settings.ts'

export type { Config }

/** The environment is invalid; the message has one line for each problem. */
export class ConfigError extends Error {}

/**
 * Reads the environment once. Reports every problem, not only the first.
 * @throws ConfigError
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const given = new Set<string>()
  const values = Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => {
    try {
      const text = textOf(setting, env)
      if (text === '') return [key, setting.fallback]
      given.add(setting.name)
      return [key, setting.read(text)]
    } catch (error) {
      problems.push(`${setting.name}: ${(error as Error).message}`)
      return [key, setting.fallback]
    }
  })
  const config = Object.fromEntries(values) as Config
  problems.push(...contradictions(config, given))
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** Returns the text of a setting: that of its variable, or for a secret of the file that the other variable names. */
function textOf({ name, isSecret }: Setting<unknown>, env: NodeJS.ProcessEnv): string {
  const text = env[name]?.trim() ?? ''
  const path = isSecret ? (env[`${name}_FILE`]?.trim() ?? '') : ''
  if (path === '') return text
  if (text !== '') throw new Error(`set this or ${name}_FILE, not both`)
  let contents: string
  try {
    contents = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new Error(`the file of ${name}_FILE cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  if (contents === '') throw new Error(`the file of ${name}_FILE, ${path}, is empty`)
  return contents
}

/** Returns the variables that look like misspelt settings, each with the setting that it resembles most. */
export function misspelt(env: NodeJS.ProcessEnv): [variable: string, setting: string][] {
  const known = Object.values<Setting<unknown>>(SETTINGS).flatMap(({ name, isSecret }) =>
    isSecret ? [name, `${name}_FILE`] : [name],
  )
  // In short names, two letters make other words, such as SORT of PORT.
  const others = Object.keys(env).filter((name) => name.length > 7 && !known.includes(name))
  return others.flatMap((name) => {
    const [nearest] = known
      .map((setting) => ({ setting, distance: leven(name, setting) }))
      .filter(({ distance }) => distance <= 2)
      .sort((a, b) => a.distance - b.distance)
    return nearest === undefined ? [] : [[name, nearest.setting]]
  })
}

/** Returns the address to which the issuer sends browsers back, which has to be registered there. */
export function callbackOf(publicUrl: string): string {
  return `${publicUrl}/api/v1/auth/oidc/callback/`
}

type Rule = [broken: boolean, problem: string]

/** Returns the contradictions between settings. @param given the names of those that the environment has */
function contradictions(config: Config, given: ReadonlySet<string>): string[] {
  const { databaseUrl, pdnsApiUrl, pdnsApiKey, mailUrl, publicUrl } = config
  const rules: Rule[] = [
    [
      config.ciControl && (databaseUrl ?? pdnsApiUrl) !== undefined,
      'CI_CONTROL: only with private servers, because everybody may create accounts',
    ],
    [(pdnsApiUrl === undefined) !== (pdnsApiKey === undefined), 'PDNS_API_URL and PDNS_API_KEY: set both or none'],
    [
      pdnsApiUrl !== undefined && !given.has('NAMESERVERS'),
      'NAMESERVERS: needed with a PowerDNS of your own, e.g. "ns1.example.net, ns2.example.net"',
    ],
    [
      databaseUrl !== undefined && !given.has('KEY_ENCRYPTION_KEYS'),
      'KEY_ENCRYPTION_KEYS: needed with a database of your own; `openssl rand -base64 32` makes a key. Keep a copy of ' +
        'it apart from the database',
    ],
    [
      pdnsApiUrl !== undefined && config.transferAddresses.length > 0,
      'TRANSFER_ADDRESSES: only with a private PowerDNS; set allow-axfr-ips of your own',
    ],
    [mailUrl !== undefined && !given.has('MAIL_FROM'), 'MAIL_FROM: needed with MAIL_URL, e.g. dns@example.net'],
    // Otherwise an attacker could choose, by the Host header, the target of links in other people's mails.
    [
      mailUrl !== undefined && publicUrl === undefined,
      'PUBLIC_URL: needed with MAIL_URL, because mails hold links, e.g. https://dns.example.net',
    ],
    ...signOnRules(config, given),
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}

function signOnRules(config: Config, given: ReadonlySet<string>): Rule[] {
  const hasIssuer = given.has('OIDC_ISSUER')
  const idle = [...given].filter((name) => name.startsWith('OIDC_') && !hasIssuer)
  return [
    [idle.length > 0, `OIDC_ISSUER: needed with ${idle.join(', ')}`],
    [
      hasIssuer && !(given.has('OIDC_CLIENT_ID') && given.has('OIDC_CLIENT_SECRET')),
      'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: needed with OIDC_ISSUER',
    ],
    [hasIssuer && !given.has('PUBLIC_URL'), 'PUBLIC_URL: needed with OIDC_ISSUER, which sends browsers back to it'],
    [hasIssuer && !config.console, 'CONSOLE: OIDC_ISSUER needs it, because the sign-in ends there'],
    // Otherwise whoever signs up first with the address of somebody else, and a password, shares the account of theirs.
    [
      config.oidcTrustEmail && config.registration && !config.emailConfirmation,
      'OIDC_TRUST_EMAIL: not with REGISTRATION=open and EMAIL_CONFIRMATION=off, because nobody checks addresses then',
    ],
    [!config.passwords && !hasIssuer, 'PASSWORDS=off: needs OIDC_ISSUER, or nobody could sign in'],
    [!config.passwords && config.registration, 'PASSWORDS=off: not with REGISTRATION=open, which makes passwords'],
  ]
}
