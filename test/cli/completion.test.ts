import { execFileSync } from 'node:child_process'
import { run } from '../../src/cli/run.ts'
import { findProgram } from '../../src/installation/programs.ts'
import { type Declare, needs } from '../support/needs.ts'

// `zoneplane completion`: the scripts, in the shells that are installed. bash always is.

async function script(shell: string): Promise<string> {
  let printed = ''
  const never = () => Promise.reject(new Error('it needs no system'))
  const writeOut = (text: string) => (printed += text)
  await run(['completion', shell], { version: '1.2.3', start: never, withSystem: never }, { writeOut })
  return printed
}

/** What is typed, and what can follow it, among others. */
const CASES: [line: string[], wanted: string[], unwanted: string[]][] = [
  [['zoneplane', ''], ['account', 'domain', 'completion', '--json'], ['suspend']],
  [['zoneplane', 'dom'], ['domain'], ['account']],
  [
    ['zoneplane', '--json', 'domain', 's'],
    ['show', 'suspend', 'set-denial'],
    ['list', 'start'],
  ],
  [['zoneplane', 'domain', 'list', '--s'], ['--search'], ['--json']],
  [['zoneplane', 'domain', 'set-denial', 'x.example', ''], ['nsec', 'nsec3'], ['show']],
  [['zoneplane', 'completion', ''], ['bash', 'zsh', 'fish'], ['domain']],
]

/** How to ask each shell: what to run after its script, with the words of a line. */
const ASK: Record<string, (line: string[]) => string[]> = {
  bash: (line) => [
    '-c',
    `$1\nCOMP_WORDS=(${line.map(quoted).join(' ')}); COMP_CWORD=${line.length - 1}; _zoneplane; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: (line) => ['-c', `$1\ncomplete -C ${quoted(line.join(' '))}`],
}

/** Declares the tests of a shell, if it is installed. */
function testIn(shell: string): Declare {
  return needs(findProgram(shell) === undefined ? `${shell} is not installed` : undefined)
}

function quoted(text: string): string {
  return `'${text}'`
}

for (const [shell, ask] of Object.entries(ASK)) {
  testIn(shell)(`${shell} completes commands, options and choices`, async (t) => {
    const source = await script(shell)
    for (const [line, wanted, unwanted] of CASES) {
      const [flag, code] = ask(line) as [string, string]
      const offered = execFileSync(shell, [flag, code.replace('$1', () => source)], { encoding: 'utf8' })
      const words = offered.split('\n').map((each) => each.replace(/\t.*/, ''))
      for (const word of wanted) t.true(words.includes(word), `${line.join(' ')}: ${word}`)
      for (const word of unwanted) t.false(words.includes(word), `${line.join(' ')}: ${word}`)
    }
  })
}

testIn('zsh')('zsh reads the script, and offers what can follow', async (t) => {
  const source = `compdef() { : }; _describe() { print -l -- "\${(@P)2}" }; ${await script('zsh')}`
  for (const [line, wanted] of CASES) {
    const asked = `words=(${line.map(quoted).join(' ')}); CURRENT=${line.length}; _zoneplane`
    const offered = execFileSync('zsh', ['-f', '-c', `${source}\n${asked}`], { encoding: 'utf8' })
    const words = offered.split('\n').map((each) => each.replace(/:.*/, ''))
    for (const word of wanted) t.true(words.includes(word), `${line.join(' ')}: ${word}`)
  }
})
