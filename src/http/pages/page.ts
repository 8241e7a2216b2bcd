import { createHash } from 'node:crypto'
import type { Context } from '../kit/context.ts'

const STYLE = `
:root { color-scheme: light dark; --accent: light-dark(#1a5fb4, #78aeed); --danger: light-dark(#a51d2d, #f28b82);
  --quiet: light-dark(#5e5c64, #b0aeb8); --line: light-dark(#c0bfbc, #55535c); --raised: light-dark(#ffffff, #2b2a30) }
* { box-sizing: border-box }
body { margin: 0; background: light-dark(#f3f3f5, #1b1a1f); color: light-dark(#241f31, #f0eff4);
  font: 1.0625rem/1.5 system-ui, sans-serif }
header, main { max-width: 34rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 8vh; padding-bottom: .5rem; color: var(--quiet); overflow-wrap: anywhere }
main { background: var(--raised); border: 1px solid var(--line); border-radius: .75rem; padding: 1.5rem;
  width: calc(100% - 2rem) }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1rem }
form { margin-top: 1.5rem }
main > :last-child, .alert > :last-child { margin-bottom: 0 }
label { display: block; font-weight: 600 }
input { display: block; width: 100%; margin: .35rem 0; padding: .6rem .75rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: .5rem }
input[type=checkbox] { display: inline; width: auto; margin: 0 .35rem 0 0 }
button { width: 100%; margin-top: .75rem; padding: .7rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  color: light-dark(#ffffff, #1b1a1f); background: var(--accent); border: 0; border-radius: .5rem }
button.danger { background: var(--danger) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.quiet { color: var(--quiet); font-size: .9375rem }
.alert { margin: 0 0 1rem; padding: .75rem 1rem; border-left: .3rem solid var(--danger); background: light-dark(#fbeaec, #3a2328) }
code { display: block; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: .5rem;
  overflow-wrap: anywhere; font: .9375rem/1.5 ui-monospace, monospace }
`

/** Allows only the page's own style, and forms to its own origin; forbids frames. */
const POLICY = [
  `default-src 'none'`,
  `style-src '${digest(STYLE)}'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/** Returns the name of a style or script in a Content-Security-Policy. */
export function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** Markup, in which all text is escaped. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

type Part = string | Html | Part[] | false | undefined

/** Builds markup from a template. Strings in it are escaped, other markup is not; `false` and `undefined` are empty. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + markup(parts[i - 1]) + string))
}

function markup(part: Part): string {
  if (part instanceof Html) return part.markup
  if (Array.isArray(part)) return part.map(markup).join('')
  return (part || '').replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/** The octets that the hash in the policy covers, unchanged. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

/** Responds with a self-contained page. Its URL contains a code, so it is not cached, and links do not reveal it. */
export function answerPage(ctx: Context, title: string, site: string, content: Html): void {
  ctx.set('Content-Type', 'text/html; charset=utf-8')
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${site}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>${site}</header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.markup
}
