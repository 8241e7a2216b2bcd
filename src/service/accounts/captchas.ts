import { renderAsync } from '@resvg/resvg-js'
import { randomInt } from 'node:crypto'
import svgCaptcha from 'svg-captcha'
import { Invalid } from '../../errors.ts'
import { CAPTCHA_LENGTH, CAPTCHA_VALIDITY } from '../../limits.ts'
import * as store from '../../store/captchas.ts'
import type { System } from '../../system.ts'
import { isUuid } from '../tokens/ids.ts'

/** A question that a person can answer better than a program (contract §11.2). */
export interface Captcha {
  id: string
  /** A PNG in base64. */
  challenge: string
  kind: CaptchaKind
}

/** Of the contract's kinds, the one that there is. */
export const CAPTCHA_KINDS = ['image'] as const
export type CaptchaKind = (typeof CAPTCHA_KINDS)[number]

/** What a request says to answer a captcha. */
export interface CaptchaAnswer {
  id: string
  solution: string
}

/** Without the characters that people take for one another. */
const SYMBOLS = 'ACDEFHJKLMNPRSTUXYZ2345679'

/** Its types leave out that the module itself is a function: an SVG of a text drawn as paths, over lines. */
const draw = svgCaptcha as unknown as (text: string, options: Parameters<typeof svgCaptcha.create>[0]) => string

const LOOK = { width: 300, height: 100, fontSize: 80, noise: 6 }

export async function createCaptcha(system: System, kind: CaptchaKind = 'image'): Promise<Captcha> {
  const text = Array.from({ length: CAPTCHA_LENGTH }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join('')
  const image = await renderAsync(draw(text, LOOK), { background: 'white', font: { loadSystemFonts: false } })
  const now = system.now()
  // Those that have expired are kept as long again, so that who was late learns that he was.
  await store.removeOld(system.db, now, 2 * CAPTCHA_VALIDITY)
  return { id: await store.insert(system.db, text, now), challenge: image.asPng().toString('base64'), kind }
}

/** Uses a captcha up, right or wrong. @throws Invalid if it was not solved, in time (contract §11.2) */
export async function checkCaptcha(system: System, { id, solution }: CaptchaAnswer): Promise<void> {
  const captcha = isUuid(id) ? await store.take(system.db, id) : undefined
  if (captcha === undefined) throw Invalid.field('captcha', 'CAPTCHA does not exist.')
  const age = Date.parse(system.now()) - Date.parse(captcha.created)
  if (age > CAPTCHA_VALIDITY * 1000 || solution.trim().toUpperCase() !== captcha.solution) {
    throw Invalid.field('captcha', 'CAPTCHA could not be validated. Please obtain a new one and try again.')
  }
}

/** @throws Invalid if captchas are on, and this one is missing or not solved */
export async function refuseRobots(system: System, answer: CaptchaAnswer | undefined): Promise<void> {
  if (!system.config.captcha) return
  if (answer === undefined) throw Invalid.field('captcha', 'This field is required.')
  await checkCaptcha(system, answer)
}
