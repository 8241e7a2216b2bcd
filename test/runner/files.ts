import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../dev/project.ts'

/** Where the built tests are, from the project's folder. */
export const TESTS = 'build/test'

/** Tests with programs of other projects. */
const CLIENTS = /^clients\//
/** Tests that have a command of their own, test/images/run.ts. */
const IMAGES = /^images\//
/** Tests that fail on purpose, for test/run.test.ts. */
const FAILING = /^runner\/failing\//
/** The deep suite, of whose files each has a short form. */
const DEEP = /^deep\//
/** Files of the deep suite without a short form. */
const ONLY_DEEP = /^deep\/full\//

/**
 * The parts of the deep suite. Each takes less than half an hour on two cores. CONTRIBUTING.md says after which changes a
 * part must be run.
 */
export const PARTS: Record<string, RegExp> = {
  histories: /^deep\/(histories|history|killed)\b/,
  'write-path': /^deep\/(bulk-killed|import-killed|stop|catalog-histories|full\/policy-races)\b/,
  failover: /^deep\/(failover|former-primary|lost-changes|full\/(pgbouncer|rolling-restart))\b/,
  patroni: /^deep\/full\/patroni\b/,
  secondaries: /^deep\/(secondaries|full\/(secondary-contents|catalog-consumers|hub|two-nameservers))\b/,
  served: /^deep\/(nsec-changes|full\/served)\b/,
  records: /^deep\/full\/record-properties\b/,
  limits: /^deep\/(requests|alerts|full\/(unread-answers|unfinished-logins))\b/,
}

/** The suites: which files run, and whether they try all that they can. */
export type Suite = 'short' | 'ci' | 'clients' | 'deep'

/** The test files of a suite; with `names` those of all files, or of the deep suite, whose path contains one of them. */
export function filesOf(suite: Suite, names: string[]): string[] {
  const all = readdirSync(join(projectFolder(), TESTS), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .sort(bySlowness)
  return all.filter((file) => isSelected(file, suite, names)).map((file) => `${TESTS}/${file}`)
}

function isSelected(file: string, suite: Suite, names: string[]): boolean {
  if (names.length > 0) return names.some((name) => matches(file, name))
  if (IMAGES.test(file) || FAILING.test(file)) return false
  if (suite === 'deep') return DEEP.test(file)
  if (suite === 'clients') return CLIENTS.test(file)
  if (suite === 'ci') return !ONLY_DEEP.test(file)
  return !CLIENTS.test(file) && !DEEP.test(file)
}

/** Whether a name means this file: a part of the deep suite, or a piece of its path, built or not. */
function matches(file: string, name: string): boolean {
  const part = PARTS[name]
  if (part !== undefined) return part.test(file)
  return `${TESTS}/${file}`.includes(name.replace(/^(?=test\/)/, 'build/').replace(/\.ts$/, '.js'))
}

/** What takes longest begins first, so that no single file is left at the end. */
const SLOW = [/^clients\//, /^deep\//, /^(packages|run|dev)\b/, /^faults\//, /^served\//]

function bySlowness(a: string, b: string): number {
  const [one, other] = [a, b].map((file) => [...SLOW, /./].findIndex((each) => each.test(file)))
  return one! - other! || (a < b ? -1 : 1)
}
