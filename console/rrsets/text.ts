import { utf8 } from '../../src/dns/octets.ts'
import { quote, string, type Token } from '../../src/dns/presentation.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Writes a text as one quoted string, in presentation format: UTF-8, escaped. The service cuts what is too long for one. */
export function quoted(text: string): string {
  return quote(utf8(text))
}

/** The text of strings, joined; undefined if their octets are not UTF-8. @throws Unreadable */
export function textOf(strings: Token[]): string | undefined {
  const octets = strings.map(string).join('')
  const text = decoder.decode(Uint8Array.from(octets, (octet) => octet.charCodeAt(0)))
  // In other octets, the decoder has replaced what is none.
  return utf8(text) === octets ? text : undefined
}
