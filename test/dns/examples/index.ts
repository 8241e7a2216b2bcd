import * as addresses from './addresses.ts'
import * as dnssec from './dnssec.ts'
import type { Examples } from './examples.ts'
import * as names from './names.ts'
import * as text from './text.ts'

/** The examples of each type, by its mnemonic. */
export const EXAMPLES: ReadonlyMap<string, Examples> = new Map(
  Object.entries({ ...addresses, ...dnssec, ...names, ...text }),
)
