import { sign } from 'node:crypto'
import { generate } from 'selfsigned'
import { removeAll } from '../../../src/service/accounts/second-factor.ts'
import { addFirstPasskey, Authenticator, type Lies, optionsOf } from '../../support/clients/authenticator.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { allLettersTo, letterTo } from '../../support/clients/mails.ts'
import { type Person, person, said } from '../../support/clients/people.ts'
import { addToken, setState, type Token } from '../../support/clients/tokens.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §12.1: what is refused of passkeys, with which text, and that nothing comes of it.

const ORIGIN = 'https://dns.example.net'
const service = useService({ PUBLIC_URL: ORIGIN })

const LOGIN = '/auth/login/passkey/'
const SECOND = '/auth/token/passkey/'
const KEYS = '/auth/passkeys/'

const said400 = (text: string) => [400, JSON.stringify({ passkey: [text] })]
const MALFORMED = said400('This is not a response of a passkey.')
const CHALLENGE = said400('This challenge is unknown, used or expired. Please try again.')
const SITE = said400('This passkey is for another site. Please use https://dns.example.net.')
const UNVERIFIED = said400(
  'The passkey did not verify you. Please set up a PIN or a screen lock for it, and try again.',
)
const UNKNOWN = said400('This passkey is unknown here, or was deleted. Please sign in another way.')
const COPIED = said400(
  'This passkey was refused, because it may have been copied. Please sign in another way, delete it, and add a new one.',
)

const flags = { mfa: false, permManageTokens: true }

type Owner = Person & { token: Token; api: Client; authenticator: Authenticator }

/** Somebody with a passkey, whose session has not passed it. */
async function owner(): Promise<Owner> {
  const somebody = await person(service())
  const token = await addToken(service(), somebody.id, flags)
  const authenticator = new Authenticator(ORIGIN)
  await addFirstPasskey(service(), { ...somebody, api: token.api }, authenticator)
  await letterTo(service().system, somebody.email, 2)
  return { ...somebody, token, api: token.api, authenticator }
}

/** What an account has: tokens, passkeys, and mails. */
async function stateOf({ id, email }: Person): Promise<unknown> {
  const rows = await service().sql(
    `select cast(id as text) as row from tokens where owner_id = :id
     union all select concat_ws(' ', mfa, 'login') from tokens where owner_id = :id
     union all select concat_ws(' ', id, name, sign_count, last_used) from passkeys where account_id = :id
     union all select concat_ws(' ', known_networks, credentials_changed) from accounts where id = :id order by 1`,
    { id },
  )
  return { rows, mails: (await allLettersTo(service().system, email)).map(({ subject }) => subject) }
}

/** Ways to use a passkey, each with its own challenge. */
const WAYS = [
  [LOGIN, () => service().anonymous],
  [SECOND, ({ api }: Owner) => api],
] as const

