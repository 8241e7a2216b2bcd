import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../dev/project.ts'

// Comments and documents cite sections of docs/design, as in `contract §8.5` or `powerdns.md §1.3`.

const PROJECT = projectFolder()
const DESIGN = join(PROJECT, 'docs', 'design')

/** The section numbers of each document, by its name without extension. */
const SECTIONS = new Map(
  readdirSync(DESIGN).map((file) => {
    const text = readFileSync(join(DESIGN, file), 'utf8')
    return [
      file.replace(/\.md$/, ''),
      new Set([...text.matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number!)),
    ]
  }),
)

/** A citation: a document's name, then one section or several, as in `contract §§5.3, 7.1 and 8`. */
const CITATION = /\b([a-z]+)(?:\.md)?`?[ (]+§§?\s*((?:\d+(?:\.\d+)*(?:, | and | to |,§| §)?)+)/g

function files(folder: string, ending: RegExp): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))
}

test('every cited section exists in docs/design', (t) => {
  const sources = ['src', 'dev', 'test', 'bench', 'migrations', 'seeds'].flatMap((folder) => files(folder, /\.ts$/))
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
