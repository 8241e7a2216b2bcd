import { type Challenge, createChallenge, randomInt, type Solution, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { randomBytes } from 'node:crypto'
import { Invalid } from '../../errors.ts'
import { CAPTCHA_SOLUTION_LENGTH, CAPTCHA_VALIDITY } from '../../limits.ts'
import * as store from '../../store/accounts/captchas.ts'
import type { System } from '../../system.ts'
import { isUuid } from '../ids.ts'

/**
 * The work of a captcha: the counter of the only key that solves it, and the rounds of PBKDF2 for each key. Any counter
 * may be right, so that robots cannot skip some. On average 2 million rounds: one and a half seconds on a phone, at a
 * quarter of the 5.4 million rounds per second of a server's core; at most twice as much.
 */
const CAPTCHA_KEYS = 800
const CAPTCHA_ROUNDS = 5_000

/** A proof of work: it takes the user's browser a moment, and a robot as long for every account (contract §11.2). */
export interface Captcha {
  id: string
  /** The JSON of an ALTCHA challenge. */
  challenge: string
  kind: CaptchaKind
}

export const CAPTCHA_KINDS = ['altcha'] as const
export type CaptchaKind = (typeof CAPTCHA_KINDS)[number]

/** A request's solution of a captcha. */
export interface CaptchaAnswer {
  id: string
  /** The payload of ALTCHA's widget: JSON in base64. */
  solution: string
}

/**
 * Creates a challenge of ALTCHA's protocol PoW v2, which its widget supports since version 3. PBKDF2 with SHA-256 takes
 * one call of Web Crypto or of a script's standard library. Plain SHA-256 takes a browser one such call per hash, so a
 * robot's program would be a hundred times faster.
 */
export async function createCaptcha(system: System, kind: CaptchaKind = 'altcha'): Promise<Captcha> {
  const now = system.now()
  const key = randomBytes(32).toString('hex')
  const created = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: CAPTCHA_ROUNDS,
    counter: randomInt(CAPTCHA_KEYS - 1),
    deriveKey,
    expiresAt: new Date(Date.parse(now) + CAPTCHA_VALIDITY * 1000),
    hmacSignatureSecret: key,
  })
  const challenge = JSON.stringify(created)
  // Expired captchas are kept for another period, because a late solution and an unknown id have different errors.
  await store.removeOld(system.db, now, 2 * CAPTCHA_VALIDITY)
  return { id: await store.insert(system.db, { challenge, key }, now), challenge, kind }
}

/** Uses up a captcha, solved or not. @throws Invalid unless it was solved in time (contract §11.2) */
export async function checkCaptcha(system: System, { id, solution }: CaptchaAnswer): Promise<void> {
  const captcha = isUuid(id) ? await store.take(system.db, id) : undefined
  if (captcha === undefined) throw Invalid.field('captcha', 'CAPTCHA does not exist.')
  const age = Date.parse(system.now()) - Date.parse(captcha.created)
  if (age > CAPTCHA_VALIDITY * 1000 || !(await isSolved(captcha, solution))) {
    throw Invalid.field('captcha', 'CAPTCHA could not be validated. Please obtain a new one and try again.')
  }
}

/** Reports whether the payload solves the challenge. The stored challenge counts, not the payload's copy. */
async function isSolved({ challenge, key }: store.StoredChallenge, payload: string): Promise<boolean> {
  const { verified } = await verifySolution({
    challenge: JSON.parse(challenge) as Challenge,
    // Any other value fails the verification.
    solution: solutionIn(payload) as Solution,
    deriveKey,
    hmacSignatureSecret: key,
  })
  return verified
}

function solutionIn(payload: string): unknown {
  if (payload.length > CAPTCHA_SOLUTION_LENGTH) return undefined
  try {
    return (JSON.parse(Buffer.from(payload, 'base64').toString()) as { solution?: unknown } | null)?.solution
  } catch {
    return undefined
  }
}

/** @throws Invalid if captchas are on and this one is missing or not solved */
export async function refuseUnsolvedCaptcha(system: System, answer: CaptchaAnswer | undefined): Promise<void> {
  if (!system.config.captcha) return
  if (answer === undefined) throw Invalid.field('captcha', 'This field is required.')
  await checkCaptcha(system, answer)
}