for (const [path, callerOf] of WAYS) {
  const signed = async (somebody: Owner, lies: Lies = {}, { authenticator } = somebody) =>
    authenticator.sign(await optionsOf(callerOf(somebody), path), lies)
  const send = (somebody: Owner, passkey: unknown) => callerOf(somebody).post(path, { passkey })

  for (const [what, lies, expected] of [
    ['of another site', { rpId: 'dns.example.org' }, SITE],
    ['of a parent of the site', { rpId: 'example.net' }, SITE],
    ['of a page of another origin', { origin: 'https://dns.example.org' }, SITE],
    ['of a page without TLS', { origin: 'http://dns.example.net' }, SITE],
    ['of a page at another port', { origin: 'https://dns.example.net:8443' }, SITE],
    ['without user verification', { isVerified: false }, UNVERIFIED],
    ['with an invented challenge', { challenge: Buffer.alloc(32).toString('base64url') }, CHALLENGE],
    ['with an empty challenge', { challenge: '' }, CHALLENGE],
    ['with the answer of a creation', { type: 'webauthn.create' }, UNKNOWN],
    ['with the id of no credential', { id: 'AAAA' }, UNKNOWN],
    ['for another account', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }, UNKNOWN],
  ] as const) {
    test(`${path}: a passkey ${what} is refused`, async (t) => {
      const somebody = await owner()
      const before = await stateOf(somebody)
      t.deepEqual(said(await send(somebody, await signed(somebody, lies))), expected)
      t.deepEqual(await stateOf(somebody), before)
      // The right one is accepted.
      t.is((await send(somebody, await signed(somebody))).status, 200)
    })
  }

  test(`${path}: a counter that goes back is refused, and its owner gets a mail; 0 is none`, async (t) => {
    const somebody = await owner()
    somebody.authenticator.counter = 10
    t.is((await send(somebody, await signed(somebody))).status, 200)
    const before = await stateOf(somebody)
    for (const counter of [11, 10, 0]) {
      t.deepEqual(said(await send(somebody, await signed(somebody, { counter }))), COPIED)
    }
    const after = (await stateOf(somebody)) as { rows: unknown; mails: string[] }
    t.deepEqual(after.rows, (before as typeof after).rows)
    const subject = 'A passkey of your account may have been copied'
    t.deepEqual(after.mails.slice(2), [subject, subject, subject])
    // A wrong signature makes no such mail: nobody but the owner of the key can cause it.
    const forged = await signed(somebody, { counter: 5 })
    forged.response.signature = (await signed(somebody)).response.signature
    t.deepEqual(said(await send(somebody, forged)), UNKNOWN)
    t.is(((await stateOf(somebody)) as typeof after).mails.length, after.mails.length)
    t.is((await send(somebody, await signed(somebody))).status, 200)

    const without = await owner()
    await service().sql('update passkeys set sign_count = 0 where account_id = :id', { id: without.id })
    without.authenticator.counter = 0
    for (let i = 0; i < 2; i++) t.is((await send(without, await signed(without))).status, 200)
  })

  test(`${path}: another key with the same id is refused`, async (t) => {
    const somebody = await owner()
    const thief = new Authenticator(ORIGIN)
    thief.counter = 1000
    const { id } = somebody.authenticator
    const passkey = await signed(somebody, { id, userHandle: null }, { ...somebody, authenticator: thief })
    t.deepEqual(said(await send(somebody, passkey)), UNKNOWN)
  })

  test(`${path}: an answer works once, also of simultaneous ones`, async (t) => {
    const somebody = await owner()
    const passkey = await signed(somebody)
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(somebody, passkey)))
    t.is(answers.filter(({ status }) => status === 200).length, 1)
    for (const answer of answers.filter(({ status }) => status !== 200)) t.deepEqual(said(answer), CHALLENGE)
  })

  test(`${path}: a challenge is valid for five minutes`, async (t) => {
    const somebody = await owner()
    const realNow = service().system.now
    const passkey = await signed(somebody)
    try {
      service().system.now = () => new Date(Date.parse(realNow()) + 301_000).toISOString().replace('Z', '000Z')
      t.deepEqual(said(await send(somebody, passkey)), CHALLENGE)
    } finally {
      service().system.now = realNow
    }
    // So it is gone when the next one is made.
    const challenges = 'select count(*) as n from passkey_challenges where expires < :now'
    await signed(somebody)
    t.deepEqual(await service().sql(challenges, { now: realNow() }), [{ n: 0 }])
  })

  test(`${path}: a deleted passkey is refused, also with an earlier challenge`, async (t) => {
    const somebody = await owner()
    const passkey = await signed(somebody)
    await removeAll(service().system, somebody.email)
    const { token, api } = await again(somebody)
    t.deepEqual(said(await callerOf({ ...somebody, token, api }).post(path, { passkey })), UNKNOWN)
  })

  for (const [passkey, expected] of [
    [undefined, said400('This field is required.')],
    [null, said400('This field may not be null.')],
    ...['x', 1, [], {}, { id: 'AAAA' }, { id: 'AAAA', response: { clientDataJSON: 'AAAA' } }].map(
      (each) => [each, MALFORMED] as const,
    ),
  ] as const) {
    test(`${path}: ${JSON.stringify(passkey)} is no answer`, async (t) => {
      t.deepEqual(said(await send(await owner(), passkey)), expected)
    })
  }

  test(`${path}: octets that are no answer are refused`, async (t) => {
    const somebody = await owner()
    const right = await signed(somebody)
    for (const member of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
      for (const octets of ['A', 'AAAA', Buffer.from('null').toString('base64url')]) {
        const { status } = await send(somebody, { ...right, response: { ...right.response, [member]: octets } })
        t.is(status, 400, `${member} ${octets}`)
      }
    }
    t.is((await send(somebody, right)).status, 200)
  })
}

async function again({ id }: Person): Promise<{ token: Token; api: Client }> {
  const token = await addToken(service(), id, flags)
  return { token, api: token.api }
}

