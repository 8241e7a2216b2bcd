import { createChallenge, randomInt, verifySolution, type Challenge, type Solution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { randomBytes } from 'node:crypto'
import { Invalid } from '../../errors.ts'
import { CAPTCHA_KEYS, CAPTCHA_ROUNDS, CAPTCHA_SOLUTION_LENGTH, CAPTCHA_VALIDITY } from '../../limits.ts'
import * as store from '../../store/captchas.ts'
import type { System } from '../../system.ts'
import { isUuid } from '../tokens/ids.ts'

/** A proof of work, which costs a person nothing and a robot as much for each account (contract §11.2). */
export interface Captcha {
  id: string
  /** The JSON of an ALTCHA challenge. */
  challenge: string
  kind: CaptchaKind
}

export const CAPTCHA_KINDS = ['altcha'] as const
export type CaptchaKind = (typeof CAPTCHA_KINDS)[number]

/** What a request says to answer a captcha. */
export interface CaptchaAnswer {
  id: string
  /** An ALTCHA payload, as its widget makes it: JSON in base64. */
  solution: string
}

/**
 * Makes a challenge of ALTCHA's present protocol (PoW v2), which its widget has solved since version 3. Its PBKDF2 with
 * SHA-256 is one call of Web Crypto, or of the standard library of a script. Of plain SHA-256 a browser would compute
 * little, because each hash is a call of its own, and a robot's program a hundred times as much.
 */
export async function createCaptcha(system: System, kind: CaptchaKind = 'altcha'): Promise<Captcha> {
  const now = system.now()
  const key = randomBytes(32).toString('hex')
  const made = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: CAPTCHA_ROUNDS,
    counter: randomInt(CAPTCHA_KEYS.max, CAPTCHA_KEYS.min),
    deriveKey,
    expiresAt: new Date(Date.parse(now) + CAPTCHA_VALIDITY * 1000),
    hmacSignatureSecret: key,
  })
  const challenge = JSON.stringify(made)
  // Those that have expired are kept as long again, so that late answers are told apart from those to no captcha.
  await store.removeOld(system.db, now, 2 * CAPTCHA_VALIDITY)
  return { id: await store.insert(system.db, { challenge, key }, now), challenge, kind }
}

/** Uses a captcha up, right or wrong. @throws Invalid if it was not solved, in time (contract §11.2) */
export async function checkCaptcha(system: System, { id, solution }: CaptchaAnswer): Promise<void> {
  const captcha = isUuid(id) ? await store.take(system.db, id) : undefined
  if (captcha === undefined) throw Invalid.field('captcha', 'CAPTCHA does not exist.')
  const age = Date.parse(system.now()) - Date.parse(captcha.created)
  if (age > CAPTCHA_VALIDITY * 1000 || !(await isSolved(captcha, solution))) {
    throw Invalid.field('captcha', 'CAPTCHA could not be validated. Please obtain a new one and try again.')
  }
}

/** What the payload repeats of the challenge is not looked at: the one that was made is known. */
async function isSolved({ challenge, key }: store.StoredChallenge, payload: string): Promise<boolean> {
  const { verified } = await verifySolution({
    challenge: JSON.parse(challenge) as Challenge,
    // Whatever else it is, it is not verified.
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

/** @throws Invalid if captchas are on, and this one is missing or not solved */
export async function refuseRobots(system: System, answer: CaptchaAnswer | undefined): Promise<void> {
  if (!system.config.captcha) return
  if (answer === undefined) throw Invalid.field('captcha', 'This field is required.')
  await checkCaptcha(system, answer)
}
