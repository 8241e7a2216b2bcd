import { domainToASCII } from 'node:url'
import { lowerCase } from '../../dns/names.ts'
import { NAME_LENGTH } from '../../limits.ts'

/**
 * Returns the form in which stored names can contain a text: in lower case, labels in Unicode as Punycode; undefined if
 * no name can contain it (contract §7.5).
 */
export function searchedText(text: string): string | undefined {
  if (text.length > NAME_LENGTH) return undefined
  const ascii = /[^\0-\x7f]/.test(text) ? domainToASCII(text) || undefined : lowerCase(text)
  return ascii === undefined || /[^a-z0-9_.*-]/.test(ascii) ? undefined : ascii
}
