import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'

/** A block of code in a document. */
export interface Block {
  /** The heading above it. */
  heading: string
  /** The number of its first line. */
  line: number
  /** `commands` if it is indented, `answer` if it is fenced without a language, otherwise the language. */
  kind: string
  /** Its text without the indentation. */
  text: string
}

/** Reads one of our documents. @param path in the project's folder */
export function readDocument(path: string): string {
  return readFileSync(join(projectFolder(), path), 'utf8')
}

/** Returns the blocks of code in a document, in order. */
export function blocksOf(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  let heading = ''
  for (let i = 0; i < lines.length; i++) {
    heading = /^#+ (.*)/.exec(lines[i]!)?.[1] ?? heading
    const [, language] = /^```(\w*)$/.exec(lines[i]!) ?? []
    const isIndented = lines[i]!.startsWith('    ')
    if (language === undefined && !isIndented) continue
    const begin = isIndented ? i : i + 1
    const length = lines.slice(begin).findIndex((line) => (isIndented ? !/^( {4}|$)/.test(line) : line === '```'))
    i = begin + length
    const code = lines.slice(begin, i).map((line) => (isIndented ? line.slice(4) : line))
    const kind = isIndented ? 'commands' : language || 'answer'
    blocks.push({ heading, line: begin + 1, kind, text: `${code.join('\n').trimEnd()}\n` })
    // The line that ended an indented block can begin another one.
    if (isIndented) i--
  }
  return blocks
}
