import { location } from './router.ts'

/** Why the next write is made, as somebody has typed it on a page. It lasts until a write has taken it, or the page is left. */
const typed = { page: '', text: '' }

/** The reason that was typed on the present page; empty: none. */
export function why(): string {
  return typed.page === location.value.path ? typed.text : ''
}

/** Remembers a reason, as one line. */
export function sayWhy(text: string): void {
  Object.assign(typed, { page: location.value.path, text: text.replace(/\s/g, ' ') })
}

/** Remembers a reason for what is about to be reviewed, unless somebody has typed one. */
export function suggestWhy(text: string): void {
  if (why() === '') sayWhy(text)
}

/** A reason as a header (contract §15.14); browsers send only ASCII. */
export function whyHeader(): Record<string, string> {
  const text = why().trim()
  if (text === '') return {}
  // What encodeURIComponent leaves is not all allowed (RFC 8187 §3.2.1).
  const rest = (octet: string) => `%${octet.charCodeAt(0).toString(16)}`
  return { 'Zoneplane-Message': `UTF-8''${encodeURIComponent(text).replace(/['()*]/g, rest)}` }
}
