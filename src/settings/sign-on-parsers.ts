import * as parse from './parsers.ts'

// Parsers of the settings of single sign-on, like those in parsers.ts.

/** The roles that a group can give (contract §11.4). */
const ROLES = ['viewer', 'editor', 'admin'] as const

/** A group of the issuer, and the membership that it gives. */
export interface GroupRow {
  group: string
  /** The e-mail address of the account. */
  account: string
  role: (typeof ROLES)[number]
}

/** Parses the identifier of an issuer. Without encryption, it can only be on this machine. */
export function issuer(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const isPlain = url !== undefined && url.search + url.hash + url.username + url.password === ''
  if (!isPlain || !(url.protocol === 'https:' || isLocal) || value.includes('/.well-known/')) {
    throw new Error(
      'must be a URL beginning with https://, without "/.well-known/…", such as https://login.example.net',
    )
  }
  return value
}

/** Parses `on`, `off`, or the domains of addresses that may sign up. */
export function signUp(value: string): boolean | string[] {
  if (value === 'on' || value === 'off') return value === 'on'
  try {
    return parse.names(value)
  } catch {
    throw new Error(`must be "on", "off", or domains of e-mail addresses, such as "example.net, example.org"`)
  }
}

/** Parses `dns-admins=ops@example.net:admin; dns-readers=ops@example.net:viewer`. Names of groups can have any characters but `;`. */
export function groups(value: string): GroupRow[] {
  const rows = value.split(';').filter((row) => row.trim() !== '')
  const all = rows.map((row) => {
    const [, group = '', account = '', name] = /^(.+)=([^=]+):([a-z]+)$/.exec(row.trim()) ?? []
    const role = ROLES.find((each) => each === name)
    if (role === undefined || !parse.isAddress(account.trim())) {
      throw new Error(
        `must be such as "dns-admins=ops@example.net:admin; dns-readers=ops@example.net:viewer", with the roles ${ROLES.join(', ')}, not "${row.trim()}"`,
      )
    }
    return { group: group.trim(), account: account.trim(), role }
  })
  if (all.length === 0) throw new Error('must name a group')
  return all
}
