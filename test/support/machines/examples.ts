import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'

/** The files of docs/examples, with a network, passwords and keys of their own. */
export class Examples {
  readonly #prefix: string
  /** By the texts that they replace. */
  readonly #secrets = new Map<string, string>()

  /** @param prefix the beginning of all addresses */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** A file, for the first machine of its kind. */
  of(name: string): string {
    return readFileSync(join(projectFolder(), 'docs', 'examples', name), 'utf8')
      .replaceAll('10.0.0.', this.#prefix)
      .replace(/PASSWORD-OF-[A-Z-]+|KEY-OF-ZONEPLANE|\bSECRET\b/g, (what) => this.secret(what))
  }

  /** What replaces a text of the files. */
  secret(what: string): string {
    const secret = this.#secrets.get(what) ?? randomBytes(32).toString(what.startsWith('PASSWORD') ? 'hex' : 'base64')
    this.#secrets.set(what, secret)
    return secret
  }
}

/** The assignments of a file of environment variables. */
export function assignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^([A-Z_0-9]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))
}

/** The file of lb1 as that of lb2. */
export function exchanged(text: string): string {
  const others: Record<string, string> = { '.13': '.14', '.14': '.13', 'priority 100': 'priority 150' }
  const [common, ...nameservers] = text
    .replace(/\.1[34]\b/g, (end) => others[end]!)
    .split(/(?=vrrp_instance ns)/)
    .map((part, i) => (i === 0 ? part : part.replace(/priority 1.0/, (found) => others[found] ?? 'priority 100')))
  return [common, ...nameservers].join('')
}
