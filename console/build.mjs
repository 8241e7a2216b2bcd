// Bundles the console into build/web/: index.html, and hashed assets, compressed as they are sent. The argument is the folder
// of the packages that it is made of, which the product does not depend on.
import { Buffer } from 'node:buffer'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'

const TARGET = 'build/web'

// Nothing of the console is called by `new` but classes, so functions can become arrows and methods.
const compress = { passes: 3, ecma: 2022, unsafe_arrows: true, unsafe_methods: true }

const packages = resolve(process.argv[2])
const { buildSync } = createRequire(join(packages, 'esbuild', 'package.json'))('esbuild')
const { minifySync } = createRequire(join(packages, '@swc/core', 'package.json'))('@swc/core')
const zopfli = createRequire(join(packages, '@gfx', 'zopfli', 'package.json'))('@gfx/zopfli')
const bundle = (options) =>
  buildSync({
    entryNames: '[name]-[hash]',
    outdir: join(TARGET, 'assets'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    tsconfigRaw: {},
    nodePaths: [packages],
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    ...options,
  }).outputFiles
// Few people need it, and seldom, so it is not in the bundle.
const [qr] = bundle({ entryPoints: { qr: 'uqr' } })
const qrModule = `./${basename(qr.path)}`
const outputFiles = bundle({
  entryPoints: ['console/main.tsx'],
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: ['console/jsx.ts'],
  define: { QR_MODULE: JSON.stringify(qrModule) },
  external: [qrModule],
  // Pages that few people look at are loaded when they are shown (later.ts).
  splitting: true,
})
fs.rmSync(TARGET, { recursive: true, force: true })
fs.mkdirSync(join(TARGET, 'assets'), { recursive: true })
let page = fs.readFileSync('console/index.html', 'utf8')
for (const { path, text } of [qr, ...outputFiles]) {
  const name = basename(path)
  // With swc's names of variables, gzip saves more than with those of esbuild.
  const contents = name.endsWith('.js') ? minifySync(text, { module: true, compress, mangle: true }).code : text
  // It finds 3 % more to save than zlib.
  const packed = await zopfli.gzipAsync(Buffer.from(contents), { numiterations: 15 })
  fs.writeFileSync(join(TARGET, 'assets', `${name}.gz`), packed)
  page = page.replace(name.replace(/-\w+(?=\.)/, ''), name)
}
fs.writeFileSync(join(TARGET, 'index.html'), page)
