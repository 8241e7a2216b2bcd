import { blocksOf, readDocument } from '../../documents/blocks.ts'

/**
 * The indented code blocks below a heading of one of our documents, without their indentation. Readers copy them, so the
 * tests run them.
 * @param changes texts of the document and their replacements in the test, such as names and ports; each text has to
 *   occur
 */
export function blocks(document: string, heading: string, changes: Record<string, string> = {}): string[] {
  let code = blocksOf(readDocument(document))
    .filter((block) => block.heading === heading && block.kind === 'commands')
    .map(({ text }) => text)
  if (code.length === 0) throw new Error(`${document} has no code below "${heading}"`)
  for (const [theirs, ours] of Object.entries(changes)) {
    if (!code.some((block) => block.includes(theirs))) throw new Error(`${document}, ${heading}: no "${theirs}"`)
    code = code.map((block) => block.replaceAll(theirs, ours))
  }
  return code
}
