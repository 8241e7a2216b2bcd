import { subnameProblems } from '../../src/dns/names.ts'

/** What a typed name is: a subname, or wrong, or one of several names, all absolute. */
export type Owner = { subname: string } | { problems: string[] } | { answers: [inside: string, below: string] }

/** Reads a name that is relative to the domain, or absolute; `@` is the domain itself. Case does not matter. */
export function ownerOf(typed: string, domain: string): Owner {
  const name = typed.trim().toLowerCase()
  if (name === '') return { problems: [`Type @ for ${domain} itself.`] }
  if (name === '@' || name === `${domain}.`) return { subname: '' }
  if (name === domain || name.endsWith(`.${domain}`)) return { answers: [`${name}.`, `${name}.${domain}.`] }
  const end = name.length - `.${domain}.`.length
  if (name.endsWith('.') && !(name.endsWith(`.${domain}.`) && end > 0)) {
    return { problems: [`${name} is not in ${domain}.`] }
  }
  const subname = name.endsWith('.') ? name.slice(0, end) : name
  const problems = subnameProblems(subname)
  return problems.length > 0 ? { problems } : { subname }
}
