import leven from 'leven'
import { type Config, type Setting, SETTINGS } from './settings.ts'

export type { Config }

/** The environment is invalid; the message has one line for each problem. */
export class ConfigError extends Error {}

/**
 * Reads the environment once. Reports every problem, not only the first.
 * @throws ConfigError
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const values = Object.entries<Setting<unknown>>(SETTINGS).map(([key, { name, read, fallback }]) => {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return [key, fallback]
    try {
      return [key, read(text)]
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
      return [key, fallback]
    }
  })
  const config = Object.fromEntries(values) as Config
  problems.push(...contradictions(config, env))
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** Returns the variables that look like misspelt settings, each with the setting that it resembles most. */
export function misspelt(env: NodeJS.ProcessEnv): [variable: string, setting: string][] {
  const known = Object.values(SETTINGS).map(({ name }) => name)
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

/** Returns the contradictions between settings. */
function contradictions(config: Config, env: NodeJS.ProcessEnv): string[] {
  const { databaseUrl, pdnsApiUrl, pdnsApiKey, mailUrl, publicUrl } = config
  const isSet = (name: string) => Boolean(env[name]?.trim())
  const rules: [broken: boolean, problem: string][] = [
    [
      config.ciControl && (databaseUrl ?? pdnsApiUrl) !== undefined,
      'CI_CONTROL: only with private servers, because everybody may create accounts',
    ],
    [(pdnsApiUrl === undefined) !== (pdnsApiKey === undefined), 'PDNS_API_URL and PDNS_API_KEY: set both or none'],
    [
      pdnsApiUrl !== undefined && !isSet('NAMESERVERS'),
      'NAMESERVERS: needed with a PowerDNS of your own, e.g. "ns1.example.net, ns2.example.net"',
    ],
    [
      databaseUrl !== undefined && !isSet('KEY_ENCRYPTION_KEYS'),
      'KEY_ENCRYPTION_KEYS: needed with a database of your own; `openssl rand -base64 32` makes a key. Keep a copy of ' +
        'it apart from the database',
    ],
    [
      pdnsApiUrl !== undefined && isSet('TRANSFER_ADDRESSES'),
      'TRANSFER_ADDRESSES: only with a private PowerDNS; set allow-axfr-ips of your own',
    ],
    [mailUrl !== undefined && !isSet('MAIL_FROM'), 'MAIL_FROM: needed with MAIL_URL, e.g. dns@example.net'],
    // Otherwise an attacker could choose, by the Host header, the target of links in other people's mails.
    [
      mailUrl !== undefined && publicUrl === undefined,
      'PUBLIC_URL: needed with MAIL_URL, because mails hold links, e.g. https://dns.example.net',
    ],
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}
