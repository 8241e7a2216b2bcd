import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs dig, or the command that runs it, and returns its output. */
export async function dig(args: string[], command = ['dig']): Promise<string> {
  const [file, ...prefix] = command
  const { stdout } = await promisify(execFile)(file!, [...prefix, '+dnssec', ...args])
  return stdout
}

/** Whether the output of dig has this address of this name, and a signature of it. */
export function isServed(answer: string, name: string, address: string): boolean {
  const lines = answer.split('\n').map((line) => line.split(/\s+/))
  const ofName = lines.filter(([owner]) => owner === `${name}.`)
  return (
    ofName.some((line) => line[3] === 'A' && line[4] === address) &&
    ofName.some((line) => line[3] === 'RRSIG' && line[4] === 'A')
  )
}
