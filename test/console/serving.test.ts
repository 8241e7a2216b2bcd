import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { projectFolder } from '../../src/installation/project.ts'
import { useService, withService } from '../support/harness.ts'

// How the console is served (contract §13).

const service = useService()

const ASSETS = join(projectFolder(), 'build', 'web', 'assets')

/** The assets that the page names. */
async function assetsOf(url: string): Promise<string[]> {
  const page = await (await fetch(`${url}/console/`)).text()
  return Array.from(page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g), ([, path]) => path!)
}

test('every path below /console is the page, with a policy that allows its own assets alone', async (t) => {
  for (const path of ['/console', '/console/', '/console/domains/example.org/history', '/console/%61?x=1']) {
    const { status, headers } = await fetch(service().url + path)
    t.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'], path)
    const policy = headers.get('content-security-policy')!
    t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.regex(policy, /frame-ancestors 'none'/)
    t.notRegex(policy, /unsafe|http/)
    t.is(headers.get('referrer-policy'), 'no-referrer')
    t.is(headers.get('cross-origin-opener-policy'), 'same-origin')
    t.is(headers.get('set-cookie'), null)
  }
  t.is((await fetch(`${service().url}/consoles`)).status, 404)
})

test('its assets are compressed, and good for ever; others do not exist', async (t) => {
  const named = await assetsOf(service().url)
  t.deepEqual(named.map((path) => path.replace(/-\w+/, '')).sort(), [
    ...['assets/chunk.js', 'assets/main.css', 'assets/main.js'],
  ])
  for (const path of readdirSync(ASSETS).map((file) => `assets/${file.replace(/\.gz$/, '')}`)) {
    const { status, headers } = await fetch(`${service().url}/console/${path}`)
    t.deepEqual([status, headers.get('content-encoding')], [200, 'gzip'])
    t.is(headers.get('cache-control'), 'public, max-age=31536000, immutable')
  }
  for (const name of ['main-00000000.js', 'main.js', '..%2findex.html', 'other.css']) {
    const { status, headers } = await fetch(`${service().url}/console/assets/${name}`)
    t.true(status === 404 || headers.get('content-type')?.startsWith('text/html'), name)
  }
})

test('over the wire, it is at most 75 kB of JavaScript and 12 kB of CSS, what seldom pages load aside, and needs no other host', (t) => {
  const bounds: Record<string, number> = {
    ...{ 'main.js': 500, 'chunk.js': 74_500, 'main.css': 12_000 },
    ...{ 'later.js': 10_000, 'qr.js': 5_000 },
  }
  const files = readdirSync(ASSETS)
  t.is(files.length, 5)
  for (const file of files) {
    const octets = readFileSync(join(ASSETS, file))
    t.true(octets.length <= bounds[file.replace(/-\w+|\.gz/g, '')]!, `${file}: ${octets.length}`)
    t.notRegex(gunzipSync(octets).toString(), /@import|@font-face|sourceMappingURL/)
  }
})

test('other methods are refused', async (t) => {
  const { status, headers } = await fetch(`${service().url}/console/`, { method: 'POST', body: '{}' })
  t.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
})

test('browsers that open the root get there, also below a path of a proxy', async (t) => {
  const accept = { headers: { accept: 'text/html' }, redirect: 'manual' as const }
  const { headers } = await fetch(`${service().url}/`, accept)
  t.is(headers.get('location'), 'console/')
  await withService({ PUBLIC_URL: 'https://dns.example/below' }, async ({ url }) => {
    t.is((await fetch(`${url}/`, accept)).headers.get('location'), 'https://dns.example/below/console/')
    t.regex(await (await fetch(`${url}/console/`)).text(), /<base href="\/below\/console\/" \/>/)
  })
})

test('CONSOLE=off: there is none', async (t) => {
  await withService({ CONSOLE: 'off' }, async ({ url }) => {
    t.is((await fetch(`${url}/console/`)).status, 404)
    const { headers } = await fetch(`${url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' })
    t.is(headers.get('location'), 'api/v1/docs/')
  })
})
