import { withoutDot } from '../../dns/names.ts'
import { TYPES } from '../../dns/types.ts'
import { NAME_LENGTH, SEARCH_WORDS } from '../../limits.ts'
import { typePattern, type Word } from '../../store/zone/history-search.ts'
import { searchedText } from './search.ts'

/**
 * Returns the words of a search in the history of a domain (contract §15.5); undefined if no entry can match them all.
 * @param domain its name
 */
export function wordsOf(text: string, domain: string): Word[] | undefined {
  const words = text.split(/\s+/).filter(Boolean)
  if (text.length > NAME_LENGTH || words.length > SEARCH_WORDS) return undefined
  const found = words.map((word) => wordOf(word, domain))
  return found.every(({ pattern, author }) => pattern !== null || author !== null) ? found : undefined
}

function wordOf(word: string, domain: string): Word {
  const [, field, value = word] = /^(type|name|by):(.+)$/i.exec(word) ?? []
  const type = value.toUpperCase()
  // Postgres has no texts with this character.
  const author = value.includes('\0') ? null : value.toLowerCase()
  switch (field?.toLowerCase()) {
    case 'type':
      return { pattern: /^[A-Z][A-Z0-9]*$/.test(type) ? typePattern(type) : null, author: null }
    case 'name':
      return { pattern: namePattern(value, domain), author: null }
    case 'by':
      return { pattern: null, author }
    default:
      return TYPES.has(type)
        ? { pattern: `${typePattern(type)}|\\["${escaped(value.toLowerCase())}",`, author: null }
        : { pattern: namePattern(value, domain), author: value === '@' ? null : author }
  }
}

/** The names of changes as `typePattern` finds their types. */
function namePattern(text: string, domain: string): string | null {
  const name = text === '@' ? domain : searchedText(withoutDot(text))
  if (name === undefined || name === '') return null
  if (name === domain) return '\\["",'
  return name.endsWith(`.${domain}`)
    ? `\\["${escaped(name.slice(0, -domain.length - 1))}",`
    : `\\["[^"]*${escaped(name)}[^"]*",`
}

function escaped(name: string): string {
  return name.replace(/[.*]/g, '\\$&')
}
