import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { TestService } from '../harness.ts'
import { succeeded } from './api.ts'

/** A captcha as `POST /captcha/` returns it. */
export interface Shown {
  id: string
  challenge: string
  kind: string
}

export async function newCaptcha({ anonymous }: TestService): Promise<Shown> {
  return succeeded(await anonymous.post('/captcha/', {}), 201).json as Shown
}

/** The payload that solves a challenge. */
export async function solution(json: string): Promise<string> {
  const challenge = JSON.parse(json) as Challenge
  return payload({ challenge, solution: await solveChallenge({ challenge, deriveKey }) })
}

/** JSON in base64, as ALTCHA's widget sends it. */
export function payload(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64')
}

/** The `captcha` member of a request, with the solution of a new captcha. */
export async function solved(service: TestService): Promise<{ id: string; solution: string }> {
  const { id, challenge } = await newCaptcha(service)
  return { id, solution: await solution(challenge) }
}
