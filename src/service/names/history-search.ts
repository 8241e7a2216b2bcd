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
  return found.every((word) => Object.values(word).some((text) => text !== null)) ? found : undefined
}

const NOTHING: Word = { pattern: null, author: null, message: null }

function wordOf(word: string, domain: string): Word {
  const [, field, value = word] = /^(type|name|by|message):(.+)$/i.exec(word) ?? []
  const type = value.toUpperCase()
  // Postgres has no texts with this character.
  const text = value.includes('\0') ? null : value.toLowerCase()
  switch (field?.toLowerCase()) {
    case 'type':
      return { ...NOTHING, pattern: /^[A-Z][A-Z0-9]*$/.test(type) ? typePattern(type) : null }
    case 'name':
      return { ...NOTHING, pattern: namePattern(value, domain) }
    case 'by':
      return { ...NOTHING, author: text }
    case 'message':
      return { ...NOTHING, message: text }
    default:
      return TYPES.has(type)
        ? { ...NOTHING, pattern: `${typePattern(type)}|\\["${escaped(value.toLowerCase())}",` }
        : value === '@'
          ? { ...NOTHING, pattern: namePattern(value, domain) }
          : { pattern: namePattern(value, domain), author: text, message: text }
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
