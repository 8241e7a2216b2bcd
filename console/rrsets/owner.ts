import { subnameProblems, withoutDot } from '../../src/dns/names.ts'

/** What a typed name is: a subname, or wrong. */
export type Owner = { subname: string } | { problems: string[] }

/** A typed name without blanks around it, in lower case, and its labels in Unicode in Punycode, as the service has them (contract §7.5). */
export function asciiName(typed: string): string {
  return typed
    .trim()
    .toLowerCase()
    .replace(/[-\w]*[^\0-\x7f][-\w\x80-\uffff]*/g, (label) => {
      try {
        // Browsers would read a last label of digits as an IPv4 address, and write `*` as `%2A`.
        return new URL(`http://${label}.a`).hostname.slice(0, -2)
      } catch {
        return label
      }
    })
}

/**
 * Reads a name that is relative to the domain, or has it at its end, with final dot or without; `@` is the domain itself. Case does
 * not matter, and labels may be in Unicode.
 */
export function ownerOf(typed: string, domain: string): Owner {
  const name = asciiName(typed)
  if (name === '') return { problems: [`Type @ for ${domain} itself.`] }
  const undotted = withoutDot(name)
  if (name === '@' || undotted === domain) return { subname: '' }
  const end = undotted.length - `.${domain}`.length
  const isWhole = end > 0 && undotted.endsWith(`.${domain}`)
  if (name.endsWith('.') && !isWhole) return { problems: [`${name} is not in ${domain}.`] }
  const subname = isWhole ? undotted.slice(0, end) : name
  const problems = subnameProblems(subname)
  return problems.length > 0 ? { problems } : { subname }
}
