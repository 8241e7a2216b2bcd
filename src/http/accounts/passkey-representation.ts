import * as yup from 'yup'
import type { Passkey } from '../../service/accounts/passkeys.ts'
import type { Assertion, Attestation } from '../../service/passkeys/webauthn.ts'
import { NULL } from '../fields/fields.ts'
import {
  arrayOf,
  BOOLEAN,
  type Component,
  COUNT,
  described,
  type JsonSchema,
  nullable,
  object,
  oneOf,
  STRING,
  TIME,
  UUID,
} from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'
import { name } from './totp-representation.ts'

const NAME_ROW = { write: name, text: 'For people; at most 64 characters, unique in the account.', example: 'laptop' }

/** A passkey (contract §12.1). */
export const PASSKEY = representation<Passkey>()(['Passkey'], {
  id: { read: UUID, text: 'Identifies the passkey.' },
  created: { read: TIME, text: 'The time of its creation.' },
  last_used: { read: nullable(TIME), text: 'The time of its last use. Null: never.' },
  name: NAME_ROW,
  backed_up: {
    read: BOOLEAN,
    text: 'Whether copies exist beyond the device, as the authenticator said at the last use.',
    example: true,
  },
})

const BASE64URL: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]+$' }
const ID = { ...BASE64URL, maxLength: 1364, description: 'The id of the credential.' }
const CLIENT_DATA = { ...BASE64URL, description: 'What the browser says, with the challenge.' }
const SAMPLE_ID = 'mVl9xOqvFJfh7GHVhBVv3w'
const SAMPLE_CLIENT_DATA =
  'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiVWFPSnhVIiwib3JpZ2luIjoiaHR0cHM6Ly9kbnMuZXhhbXBsZS5uZXQifQ'

/** Returns the schema of a `toJSON()` of a credential, of which the service reads these members. */
function answerOf(title: string, response: Record<string, JsonSchema>, required: string[], example: object): Component {
  const parts = { clientDataJSON: CLIENT_DATA, ...response }
  return {
    title,
    type: 'object',
    properties: { id: ID, response: { type: 'object', properties: parts, required: ['clientDataJSON', ...required] } },
    required: ['id', 'response'],
    examples: [{ id: SAMPLE_ID, response: { clientDataJSON: SAMPLE_CLIENT_DATA, ...example } }],
  }
}

const ATTESTATION = answerOf(
  'NewCredential',
  {
    attestationObject: { ...BASE64URL, description: 'What the authenticator says of the credential.' },
    transports: { ...arrayOf(STRING), description: 'How the authenticator can be reached.' },
  },
  ['attestationObject'],
  { attestationObject: 'o2NmbXRkbm9uZQ', transports: ['internal'] },
)

const ASSERTION = answerOf(
  'SignedChallenge',
  {
    authenticatorData: { ...BASE64URL, description: 'What the authenticator says of the signature.' },
    signature: { ...BASE64URL, description: 'The signature of both.' },
    userHandle: { type: ['string', 'null'], description: 'The account, as the authenticator knows it.' },
  },
  ['authenticatorData', 'signature'],
  {
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuo',
    signature: 'MEUCIQDk',
    userHandle: 'X2wbLpqNTDu34B0v',
  },
)

/** Members of `PublicKeyCredential.toJSON()`, in base64url. */
type Json = Record<string, unknown>

const isBase64Url = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value)

/** Returns the field of an answer of a passkey. @param read returns undefined if a member is missing or malformed */
function answer<T extends object>(accepted: Component, read: (id: string, response: Json) => T | undefined) {
  return yup
    .mixed((value): value is T => typeof value === 'object' && value !== null && 'clientDataJSON' in value)
    .transform((value: unknown) => {
      if (value === null) return value
      const { id, response } = Object(value) as Json
      return isBase64Url(id) && id.length <= 1364 ? (read(id, Object(response) as Json) ?? false) : false
    })
    .typeError('This is not a response of a passkey.')
    .nonNullable(NULL)
    .meta({ accepted })
}

/** The field of a new credential: `toJSON()` of what `navigator.credentials.create` returns. */
const attestation = answer<Attestation>(ATTESTATION, (id, { clientDataJSON, attestationObject, transports = [] }) => {
  if (!isBase64Url(clientDataJSON) || !isBase64Url(attestationObject)) return undefined
  // Browsers invent more of them.
  const isKnown = (each: unknown): each is string => typeof each === 'string' && /^[a-z-]{1,20}$/.test(each)
  const known = Array.isArray(transports) ? transports.filter(isKnown).slice(0, 10) : []
  return { id, clientDataJSON, attestationObject, transports: known }
})

/** The field of a signature: `toJSON()` of what `navigator.credentials.get` returns. */
export const assertion = answer<Assertion>(
  ASSERTION,
  (id, { clientDataJSON, authenticatorData, signature, userHandle = null }) => {
    const isRead = [clientDataJSON, authenticatorData, signature].every(isBase64Url)
    if (!isRead || (userHandle !== null && typeof userHandle !== 'string')) return undefined
    return { id, clientDataJSON, authenticatorData, signature, userHandle } as Assertion
  },
)

/** A new passkey, and a signature. */
export const NEW_PASSKEY = form('NewPasskey', ['passkey'], {
  passkey: { write: attestation, text: '`toJSON()` of the new credential.' },
  name: NAME_ROW,
})
export const SIGNED = form('PasskeyAnswer', ['passkey'], {
  passkey: { write: assertion, text: '`toJSON()` of the signature.' },
})

const CHALLENGE = described(
  BASE64URL,
  'To be signed, once, within five minutes.',
  'UaOJxU4GTUuT2mGhVhD0vVQxvV0PzP0S8jU2zNfNYyQ',
)
const TIMEOUT = described(COUNT, 'Milliseconds that the user has.', 300000)
const VERIFICATION = described(oneOf('required'), 'The user must be verified.')
const CREDENTIALS = arrayOf(
  object({
    type: oneOf('public-key'),
    id: { ...BASE64URL, examples: [SAMPLE_ID] },
    transports: { ...arrayOf(STRING), examples: [['internal']] },
  }),
)

/** What a browser is asked for a new credential. */
export const CREATION_OPTIONS: Component = {
  title: 'CreationOptions',
  ...object({
    challenge: CHALLENGE,
    rp: object({
      id: { ...STRING, examples: ['dns.example.net'] },
      name: { ...STRING, examples: ['dns.example.net'] },
    }),
    user: object({
      id: described(BASE64URL, 'Random.', 'X2wbLpqNTDu34B0vKjxNXg'),
      name: { ...STRING, examples: ['alice@example.org'] },
      displayName: { ...STRING, examples: ['alice@example.org'] },
    }),
    pubKeyCredParams: arrayOf(object({ type: oneOf('public-key'), alg: { type: 'integer', examples: [-7] } })),
    timeout: TIMEOUT,
    excludeCredentials: described(CREDENTIALS, 'Those that the account has.'),
    authenticatorSelection: object({
      residentKey: oneOf('required'),
      requireResidentKey: BOOLEAN,
      userVerification: VERIFICATION,
    }),
    attestation: oneOf('none'),
  }),
}

/** What a browser is asked for a signature. */
export const REQUEST_OPTIONS: Component = {
  title: 'RequestOptions',
  ...object({
    challenge: CHALLENGE,
    rpId: { ...STRING, examples: ['dns.example.net'] },
    timeout: TIMEOUT,
    allowCredentials: described(CREDENTIALS, 'Those of the account of the token; without one, none: all are possible.'),
    userVerification: VERIFICATION,
  }),
}
