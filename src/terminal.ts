/** Escapes control characters, which a terminal would obey, as JSON does. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