test('a challenge is for the token that asked for it, and for its account', async (t) => {
  const [somebody, other] = [await owner(), await owner()]
  const second = await again(somebody)
  const passkey = somebody.authenticator.sign(await optionsOf(second.api, SECOND))
  t.deepEqual(said(await somebody.api.post(SECOND, { passkey })), CHALLENGE)
  t.deepEqual(said(await service().anonymous.post(LOGIN, { passkey })), CHALLENGE)
  t.deepEqual(said(await other.api.post(SECOND, { passkey })), UNKNOWN)
  t.is((await second.api.post(SECOND, { passkey })).status, 200)
  // One that was made for nobody completes no login.
  const anonymous = somebody.authenticator.sign(await optionsOf(service().anonymous, LOGIN))
  t.deepEqual(said(await somebody.api.post(SECOND, { passkey: anonymous })), CHALLENGE)
  // Nor is the challenge of a creation one to sign, or the other way round.
  const creation = somebody.authenticator.sign({ ...(await optionsOf(second.api, KEYS)), rpId: 'dns.example.net' })
  t.deepEqual(said(await second.api.post(SECOND, { passkey: creation })), CHALLENGE)
  const { challenge } = await optionsOf(second.api, SECOND)
  const options = { ...(await optionsOf(second.api, KEYS)), challenge }
  const made = new Authenticator(ORIGIN).create(options)
  t.deepEqual(said(await second.api.post(KEYS, { name: 'x', passkey: made })), CHALLENGE)
})

test('a passkey of another account is none, also if it names nobody', async (t) => {
  const [somebody, other] = [await owner(), await owner()]
  const passkey = other.authenticator.sign(await optionsOf(somebody.api, SECOND), { userHandle: null })
  t.deepEqual(said(await somebody.api.post(SECOND, { passkey })), UNKNOWN)
})

test('a login by passkey needs to name the account', async (t) => {
  const somebody = await owner()
  const passkey = somebody.authenticator.sign(await optionsOf(service().anonymous, LOGIN), { userHandle: null })
  t.deepEqual(said(await service().anonymous.post(LOGIN, { passkey })), UNKNOWN)
})

test('a passkey of a disabled account signs in no more, which only its owner is told', async (t) => {
  const somebody = await owner()
  await setState(service(), somebody.id, 'disabled')
  const sign = async (lies: Lies = {}) =>
    service().anonymous.post(LOGIN, {
      passkey: somebody.authenticator.sign(await optionsOf(service().anonymous, LOGIN), lies),
    })
  const before = await stateOf(somebody)
  t.deepEqual(said(await sign()), [403, '{"detail":"User inactive."}'])
  t.deepEqual(said(await sign({ isVerified: false })), UNVERIFIED)
  t.deepEqual(await stateOf(somebody), before)
})

for (const [what, lies, expected] of [
  ['of another site', { rpId: 'dns.example.org' }, SITE],
  ['of another origin', { origin: 'https://dns.example.org' }, SITE],
  ['without user verification', { isVerified: false }, UNVERIFIED],
  ['with an invented challenge', { challenge: Buffer.alloc(32).toString('base64url') }, CHALLENGE],
] as const) {
  test(`a new passkey ${what} is refused`, async (t) => {
    const somebody = await person(service())
    const { api } = await addToken(service(), somebody.id, flags)
    const passkey = new Authenticator(ORIGIN).create(await optionsOf(api, KEYS), lies)
    t.deepEqual(said(await api.post(KEYS, { name: 'x', passkey })), expected)
    t.deepEqual(await allLettersTo(service().system, somebody.email), [])
  })
}

test('a new passkey is for the token that asked for it, once', async (t) => {
  const somebody = await person(service())
  const [first, second] = [await addToken(service(), somebody.id, flags), await addToken(service(), somebody.id, flags)]
  const stranger = await addToken(service(), (await person(service())).id, flags)
  const passkey = new Authenticator(ORIGIN).create(await optionsOf(first.api, KEYS))
  for (const { api } of [second, stranger]) t.deepEqual(said(await api.post(KEYS, { passkey })), CHALLENGE)
  t.is((await first.api.post(KEYS, { passkey })).status, 202)
  t.deepEqual(said(await first.api.post(KEYS, { passkey })), CHALLENGE)
})

