import { COLOURS, digest, Html, html, MARK } from './page.ts'

const PATH = '/api/v1/docs'
const DOCUMENT = '/api/v1/openapi.json'

const STYLE = `${COLOURS}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text);
  font: .875rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif }
body > header { display: flex; flex-wrap: wrap; gap: .5rem 1.125rem; align-items: center; padding: .875rem 1.25rem;
  background: var(--raised); border-bottom: 1px solid var(--line) }
header svg { width: 1.375rem; height: 1.375rem; margin-right: -.5rem }
h1 { margin: 0; font-size: .9375rem; font-weight: 650; overflow-wrap: anywhere }
label { display: flex; flex: 1 1 16rem; gap: .5rem; align-items: center; font-size: .8125rem; font-weight: 550 }
label input { flex: 1; min-width: 0; max-width: 28rem; min-height: 2.125rem; padding: .3125rem .6875rem; font: inherit;
  font-weight: normal; color: inherit; background: var(--raised); border: 1px solid var(--line-strong);
  border-radius: .3125rem }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
#docs :is(.scheme-container, .response-col_links, .opblock-head, .opblock-options) { display: none }
#docs .info { margin: 1.5rem 0 }
#docs .opblock-deprecated { opacity: 1 }
#docs .opblock-summary-method { color: #000; text-shadow: none }
#docs :is(:is(.opblock-delete, .opblock-deprecated) .opblock-summary-method, .info pre.version) { color: light-dark(#000, #fff) }
#docs .opblock-section-header { background: light-dark(#fffc, #0004) }
#docs .btn.execute { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
:is(header a, #docs a:not(.nostyle)) { color: var(--accent) }
#docs :is(.header-col, .examples-select__section-label, .parameter__in, .btn.cancel, .download-contents,
  .json-schema-2020-12-expand-deep-button, [class*='json-schema-2020-12__']) { color: light-dark(#3b4151, #e4e6e6) }
#docs .download-contents { background: light-dark(#fff, #333); color: light-dark(#000, #fff) }
#docs [class*='json-schema-2020-12__constraint'] { background: none; border: 1px solid var(--line) }
@media (max-width: 40rem) {
  #docs .wrapper { padding: 0 .75rem }
  #docs :is(table, tbody, tr, td) { display: block; width: auto; max-width: 100% }
  #docs thead { display: none }
  #docs table tbody tr td { padding: .25rem 0; min-width: 0 }
  #docs :is(.opblock-body, .responses-inner, .opblock-description-wrapper) { padding-left: .25rem; padding-right: .25rem }
  #docs :is(input, select, textarea, .parameters-col_description > *) { max-width: 100% }
  #docs .opblock-section-header { flex-wrap: wrap; gap: .5rem }
  #docs :is(pre, code, .markdown) { white-space: pre-wrap; overflow-wrap: anywhere }
}
`

/**
 * Shows the document with Swagger UI, which would send the examples of optional parameters. The token in the field goes
 * into each request, and is stored nowhere. Requests go to the page's own server, whatever server the document names.
 */
const SCRIPT = `
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
const token = document.querySelector('#token')
const nothing = () => () => null
const spec = await (await fetch('${DOCUMENT}')).json()
for (const parameter of Object.values(spec.components.parameters)) if (!parameter.required) delete parameter.example
const first = 'operations-tag,' + spec.tags[0].name
const isShown = (given) => (state, part, usual) => given(part, usual || String(part) === first)
SwaggerUIBundle({
  spec,
  domNode: document.querySelector('#docs'),
  deepLinking: true,
  docExpansion: 'none',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location)
    request.url = pathname + search
    const secret = token.value.trim()
    if (secret !== '') request.headers.Authorization = 'Token ' + secret
    return request
  },
  plugins: [{
    wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing },
    statePlugins: { layout: { wrapSelectors: { isShown } } },
  }],
})
`

/** Allows only the parts of Swagger UI, its icons, and requests to its own origin; forbids frames. */
export const POLICY = [
  `default-src 'none'`,
  `style-src 'self' '${digest(STYLE)}'`,
  `script-src 'self' '${digest(SCRIPT)}'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `form-action 'none'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/** The octets that the hashes in the policy cover, unchanged. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)
const SCRIPT_ELEMENT = new Html(`<script type="module">${SCRIPT}</script>`)

/** Returns the page that shows the OpenAPI document. @param version of the assets, so that caches can keep them */
export function docsPage(site: string, version: string): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API · ${site}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${PATH}/swagger-ui.css?${version}" />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>
          ${MARK}
          <h1>${site}</h1>
          <label>Token <input id="token" type="password" autocomplete="off" spellcheck="false" /></label>
          <a href="${DOCUMENT}">openapi.json</a>
        </header>
        <main id="docs">
          <noscript>This page needs JavaScript.</noscript>
        </main>
        <script src="${PATH}/swagger-ui-bundle.js?${version}"></script>
        ${SCRIPT_ELEMENT}
      </body>
    </html> `.markup
}
