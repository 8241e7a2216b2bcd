import test from 'ava'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { projectFolder } from '../src/installation/project.ts'

// Links in documents lead somewhere, code names documents that exist, and lists are lists.

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

const DOCUMENTS = files(/\.md$/, '', 'docs', 'clients')

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

const MARKER = /^ *(\d+\.|[-*]) /

/** Blocks in which items of a list have run together: `…; 3. fills`, `…. - It`, or a line `2. …` below one of text. */
function runTogether(prose: string): string[] {
  return prose.split(/\n\n+/).filter((block) => {
    const lines = block.split('\n').filter((line) => line !== '')
    // Code and tables.
    if (lines.every((line) => /^( {4}| *\|)/.test(line))) return false
    const texts = lines.map((line) => line.replace(MARKER, ''))
    const items = lines.findIndex((line) => /^ *\d+\. /.test(line))
    // Below text, only an item with the number 1 begins a list.
    return /[.;:,]\s+(\(?\d{1,2}[.)]|[-*])\s/.test(texts.join(' ')) || (items > 0 && !/^ *1\. /.test(lines[items]!))
  })
}

test('the items of lists have not run together', (t) => {
  for (const example of [
    '2. refuses it. Services wait for it; 3.\n   fills the database',
    'The restore\n2. fills the database',
    'It needs no privilege. - It writes to `/data` only.',
    'Not available: (1) names, (2) others',
  ]) {
    t.deepEqual(runTogether(example), [example])
  }
  t.deepEqual(runTogether('The restore\n\n1. reads all 4.\n   It is slow;\n2. fills.\n\nIt\n- ends;\n- tells it'), [])
  t.deepEqual(
    DOCUMENTS.flatMap((path) => runTogether(proseOf(path)).map((block) => `${path}: ${block}`)),
    [],
  )
})

test('every relative link in a document leads to a file, and to a heading of it', (t) => {
  const broken: string[] = []
  let links = 0
  for (const document of DOCUMENTS) {
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

test('no document uses npx, which asks the registry for what is not installed, whoever has its name', (t) => {
  t.deepEqual(
    DOCUMENTS.filter((path) => /\bnpx\b/.test(readFileSync(join(PROJECT, path), 'utf8'))),
    [],
  )
})