test('a new passkey whose authenticator says another id than the browser is refused', async (t) => {
  const { api } = await addToken(service(), (await person(service())).id, flags)
  for (const id of ['', 'AAAA', Buffer.alloc(200).toString('base64url')]) {
    const passkey = new Authenticator(ORIGIN).create(await optionsOf(api, KEYS), { id })
    t.deepEqual(said(await api.post(KEYS, { passkey: { ...passkey, id: 'AAAB' } })), UNKNOWN)
  }
})

test('an answer of a creation that cannot be read is refused', async (t) => {
  const { api } = await addToken(service(), (await person(service())).id, flags)
  const right = new Authenticator(ORIGIN).create(await optionsOf(api, KEYS))
  const octets = Buffer.from(right.response.attestationObject, 'base64url')
  const broken = [
    Buffer.alloc(30_000, 0x81),
    Buffer.from('bb7fffffffffffffff', 'hex'),
    Buffer.from('5affffffff00', 'hex'),
  ]
  for (let length = 0; length < octets.length - 1; length += 7) broken.push(octets.subarray(0, length + 1))
  for (const each of broken) {
    const response = { ...right.response, attestationObject: each.toString('base64url') }
    const answer = await api.post(KEYS, { name: 'x', passkey: { ...right, response } })
    t.deepEqual(said(answer), UNKNOWN, each.toString('hex', 0, 50))
  }
  t.is((await api.post(KEYS, { name: 'x', passkey: right })).status, 202)
})

test('an attestation with certificates is refused, even a right one', async (t) => {
  const { api } = await addToken(service(), (await person(service())).id, flags)
  const names = { C: 'DE', O: 'Example', OU: 'Authenticator Attestation', CN: 'Example' }
  const attributes = Object.entries(names).map(([shortName, value]) => ({ shortName, value }))
  const { private: key, cert } = await generate(attributes, {
    ...{ keyType: 'ec', curve: 'P-256', algorithm: 'sha256' },
    extensions: [{ name: 'basicConstraints', cA: false }],
  })
  const certificate = Uint8Array.from(Buffer.from(cert.replace(/-----[^-]*-----|\s/g, ''), 'base64'))
  const attest = (octets: Buffer): [string, Map<string, unknown>] => [
    'packed',
    new Map<string, unknown>([
      ['alg', -7],
      ['sig', Uint8Array.from(sign('sha256', octets, key))],
      ['x5c', [certificate]],
    ]),
  ]
  const passkey = new Authenticator(ORIGIN).create(await optionsOf(api, KEYS), {}, attest)
  t.deepEqual(said(await api.post(KEYS, { passkey })), UNKNOWN)
})

const NO_SITE = [403, '{"detail":"Passkeys cannot be used at this address of the service."}']

test('passkeys are offered at public names with TLS, and at localhost', async (t) => {
  for (const [settings, host, isOffered] of [
    [{}, undefined, false],
    [{}, 'dns.example.net', false],
    [{}, 'localhost:8080', true],
    [{}, 'console.localhost', true],
    [{}, 'localhost.example.net', false],
    [{}, '[::1]:8080', false],
    [{ PUBLIC_URL: 'https://dns.example.net' }, 'localhost', true],
    [{ PUBLIC_URL: 'http://dns.example.net' }, 'localhost', false],
    [{ PUBLIC_URL: 'https://192.0.2.1' }, 'localhost', false],
    [{ PUBLIC_URL: 'http://localhost:8080' }, 'dns.example.net', true],
  ] as const) {
    await withService(settings, async ({ anonymous }) => {
      const options = host === undefined ? {} : { headers: { host } }
      const { json } = await anonymous.get('/service/', options)
      t.is((json as { passkeys: boolean }).passkeys, isOffered, `${JSON.stringify(settings)} ${host}`)
      const asked: Answer = await anonymous.post(`${LOGIN}options/`, {}, options)
      if (isOffered) t.is(asked.status, 200)
      else t.deepEqual(said(asked), NO_SITE)
    })
  }
})

test('where passkeys cannot be used, they can be listed and deleted', async (t) => {
  await withService({}, async (own) => {
    const somebody = await person(own)
    const { api } = await addToken(own, somebody.id, { ...flags, mfa: true })
    t.deepEqual(said(await api.post(`${KEYS}options/`, {})), NO_SITE)
    t.deepEqual(said(await api.post(KEYS, {})), NO_SITE)
    t.deepEqual(said(await api.post(SECOND, {})), NO_SITE)
    t.is((await api.get(KEYS)).status, 200)
    t.is((await api.delete(`${KEYS}00000000-0000-4000-8000-000000000000/`)).status, 204)
  })
})
