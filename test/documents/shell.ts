import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandFor } from '../../src/private-servers/account.ts'

const MARK = 'zoneplane-test-mark'

/** A shell that keeps its variables and functions from one command to the next, as a reader's does. */
export class Shell {
  readonly #child
  readonly #ended
  #output = ''

  /** @param folder the working directory and the home of the shell */
  constructor(folder: string) {
    // Errors of HTTP are errors of the command.
    writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nfail-with-body\n')
    const { file, args } = commandFor('bash', ['--norc'], { account: undefined, deathSignal: 'SIGKILL' })
    const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C.UTF-8' }
    this.#child = spawn(file, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    this.#child.stdin.write('exec 2>&1\n')
    this.#ended = once(this.#child, 'close')
  }

  /** Runs a command. Resolves to its exit code, and what it has printed, without blanks around that. */
  async run(command: string): Promise<{ code: number; output: string }> {
    this.#output = ''
    // With eval, a mistake in the syntax ends the command, and not the shell.
    this.#child.stdin.write(`eval '${command.replaceAll("'", "'\\''")}'\nprintf '\\n%s %s\\n' ${MARK} $?\n`)
    for (;;) {
      const [ended, code] = new RegExp(`\\n${MARK} (\\d+)\\n`).exec(this.#output) ?? []
      if (ended !== undefined) return { code: Number(code), output: this.#output.replace(ended, '').trim() }
      if (this.#child.exitCode !== null) throw new Error(`the command has ended the shell: ${command}`)
      await Promise.race([once(this.#child.stdout, 'data'), this.#ended])
    }
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
  }
}
