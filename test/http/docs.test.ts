import test from 'ava'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { useService } from '../support/harness.ts'

// Contract §15.2: the page that shows the document, and what it consists of. test/browser/docs.test.ts uses it.

const service = useService()
const fetchPath = (path: string) => fetch(new URL(path, service().url))

test('the page consists of assets of this very server, and no other script or style may run in it', async (t) => {
  const response = await fetchPath('/api/v1/docs/')
  const { status, headers } = response
  t.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  const policy = headers.get('content-security-policy')!
  t.notRegex(policy, /unsafe|https?:|\*/)
  for (const rule of ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]) {
    t.true(policy.split('; ').includes(rule), rule)
  }
  t.notRegex(await response.text(), /="(https?:)?\/\//)
})

test('the assets are those of the package, at most 700 KiB in all, and are cached', async (t) => {
  const require = createRequire(import.meta.url)
  const page = await (await fetchPath('/api/v1/docs/')).text()
  const paths = Array.from(page.matchAll(/(?:src|href)="(\/[^"]*\/docs\/([^"?]*)[^"]*)"/g))
  t.deepEqual(paths.map(([, , name]) => name).sort(), ['swagger-ui-bundle.js', 'swagger-ui.css'])
  let octets = 0
  for (const [, path, name] of paths) {
    const response = await fetchPath(path!)
    const { headers } = response
    t.true(
      Buffer.from(await response.arrayBuffer()).equals(
        readFileSync(require.resolve(`@fastify/swagger-ui/static/${name}`)),
      ),
    )
    t.is(headers.get('content-encoding'), 'gzip')
    t.is(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    octets += Number(headers.get('content-length'))
  }
  t.log(`${octets} octets`)
  t.true(octets > 0 && octets <= 700 * 1024)
})

test('other files of the package are not served', async (t) => {
  for (const name of ['package.json', 'index.html', '..%2Fkoa%2Fpackage.json', 'constructor']) {
    t.is((await fetchPath(`/api/v1/docs/${name}`)).status, 404, name)
  }
})
