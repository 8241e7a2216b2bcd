import { Shared } from './shared.ts'

/** The console's own paths, relative to the page's base: `domains/example.org/history`. */

const BASE = new URL(document.baseURI)

/** The present path and its query. */
export const location = new Shared(read())

function read(): { path: string; query: URLSearchParams } {
  const { pathname, search } = window.location
  return {
    path: decoded(pathname.slice(BASE.pathname.length)).replace(/\/$/, ''),
    query: new URLSearchParams(search),
  }
}

/** A path as people read it. A malformed one is that of no page. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return '%'
  }
}

/** Shows another page, as a link to it does. */
export function navigate(path: string, { replace = false } = {}): void {
  const url = new URL(path, BASE)
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  location.value = read()
  window.scrollTo(0, 0)
}

/** Follows links within the console without loading the document again. */
export function startRouting(): void {
  addEventListener('popstate', () => (location.value = read()))
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (!link.href.startsWith(BASE.href)) return
    event.preventDefault()
    navigate(link.href)
  })
}

/** The parameters of a path that matches a pattern such as `domains/:name`; undefined if it does not. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) found[part.slice(1)] = given[i]!
    else if (part !== given[i]) return undefined
  }
  return found
}
