import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'

/** Where the built tests are, from the project's folder. */
export const TESTS = 'build/test'

/** Tests with programs of other projects. */
const CLIENTS = /^clients\//
/** Those that are built from modules of Go first, or need large packages, which takes minutes: `npm run test:clients` runs them. */
const BUILT = /^clients\/built\//
/** Tests that have a command of their own, test/images/run.ts. */
const IMAGES = /^images\//
/** Tests that fail on purpose, for test/run.test.ts. */
const FAILING = /^runner\/failing\//
/** Tests of the deep suite alone, of which all but ONLY_DEEP have a short form for CI. */
const DEEP = /^deep\//
const ONLY_DEEP = /^deep\/full\//

/**
 * The parts of the deep suite. Each takes less than half an hour on two cores. CONTRIBUTING.md says after which changes a
 * part must be run.
 */
export const PARTS: Record<string, RegExp> = {
  histories: /^deep\/histor(y|ies)\b/,
  primaries: /^deep\/(primary-histories|full\/(change-over-time|primary-secondaries))\b/,
  'write-path': /^deep\/(postgres-crash|standing-still|killed|bulk-killed|stop|catalog-histories)\b/,
  gateways: /^deep\/full\/(gateways|one-address)\b/,
  failover: /^deep\/(failover|former-primary|lost-changes|full\/rolling-restart)\b/,
  patroni: /^deep\/full\/(patroni|pgbouncer)\b/,
  'no-single-point': /^deep\/full\/no-single-point\b/,
  rollovers: /^deep\/rollovers\b/,
  secondaries: /^deep\/(secondaries|full\/(secondary-contents|two-nameservers|hub|catalog-consumers))\b/,
  served: /^(served\/|deep\/nsec-changes\b)/,
  records: /^(dns\/(portable|properties)|store\/database|nameserver\/spelling)\b/,
  api: /^api\/(history\/(undo|much-activity)|rrsets\/(conditional|occlusion)|domains\/zonefile-replacement|tokens\/policy-races|accounts\/totp-races)\b/,
  requests: /^(deep\/requests|http\/(requests\/described-requests|powerdns-api\/differential))\b/,
  webhooks: /^faults\/webhooks\b/,
  updates: /^update\/(differential|fuzz)\b/,
  limits: /^deep\/(alerts|full\/(unread-answers|unfinished-logins))\b/,
  release: /^deep\/full\/release\b/,
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
  if (suite === 'deep') return Object.values(PARTS).some((part) => part.test(file))
  if (suite === 'clients') return CLIENTS.test(file)
  if (suite === 'ci') return !ONLY_DEEP.test(file) && !BUILT.test(file)
  return !CLIENTS.test(file) && !DEEP.test(file)
}

/** Whether a name means this file: a part of the deep suite, or a piece of its path, built or not. */
function matches(file: string, name: string): boolean {
  const part = PARTS[name]
  if (part !== undefined) return part.test(file)
  return `${TESTS}/${file}`.includes(name.replace(/^(?=test\/)/, 'build/').replace(/\.ts$/, '.js'))
}

/** What takes longest begins first, so that no single file is left at the end. */
const SLOW = [
  ...[/^clients\//, /^deep\//, /^(packages|setup|run|dev|console\/(states|tokens)|http\/access\/(matrix|floods))\b/],
  ...[/^faults\//, /^served\//],
]

/** Otherwise by the last part of the path: so those of a folder, such as all with a browser, do not run at the same time. */
function bySlowness(a: string, b: string): number {
  const [one, other] = [a, b].map((file) => `${SLOW.some((each) => each.test(file)) ? 0 : 1} ${basename(file)} ${file}`)
  return one! < other! ? -1 : 1
}
