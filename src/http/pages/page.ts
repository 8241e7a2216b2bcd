import { createHash } from 'node:crypto'
import type { Context } from '../kit/context.ts'

/** Colours of the console, by the names that they have in console/style/tokens.css. */
export const COLOURS = `
:root { color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #0e1116); --raised: light-dark(#ffffff, #161a21); --sunken: light-dark(#eff1f4, #0a0d11);
  --line: light-dark(#e1e4e9, #272d37); --line-strong: light-dark(#828995, #6e7787);
  --text: light-dark(#14181f, #e8ebf0); --quiet: light-dark(#5a6372, #98a2b2);
  --accent: light-dark(#0a5f73, #4fc3d9); --accent-strong: light-dark(#084c5c, #7ad7e8);
  --accent-tint: light-dark(#e4f3f6, #10303a); --on-accent: light-dark(#ffffff, #06222a);
  --removed: light-dark(#a8202f, #ff9a9f); --removed-tint: light-dark(#fdebec, #3a1619) }`

// The card of the console's sign-in (console/style/pages.css).
const STYLE = `${COLOURS}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; padding: max(1rem, 8vh) 1rem 2rem; color: var(--text);
  background: radial-gradient(62rem 31rem at 50% -10%, var(--accent-tint), transparent), var(--ground);
  font: .875rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; overflow-wrap: anywhere }
main { max-width: 30rem; margin: 0 auto; padding: 1.75rem; background: var(--raised); border: 1px solid var(--line);
  border-radius: .875rem; box-shadow: 0 1px 2px rgb(15 23 42 / 8%), 0 8px 24px rgb(15 23 42 / 12%) }
svg { width: 2.5rem; height: 2.5rem; margin-bottom: .75rem }
h1 { margin: 0 0 .25rem; font-size: 1.375rem; font-weight: 650; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 .75rem }
.site { margin-bottom: 1.25rem }
.site, .quiet { color: var(--quiet) }
.quiet { font-size: .8125rem }
main > :last-child, .alert > :last-child { margin-bottom: 0 }
a { color: var(--accent); text-underline-offset: .15em }
label { display: block; font-size: .8125rem; font-weight: 550 }
input { display: block; width: 100%; min-height: 2.375rem; margin: .25rem 0; padding: .3125rem .6875rem; font: inherit;
  color: inherit; background: var(--raised); border: 1px solid var(--line-strong); border-radius: .3125rem }
input[type=checkbox] { display: inline; width: 1rem; min-height: 0; height: 1rem; margin: 0 .35rem 0 0; vertical-align: -.15em;
  accent-color: var(--accent) }
button { width: 100%; min-height: 2.375rem; margin-top: .375rem; padding: .25rem .8125rem; font: inherit; font-weight: 550;
  cursor: pointer; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent);
  border-radius: .3125rem }
button:hover { background: var(--accent-strong) }
button.danger { color: light-dark(#ffffff, #1b1a1f); background: var(--removed); border-color: var(--removed) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.alert { margin: 0 0 1rem; padding: .625rem .875rem; color: var(--removed); background: var(--removed-tint);
  border-radius: .3125rem }
code { display: block; padding: .75rem; background: var(--sunken); border: 1px solid var(--line); border-radius: .3125rem;
  font: .8125rem/1.5 ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace }
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

/** The mark of Zoneplane, as in console/kit/icons.tsx. */
export const MARK = html`<svg viewBox="0 0 24 24" aria-hidden="true">
  <path d="M12 12.6 2.5 17.3 12 22l9.5-4.7z" fill="var(--accent)" opacity=".3" />
  <path d="M12 7.8 2.5 12.5l9.5 4.7 9.5-4.7z" fill="var(--accent)" opacity=".55" />
  <path d="M12 2.5 2.5 7.2 12 11.9l9.5-4.7z" fill="var(--accent)" />
</svg>`

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
        <main>
          ${MARK}
          <h1>${title}</h1>
          <p class="site">${site}</p>
          ${content}
        </main>
      </body>
    </html> `.markup
}
