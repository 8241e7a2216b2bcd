import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/project.ts'

/**
 * The code blocks below a heading of one of our documents, without their indentation. Readers copy them, so the tests
 * run them.
 * @param changes texts of the document and their replacements in the test, such as names and ports; each text has to
 *   occur
 */
export function blocks(document: string, heading: string, changes: Record<string, string> = {}): string[] {
  const text = readFileSync(join(projectFolder(), document), 'utf8')
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`${document} has no section "${heading}"`)
  let code = [...section.matchAll(/(?:^ {4}.*\n(?:\n(?= {4}))?)+/gm)].map(([block]) => block.replace(/^ {4}/gm, ''))
  for (const [theirs, ours] of Object.entries(changes)) {
    if (!code.some((block) => block.includes(theirs))) throw new Error(`${document}, ${heading}: no "${theirs}"`)
    code = code.map((block) => block.replaceAll(theirs, ours))
  }
  return code
}
