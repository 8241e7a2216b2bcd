import type { components } from '../../build/api-types.d.ts'
import { api, ask, Refused } from './client.ts'

export type Passkey = components['schemas']['Passkey']
type Signed = components['schemas']['SignedChallenge']

const CANCELLED = 'No passkey was used: this was cancelled, or took too long. Try again, or go another way.'
const PRESENT = 'This device already has a passkey of your account.'
const TOO_OLD = 'This browser cannot use passkeys here. Use a current one, or go another way.'

/** Makes a passkey and sends it. Returns whether the link in a mail has to confirm it. @throws Refused */
export async function addPasskey(name: string): Promise<boolean> {
  const options = await ask(api.POST('/api/v1/auth/passkeys/options/'))
  const passkey = await answerOf<components['schemas']['NewCredential']>((parser) =>
    navigator.credentials.create({ publicKey: parser.parseCreationOptionsFromJSON(options) }),
  )
  return 'detail' in (await ask(api.POST('/api/v1/auth/passkeys/', { body: { name, passkey } })))
}

/** Has a passkey sign a challenge. @param who must sign: the account of the session; or whoever wants to sign in @throws Refused */
export async function signed(who: 'token' | 'login'): Promise<Signed> {
  const options = await ask(api.POST(`/api/v1/auth/${who}/passkey/options/`))
  return answerOf((parser) =>
    navigator.credentials.get({ publicKey: parser.parseRequestOptionsFromJSON(options as never) }),
  )
}

/** The answer of an authenticator, as the service reads it. @throws Refused, which says what to do */
async function answerOf<T>(ceremony: (parser: typeof PublicKeyCredential) => Promise<Credential | null>): Promise<T> {
  // Old browsers have no such parser, and pages without TLS no passkeys.
  const parser = window.PublicKeyCredential as typeof PublicKeyCredential | undefined
  if (parser === undefined || !('parseRequestOptionsFromJSON' in parser)) throw new Refused(0, { detail: TOO_OLD })
  try {
    return ((await ceremony(parser)) as PublicKeyCredential).toJSON() as T
  } catch (reason) {
    const { name, message } = reason as DOMException
    const texts: Record<string, string> = { NotAllowedError: CANCELLED, InvalidStateError: PRESENT }
    throw new Refused(0, { detail: texts[name] ?? message })
  }
}
