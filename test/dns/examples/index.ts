import * as addresses from './addresses.ts'
import * as csync from './csync.ts'
import * as dnssec from './dnssec.ts'
import type { Examples } from './examples.ts'
import * as fingerprints from './fingerprints.ts'
import * as loc from './loc.ts'
import * as names from './names.ts'
import * as svcb from './svcb.ts'
import * as text from './text.ts'

/** The examples of each type, by its mnemonic. */
export const EXAMPLES: ReadonlyMap<string, Examples> = new Map(
  Object.entries({ ...addresses, ...csync, ...dnssec, ...fingerprints, ...loc, ...names, ...svcb, ...text }),
)
