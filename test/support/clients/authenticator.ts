import { isoCBOR } from '@simplewebauthn/server/helpers'
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { TestService } from '../harness.ts'
import { succeeded } from './api.ts'
import type { Client } from './client.ts'
import { linkTo, type Person } from './people.ts'

// An authenticator and a browser in one (Web Authentication Level 3), which can also be wrong.

const PRESENT = 1
const VERIFIED = 4
const CAN_BE_COPIED = 8
const COPIED = 16
const HAS_CREDENTIAL = 64

interface Options {
  challenge: string
  rp?: { id: string }
  rpId?: string
  user?: { id: string }
  allowCredentials?: { id: string }[]
}

/** What an answer says other than it should. */
export interface Lies {
  origin?: string
  rpId?: string
  challenge?: string
  isVerified?: boolean
  counter?: number
  userHandle?: string | null
  id?: string
  type?: string
}

/** Makes keys of the algorithms that the service accepts. */
const KEYS = {
  EdDSA: () => generateKeyPairSync('ed25519'),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

function noAttestation(): [string, Map<string, unknown>] {
  return ['none', new Map<string, unknown>()]
}

function hashOf(clientDataJSON: string): Buffer {
  return createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
}

export class Authenticator {
  readonly #origin: string
  readonly #key: KeyObject
  readonly #publicKey: Map<number, number | Uint8Array>
  readonly #hash: string | null
  readonly id = randomBytes(16).toString('base64url')
  isCopied = false
  /** 0: it has no counter. */
  counter = 1
  #userHandle: string | null = null

  constructor(origin: string, algorithm: keyof typeof KEYS = 'ES256') {
    this.#origin = origin
    const { privateKey, publicKey } = KEYS[algorithm]()
    this.#key = privateKey
    this.#hash = algorithm === 'EdDSA' ? null : 'sha256'
    const jwk = publicKey.export({ format: 'jwk' })
    const octets = (member: string) => Uint8Array.from(Buffer.from(String(jwk[member]), 'base64url'))
    this.#publicKey = new Map<number, number | Uint8Array>(
      {
        EdDSA: [[1, 1], [3, -8], [-1, 6], [-2, octets('x')]],
        ES256: [[1, 2], [3, -7], [-1, 1], [-2, octets('x')], [-3, octets('y')]],
        RS256: [[1, 3], [3, -257], [-1, octets('n')], [-2, octets('e')]],
      }[algorithm] as [number, number | Uint8Array][], // prettier-ignore
    )
  }

  /** The answer of a new credential. @param attest makes the format and statement of an attestation of these octets */
  create(
    options: Options,
    lies: Lies = {},
    attest: (octets: Buffer) => [string, Map<string, unknown>] = noAttestation,
  ) {
    this.#userHandle = options.user!.id
    const id = Buffer.from(lies.id ?? this.id, 'base64url')
    const credential = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, id.length]),
      id,
      isoCBOR.encode(this.#publicKey),
    ])
    const authData = Buffer.concat([this.#authenticatorData(options.rp!.id, HAS_CREDENTIAL, lies), credential])
    const clientDataJSON = this.#clientData('webauthn.create', options, lies)
    const [format, statement] = attest(Buffer.concat([authData, hashOf(clientDataJSON)]))
    const object = new Map<string, unknown>([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', Uint8Array.from(authData)],
    ])
    const attestationObject = Buffer.from(isoCBOR.encode(object as never)).toString('base64url')
    return {
      id: lies.id ?? this.id,
      type: 'public-key',
      response: { clientDataJSON, attestationObject, transports: ['usb'] },
    }
  }

  /** The signature of a challenge. */
  sign(options: Options, lies: Lies = {}) {
    if (this.counter > 0) this.counter++
    const authenticatorData = this.#authenticatorData(options.rpId!, 0, lies)
    const clientDataJSON = this.#clientData('webauthn.get', options, lies)
    const signed = Buffer.concat([authenticatorData, hashOf(clientDataJSON)])
    const signature = sign(this.#hash, signed, this.#key).toString('base64url')
    const userHandle = lies.userHandle === undefined ? this.#userHandle : lies.userHandle
    const response = {
      clientDataJSON,
      authenticatorData: authenticatorData.toString('base64url'),
      signature,
      userHandle,
    }
    return { id: lies.id ?? this.id, type: 'public-key', response }
  }

  #authenticatorData(rpId: string, flags: number, lies: Lies): Buffer {
    const verified = lies.isVerified === false ? 0 : VERIFIED
    const copies = this.isCopied ? CAN_BE_COPIED | COPIED : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(lies.counter ?? this.counter)
    const hash = createHash('sha256')
      .update(lies.rpId ?? rpId)
      .digest()
    return Buffer.concat([hash, Buffer.from([PRESENT | verified | copies | flags]), counter])
  }

  #clientData(type: string, options: Options, lies: Lies): string {
    const { challenge = options.challenge, origin = this.#origin } = lies
    return Buffer.from(JSON.stringify({ type: lies.type ?? type, challenge, origin })).toString('base64url')
  }
}

/** The options of a challenge. */
export async function optionsOf(api: Client, path: string): Promise<Options> {
  return succeeded(await api.post(`${path}options/`, {}), 200).json as Options
}

/** Adds the first passkey of a person, who opens the link in the latest of `count` mails. */
export async function addFirstPasskey(
  service: TestService,
  { api, email }: Pick<Person, 'email'> & { api: Client },
  authenticator: Authenticator,
  name = 'key',
  count = 1,
): Promise<void> {
  const passkey = authenticator.create(await optionsOf(api, '/auth/passkeys/'))
  succeeded(await api.post('/auth/passkeys/', { name, passkey }), 202)
  succeeded(await service.anonymous.post((await linkTo(service, email, count)).path), 200)
}
