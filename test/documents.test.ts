import test from 'ava'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { projectFolder } from '../src/project.ts'

// Links in documents lead somewhere, and code names documents that exist.

const PROJECT = projectFolder()

/** Paths of the files below the folders whose names match. */
function files(ending: RegExp, ...folders: string[]): string[] {
  const isOurs = (path: string) => ending.test(path) && !/(^|\/)(node_modules|build)\//.test(path)
  return folders.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: folder !== '', encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => isOurs(path) && statSync(join(PROJECT, path)).isFile()),
  )
}

/** The text of a document without its code. */
function proseOf(path: string): string {
  const text = readFileSync(join(PROJECT, path), 'utf8')
  return text.replace(/^ *```.*?^ *```$/gms, '').replace(/`[^`\n]+`/g, (code) => 'x'.repeat(code.length))
}

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(path: string): Set<string> {
  const text = readFileSync(join(PROJECT, path), 'utf8').replace(/^ *```.*?^ *```$/gms, '')
  const anchors = new Set<string>()
  for (const [, heading] of text.matchAll(/^#+ (.+)$/gm)) {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = plain.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-')
    let anchor = slug
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`
    anchors.add(anchor)
  }
  return anchors
}

test('every relative link in a document leads to a file, and to a heading of it', (t) => {
  const documents = files(/\.md$/, '', 'docs', 'clients')
  const broken: string[] = []
  let links = 0
  for (const document of documents) {
    for (const [, target] of proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue
      links++
      const [file = '', anchor] = target!.split('#')
      const path = file === '' ? document : relative('.', join(dirname(document), file))
      const leads = existsSync(join(PROJECT, path)) && (anchor === undefined || anchorsOf(path).has(anchor))
      if (!leads) broken.push(`${document}: ${target!}`)
    }
  }
  t.true(links > 100, `only ${links} links found`)
  t.deepEqual(broken, [])
})

test('code, settings and documents name documents that exist', (t) => {
  const sources = files(/./, 'src', 'test', 'bench', 'seeds', 'migrations', 'deb', 'pdns', 'docs', 'clients', 'ci')
  const missing: string[] = []
  for (const source of [...sources, 'Dockerfile', 'docker-compose.yml', ...files(/\.md$/, '')]) {
    for (const [path] of readFileSync(join(PROJECT, source), 'utf8').matchAll(/(?<![\w/])docs\/[\w./-]+\.[a-z]+\b/g)) {
      if (!existsSync(join(PROJECT, path))) missing.push(`${source}: ${path}`)
    }
  }
  t.deepEqual(missing, [])
})
