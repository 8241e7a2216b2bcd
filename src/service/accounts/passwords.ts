import { hash, type Options, parseOptions, verify } from '@node-rs/argon2'
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { characters } from '../../dns/presentation.ts'
import { Throttled } from '../../errors.ts'
import { Budget } from '../../flow/budget.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../limits.ts'

/** Passwords of strangers that can wait for hashing: about a second of work. */
export const HASHES_WAITING = 50

/** The package's default algorithm. */
const ALGORITHM = '$argon2id$'

/** OWASP's first recommendation for argon2id (parameters of RFC 9106 §3.1). Each hash contains them. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options

/**
 * The limits of parallel hashes: for strangers half of the processors, so that guessed passwords do not slow down other
 * requests. Clients that have proved something have a place of their own, which accounts take by turns, so that neither
 * strangers' floods nor those of other accounts reach them.
 */
const strangers = pLimit(Math.max(1, Math.floor(availableParallelism() / 2)))
const trusted = new Budget({ each: 1, all: 1 })

/**
 * Whose password is hashed: the account, or its address, of a client which comes from a known network, or has solved a
 * captcha or got a link; undefined: a stranger's.
 */
export type Trusted = string | undefined

/** The hash of a random password, for the comparison if the account does not exist. */
let dummyHash: Promise<string> | undefined

/** Returns the problems of a new password (contract §11.1). */
export function passwordProblems(password: string): string[] {
  const length = characters(password)
  if (length < PASSWORD_LENGTH_MIN) {
    return [`This password is too short. It must contain at least ${PASSWORD_LENGTH_MIN} characters.`]
  }
  return length > PASSWORD_LENGTH_MAX ? [`Ensure this field has no more than ${PASSWORD_LENGTH_MAX} characters.`] : []
}

/** Hashes a password in a separate thread. @throws Throttled if too many hashes of strangers wait; Busy */
export async function hashPassword(password: string, client: Trusted): Promise<string> {
  return limited(client, () => hash(password, PARAMETERS))
}

/**
 * Reports whether the password matches the hash. Without a hash the answer is false, after the same time.
 * @throws Throttled if too many hashes of strangers wait; Busy
 */
export async function verifyPassword(passwordHash: string | null, password: string, client: Trusted): Promise<boolean> {
  const compared = passwordHash ?? (await (dummyHash ??= hash(randomBytes(16), PARAMETERS)))
  const matches = await limited(client, () => verify(compared, password))
  return matches && passwordHash !== null
}

/** Reports whether a hash has other parameters than the current ones. */
export function isOutdated(passwordHash: string): boolean {
  if (!passwordHash.startsWith(ALGORITHM)) return true
  const options = parseOptions(passwordHash)
  return Object.entries(PARAMETERS).some(([name, value]) => options[name as keyof typeof PARAMETERS] !== value)
}

async function limited<T>(client: Trusted, work: () => Promise<T>): Promise<T> {
  if (client !== undefined) return trusted.run(`passwords of ${client}`, undefined, work)
  if (strangers.pendingCount >= HASHES_WAITING) throw new Throttled(1, 'passwords')
  return strangers(work)
}
