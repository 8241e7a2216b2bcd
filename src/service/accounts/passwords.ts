import { hash, parseOptions, verify, type Options } from '@node-rs/argon2'
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { characters } from '../../dns/presentation.ts'
import { Throttled } from '../../errors.ts'
import { HASHES_WAITING, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../limits.ts'

/** What the package makes unless told otherwise. */
const KIND = '$argon2id$'

/** OWASP's first choice of argon2id parameters; RFC 9106 tells what they mean. Kept with each hash. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options

/** Never more than half of the processors hash, so that the rest of the service goes on whoever tries passwords. */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2))

/** What is wrong with a new password (contract §11.1). */
export function passwordProblems(password: string): string[] {
  const length = characters(password)
  if (length < PASSWORD_LENGTH_MIN) {
    return [`This password is too short. It must contain at least ${PASSWORD_LENGTH_MIN} characters.`]
  }
  return length > PASSWORD_LENGTH_MAX ? [`Ensure this field has no more than ${PASSWORD_LENGTH_MAX} characters.`] : []
}

/** What is stored of a password. Computed in a thread of its own. @throws Throttled if too many wait for theirs */
export async function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, PARAMETERS))
}

/**
 * Whether the password is the one that was hashed. Without a hash it is not, but that takes the same time.
 * @throws Throttled if too many wait for theirs
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const compared = passwordHash ?? (await nobodysHash())
  const matches = await inTurn(() => verify(compared, password))
  return matches && passwordHash !== null
}

/** Whether a hash was made with other parameters than those of today. */
export function isOutdated(passwordHash: string): boolean {
  if (!passwordHash.startsWith(KIND)) return true
  const made = parseOptions(passwordHash)
  return Object.entries(PARAMETERS).some(([name, value]) => made[name as keyof typeof PARAMETERS] !== value)
}

let nobody: Promise<string> | undefined

/** The hash of a password that nobody has. */
function nobodysHash(): Promise<string> {
  return (nobody ??= hash(randomBytes(16), PARAMETERS))
}

const limit = pLimit(AT_ONCE)

/** Runs one of few at once, in order. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (limit.pendingCount >= HASHES_WAITING) throw new Throttled(1)
  return limit(work)
}
