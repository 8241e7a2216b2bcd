import { absolute, lowerCase, type Name, withoutDot } from '../../dns/names.ts'

/** Returns the id of a zone: its absolute name, in which other characters than these are escaped. */
export function idOf(domain: string): string {
  return absolute(domain).replace(/[^A-Za-z0-9.-]/g, (character) => `=${hex(character)}`)
}

/** Returns the name of the domain that an id stands for; ids may lack their final dot. */
export function domainOf(id: string): string {
  const name = id.replace(/=([\dA-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
  return withoutDot(lowerCase(name))
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')
}

/** Reports whether this is an absolute name, of printable characters. */
export function isAbsolute(value: unknown): value is Name {
  return typeof value === 'string' && /^[!-~]*\.$/.test(value)
}

/** Returns the part of an absolute name before the domain, in lower case; undefined if it is outside of the domain. */
export function subnameIn(domain: string, name: Name): string | undefined {
  const plain = withoutDot(lowerCase(name))
  if (plain === domain) return ''
  // An empty label before the domain would look like its apex.
  return plain.endsWith(`.${domain}`) && !plain.startsWith('.') ? plain.slice(0, -domain.length - 1) : undefined
}
