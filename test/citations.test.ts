import test from 'ava'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../src/installation/project.ts'

// Comments and documents cite sections of docs/design, as in `contract §8.5` or `powerdns.md §1.3`. docs/security.md,
// docs/asvs.md, docs/README.md and docs/design/dns-update.md also name tests.

const PROJECT = projectFolder()

/** The files of each document by its name: its page, and those in a folder of that name. */
const PAGES = new Map<string, string[]>()
for (const path of files(join('docs', 'design'), /\.md$/)) {
  const name = path.split('/')[2]!.replace(/\.md$/, '')
  PAGES.set(name, [...(PAGES.get(name) ?? []), path])
}

/** The section numbers of each document, by its name. */
const NUMBERS = new Map(
  [...PAGES].map(([name, paths]) => {
    const text = paths.map((path) => readFileSync(join(PROJECT, path), 'utf8')).join('\n')
    return [name, [...text.matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number!)]
  }),
)
const SECTIONS = new Map([...NUMBERS].map(([name, numbers]) => [name, new Set(numbers)]))

/** A citation: a document's name, then one section or several, as in `contract §§5.3, 7.1 and 8`. */
const CITATION = /\b([a-z]+)(?:\.md)?`?[ (]+§§?\s*((?:\d+(?:\.\d+)*(?:, | and | to |,§| §)?)+)/g

function files(folder: string, ending: RegExp): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))
}

test('every cited section exists in docs/design', (t) => {
  const sources = ['src', 'test', 'bench', 'migrations', 'seeds'].flatMap((folder) => files(folder, /\.ts$/))
  const prose = [...files('docs', /\.md$/), ...files('pdns', /./), 'README.md', 'CONTRIBUTING.md']
  const missing: string[] = []
  let cited = 0
  for (const file of [...sources, ...prose]) {
    // A line break may separate the name and the number.
    const text = readFileSync(join(PROJECT, file), 'utf8').replace(/\n\s*(?:\*|\/\/)? ?/g, ' ')
    for (const [citation, name, numbers] of text.matchAll(CITATION)) {
      const sections = SECTIONS.get(name!)
      if (sections === undefined) continue
      for (const [number] of numbers!.matchAll(/\d+(?:\.\d+)*/g)) {
        cited++
        if (!sections.has(number)) missing.push(`${file}: ${citation}`)
      }
    }
  }
  t.true(cited > 150, `only ${cited} citations found`)
  t.deepEqual(missing, [])
})

test('a number is that of one section, and a page of the contract has 3,000 words at most', (t) => {
  for (const [name, numbers] of NUMBERS) t.is(new Set(numbers).size, numbers.length, name)
  const sizes = PAGES.get('contract')!.map((path) => [
    path,
    readFileSync(join(PROJECT, path), 'utf8').match(/\S+/g)!.length,
  ])
  t.deepEqual(
    sizes.filter(([, words]) => Number(words) > 3_000),
    [],
  )
})

/** A test's file and titles, as in `test/layers.test.ts`: "a title", "another title"; `…` stands for a variable part. */
const TESTS = /`(test\/[^`]+)`((?:[:,] "[^"]+")*)/g

test('docs/security.md, docs/asvs.md, docs/README.md and docs/design/dns-update.md name tests that exist', (t) => {
  // A line break may separate the words of a title.
  const documents = ['security.md', 'asvs.md', 'README.md', 'design/dns-update.md'].map((name) =>
    readFileSync(join(PROJECT, 'docs', name), 'utf8'),
  )
  const missing: string[] = []
  let named = 0
  for (const [, file, list] of documents.join('\n').replace(/\s+/g, ' ').matchAll(TESTS)) {
    const path = join(PROJECT, file!)
    const source = existsSync(path) ? readFileSync(path, 'utf8') : ''
    if (source === '') missing.push(file!)
    for (const [, title] of list!.matchAll(/"([^"]+)"/g)) {
      named++
      if (!hasTitle(source, title!)) missing.push(`${file!}: ${title!}`)
    }
  }
  t.true(named > 100, `only ${named} titles found`)
  t.deepEqual(missing, [])
})

test('docs/operators/trouble.md and the alerts name messages that the service logs', (t) => {
  const sources = join(PROJECT, 'src')
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const code = files.map((file) => readFileSync(join(sources, file), 'utf8')).join('\n')
  const logged = Array.from(code.matchAll(/log\.(?:info|warn|error)\(\s*'([^']+)'/g), ([, message]) => message!)
  const [, table] = readFileSync(join(PROJECT, 'docs/operators/trouble.md'), 'utf8').split('## Messages in the log')
  const cells = Array.from(table!.matchAll(/^\| (`.*?) +\|/gm), ([, cell]) => cell!)
  const alerts = readFileSync(join(PROJECT, 'docs/monitoring/alerts.yml'), 'utf8').replace(/\s+/g, ' ')
  const named = [
    ...cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, message]) => message!)),
    ...Array.from(alerts.matchAll(/the log (?:for|says) "([^"]+)"/g), ([, message]) => message!),
  ].filter((message) => !/^(reason|rrsets)$/.test(message))
  t.true(named.length > 15, `only ${named.length} messages found`)
  // An ellipsis stands for the rest.
  const unknown = named.filter((one) => !logged.some((message) => message.includes(one.replace(/;? …$/, ''))))
  t.deepEqual(unknown, [])
})

/** Whether a test file has a string that is this title. */
function hasTitle(source: string, title: string): boolean {
  const parts = title.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`(['"\`])${parts.join('\\$\\{.+?\\}')}\\1`).test(source)
}
