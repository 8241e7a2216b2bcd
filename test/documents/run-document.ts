import { newFolder } from '../support/servers/folders.ts'
import { type Block, blocksOf } from './blocks.ts'
import { Shell } from './shell.ts'

/** Blocks that no test runs: they install, or start the service. */
const SKIPPED = /^(\w+=\S+ )*(docker|npm|node_modules\/\.bin\/zoneplane) /

/** What a reader copies from the output before, for lines such as `ID=…`. */
const COPIED: Record<string, RegExp> = {
  // The oldest entry, whose restoration changes most.
  AT: /.*"created":"([^"]*)"/s,
  ETAG: /^ETag: (\S+)/m,
  ID: /"id":"([^"]*)"/,
  LOGIN: /"token":"([^"]*)"/,
}

interface Reader {
  /** The document's name. */
  name: string
  /** Values for lines such as `TOKEN=…`. */
  values: Record<string, string>
  /** Texts of the document and their replacements in the test, such as ports. */
  changes: Record<string, string>
}

type Tell = (line: number, problem: string) => void

/**
 * Runs the commands of a document in order, as a reader would. The block of an answer shows the output of the block of
 * commands before it, or some lines of that.
 * @returns the problems, each with the document and the line
 */
export async function runDocument(text: string, { name, values, changes }: Reader): Promise<string[]> {
  const shell = new Shell(newFolder())
  const problems: string[] = []
  const tell: Tell = (line, problem) => {
    problems.push(`${name}:${line}: ${problem}`)
  }
  let commands: Block | undefined
  let outputs: string[] = []
  for (const block of blocksOf(changed(text, changes))) {
    if (block.kind === 'commands') {
      commands = block
      if (!SKIPPED.test(block.text)) outputs = await runBlock(shell, block, values, outputs.at(-1) ?? '', tell)
    } else if (block.kind === 'answer') {
      if (commands === undefined) tell(block.line, 'an answer to no command')
      else if (!SKIPPED.test(commands.text)) compare(block, outputs.join('\n'), tell)
      commands = undefined
    }
  }
  await shell.end()
  return problems
}

/** Runs the commands of a block, and returns what they print. @param last what the command before has printed */
async function runBlock(shell: Shell, block: Block, values: Record<string, string>, last: string, tell: Tell) {
  const outputs: string[] = []
  for (const { line, command } of commandsOf(block)) {
    if (isExpanded(command)) tell(line, `zsh expands ?, * and [: ${command}`)
    const { code, output } = await shell.run(filled(command, values, outputs.at(-1) ?? last))
    if (code !== 0) tell(line, `exit code ${code}: ${command}\n${output}`)
    if (output !== '') outputs.push(output)
  }
  return outputs
}

function compare(answer: Block, output: string, tell: Tell): void {
  for (const line of missing(answer.text, output)) tell(answer.line, `not in the output: ${line}\n${output}`)
}

/** Whether zsh, which refuses patterns without a match, would take the command for one. */
function isExpanded(command: string): boolean {
  return /[?*[]/.test(command.replace(/'[^']*'|"(\\.|[^"\\])*"/g, ''))
}

/** The commands of a block with their lines. A command goes on after a line that ends with a backslash. */
function commandsOf({ line, text }: Block): { line: number; command: string }[] {
  const commands: { line: number; command: string }[] = []
  let begin = line
  for (const command of text.trimEnd().split(/(?<!\\)\n/)) {
    if (command !== '') commands.push({ line: begin, command })
    begin += command.split('\n').length
  }
  return commands
}

function changed(text: string, changes: Record<string, string>): string {
  return Object.entries(changes).reduce((changed, [theirs, ours]) => changed.replaceAll(theirs, ours), text)
}

/** Fills in the value of a line such as `ID=…`. */
function filled(command: string, values: Record<string, string>, output: string): string {
  const [, name] = /^(\w+)=…$/.exec(command) ?? []
  if (name === undefined) return command
  const value = values[name] ?? COPIED[name]?.exec(output)?.[1]
  return value === undefined ? command : `${name}='${value}'`
}

/** The shown lines that are no line of the output. An indented line goes on where the line before ends. */
function missing(shown: string, output: string): string[] {
  const lines = output.split(/\r?\n/).map((line) => line.trim())
  const isThere = (line: string) => lines.some((one) => patternOf(line).test(one))
  return shown
    .trimEnd()
    .replace(/\n +/g, '')
    .split('\n')
    .filter((line) => !isThere(line))
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`

/** The lines that a shown line stands for: those with other times and versions, and any text in place of `…`. */
function patternOf(line: string): RegExp {
  const parts = line.split(/(…|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{10,}\b|\s+)/)
  const patterns = parts.map((part, i) => {
    if (i % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    if (part === '…') return '.*'
    if (part.includes('T')) return TIME
    return part.trim() === '' ? '\\s+' : '\\d{10,}'
  })
  return new RegExp(`^${patterns.join('')}$`)
}
