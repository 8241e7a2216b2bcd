import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ask, Refused } from './client.ts'

/** The solution of a captcha, which the service accepts once (contract §11.2). */
export interface CaptchaAnswer {
  id: string
  solution: string
}

/** The parts of an ALTCHA challenge (PoW v2) that the proof needs; octets are in hex. */
interface Challenge {
  parameters: { nonce: string; salt: string; cost: number; keyLength: number; keyPrefix: string }
}

/** Obtains a captcha, and solves it. @throws Refused, also if the browser cannot */
export async function solveCaptcha(): Promise<CaptchaAnswer> {
  // Browsers offer it only over https and on the own machine, whatever its type says.
  if (!('subtle' in crypto)) {
    const detail = 'Your browser has to prove that you are not a robot. It can do so only over https.'
    throw new Refused(0, { detail })
  }
  const { id, challenge } = await ask(api.POST('/api/v1/captcha/', { body: {} }))
  return { id, solution: await prove(JSON.parse(challenge) as Challenge) }
}

/** Tries counters until the derived key has the prefix in the challenge. The browser derives keys outside the page's thread. */
async function prove(challenge: Challenge): Promise<string> {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters
  for (let counter = 0; ; counter++) {
    const password = octetsOf(nonce + counter.toString(16).padStart(8, '0'))
    const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
    const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt: octetsOf(salt), iterations: cost }
    const derivedKey = hexOf(await crypto.subtle.deriveBits(parameters, key, 8 * keyLength))
    if (derivedKey.startsWith(keyPrefix)) return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }))
  }
}

function octetsOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g)!, (digits) => parseInt(digits, 16))
}

function hexOf(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (octet) => octet.toString(16).padStart(2, '0')).join('')
}

/** The proof of a page's form. */
export interface Proof {
  /** What the form says about it: that it is under way, that it is done, or why it fails. */
  status: string
  /** Sends a request with the solution, once it is there. Whatever is refused has used it up, so another proof begins. */
  send: <T>(request: (captcha: CaptchaAnswer | undefined) => Promise<T>) => Promise<T>
}

/**
 * Solves captchas for a form.
 * @param isNeeded whether the service asks for captchas
 * @param isEarly whether to begin before the form is sent; otherwise for people who have come for something else
 */
export function useProof(isNeeded: boolean, isEarly: boolean): Proof {
  const solving = useRef<Promise<CaptchaAnswer>>(undefined)
  const [status, setStatus] = useState('')
  const start = () => {
    setStatus('Your browser is proving that you are not a robot. This takes a few seconds.')
    const solved = solveCaptcha()
    solved.then(
      () => {
        setStatus('Your browser has proved that you are not a robot.')
      },
      (reason: unknown) => {
        setStatus((reason as Error).message)
      },
    )
    solving.current = solved
    return solved
  }
  useEffect(() => {
    if (isNeeded && isEarly) void start()
  }, [isNeeded])
  return {
    status,
    send: async (request) => {
      if (!isNeeded) return request(undefined)
      const solved = solving.current ?? start()
      solving.current = undefined
      try {
        return await request(await solved)
      } catch (reason) {
        if (isEarly) void start()
        throw reason
      }
    },
  }
}

/**
 * Sends a request that contains a password. After too many wrong ones for the account, the service accepts the right one
 * only with a captcha (contract §14), so the request is sent again with one.
 * @throws Refused
 */
export async function withPassword<T>(send: (captcha: CaptchaAnswer | undefined) => Promise<T>): Promise<T> {
  try {
    return await send(undefined)
  } catch (reason) {
    if (!(reason instanceof Refused) || reason.status !== 429) throw reason
    const { captcha } = await ask(api.GET('/api/v1/service/'))
    if (!captcha) throw reason
    return send(await solveCaptcha())
  }
}
