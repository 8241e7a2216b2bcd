import test from 'ava'
import fc from 'fast-check'
import { mock } from 'node:test'
import { Throttled } from '../../src/errors.ts'
import type { Scope } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'
import { createSystem } from '../../src/process/create-system.ts'
import type { Actor } from '../../src/service/actor.ts'
import { comparePassword } from '../../src/service/throttling/guessing.ts'
import { admit } from '../../src/service/throttling/throttling.ts'
import { readConfig } from '../../src/settings/config.ts'
import type { System } from '../../src/system.ts'

// Contract §14, against an adversary: any mix of API tokens, of others' tokens that act for the account, of tokens that
// are made and ended again, of log-ins without second factor, and of strangers, also behind the owner's address. The owner
// reads, ends tokens and writes meanwhile, and logs in, within a minute of the attack's end. The clock is the model's.

test.before(() => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
})

/** Rates of the shapes of the default ones, which a few requests exceed. */
const RATES =
  'public=4/s; login=3/s; account_management_active=2/min; account_management_passive=6/min, 15/h; dyndns=3/2min; ' +
  'dns_api_cheap=4/s, 9/min; dns_api_expensive=4/s, 9/min, 20/h; dns_api_per_domain_expensive=2/s, 5/min, 9/h, 14/d; ' +
  'user=30/d; login_failure=3/min; login_failure_per_account=6/h'

const TOKEN_SCOPES = [
  'user',
  'dyndns',
  'dns_api_cheap',
  'dns_api_expensive',
  'dns_api_per_domain_expensive',
  'account_management_passive',
] as const satisfies Scope[]
const STRANGERS_SCOPES = [
  'user',
  'login',
  'account_management_passive',
  'account_management_active',
] as const satisfies Scope[]
const HOME = '192.0.2.1'
const OWNER = 'owner@example.test'
const DOMAIN = { name: 'owner.test' }

/** Something that the adversary does. */
type Move =
  | { does: 'use'; tokens: string[]; scope: (typeof TOKEN_SCOPES)[number]; requests: number; isMistake: boolean }
  | { does: 'ask'; address: string; scope: (typeof STRANGERS_SCOPES)[number]; requests: number; isMistake: boolean }
  | { does: 'guess'; address: string; email: string; hasCaptcha: boolean; requests: number }
  | { does: 'wait'; seconds: number }

const addresses = fc.constantFrom(HOME, HOME, '198.51.100.7', '2001:db8:9::1')

function movesOf(tokens: fc.Arbitrary<string>): fc.Arbitrary<Move[]> {
  const sent = { requests: fc.integer({ min: 1, max: 60 }), isMistake: fc.boolean() }
  const uses = fc.tuple(
    fc.uniqueArray(tokens, { minLength: 1, maxLength: 8 }),
    fc.constantFrom(...TOKEN_SCOPES),
    fc.record(sent),
  )
  const asks = fc.tuple(addresses, fc.constantFrom(...STRANGERS_SCOPES), fc.record(sent))
  const guesses = fc.tuple(addresses, fc.constantFrom(OWNER, 'other@example.test'), fc.boolean(), sent.requests)
  return fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: uses.map(([many, scope, more]): Move => ({ does: 'use', tokens: many, scope, ...more })),
      },
      { weight: 2, arbitrary: asks.map(([address, scope, more]): Move => ({ does: 'ask', address, scope, ...more })) },
      {
        weight: 2,
        arbitrary: guesses.map(([address, email, hasCaptcha, requests]): Move => ({
          does: 'guess',
          address,
          email,
          hasCaptcha,
          requests,
        })),
      },
      { weight: 1, arbitrary: fc.constantFrom(1, 59, 60, 3600).map((seconds): Move => ({ does: 'wait', seconds })) },
    ),
    { minLength: 1, maxLength: 25 },
  )
}

function tokenOf(tokenId: string, mfa: boolean | null = null): Actor {
  return {
    ...{ tokenId, accountId: 'account', ownerId: 'account', address: HOME, dailyRate: null, autoPolicy: false, mfa },
    ...{ permCreateDomain: false, permDeleteDomain: false, permManageTokens: false, restricted: false },
    ...{ override: tokenId.startsWith('bound'), mfaPending: mfa === false },
    ...{ memberId: null, personId: null, role: null, confined: false, mfaLacking: false, messageRequired: false },
  }
}

async function play(system: System, moves: Move[]): Promise<void> {
  for (const move of moves) {
    if (move.does === 'wait') mock.timers.tick(1000 * move.seconds)
    else if (move.does === 'guess') {
      for (let i = 0; i < move.requests; i++) await guess(system, move, false)
    } else {
      const callers =
        move.does === 'ask' ? [move.address] : move.tokens.map((id) => tokenOf(id, id === 'pending' ? false : null))
      for (const caller of callers) {
        for (let i = 0; i < move.requests; i++) {
          const verdict = (await admit(system, move.scope, caller, domainFor(move.scope)))!
          if (verdict.retryAfter === undefined && move.isMistake) await verdict.takeBack()
        }
      }
    }
  }
}

function domainFor(scope: Scope) {
  return scope === 'dyndns' || scope === 'dns_api_per_domain_expensive' ? DOMAIN : undefined
}

/** Whether a password was accepted; the owner's network is known. */
async function guess(
  system: System,
  { address, email, hasCaptcha }: { address: string; email: string; hasCaptcha: boolean },
  isRight: boolean,
): Promise<boolean> {
  return comparePassword(system, {
    ...{ address, email, isKnownNetwork: address === HOME, compare: () => Promise.resolve(isRight) },
    solve: hasCaptcha ? () => Promise.resolve() : undefined,
  }).catch((error: unknown) => {
    if (error instanceof Throttled) return false
    throw error
  })
}

/** What throttling refuses the owner, who has logged in. */
async function refusedToOwner(system: System): Promise<string[]> {
  const refused = []
  for (const [what, scope] of [
    ['list tokens', 'account_management_passive'],
    ['end a token', 'account_management_passive'],
    ['list domains', 'dns_api_cheap'],
    ['write', 'dns_api_per_domain_expensive'],
    ['delete a domain', 'dns_api_expensive'],
  ] as const) {
    const { retryAfter } = (await admit(system, scope, tokenOf('session', true), domainFor(scope)))!
    if (retryAfter !== undefined) refused.push(what)
  }
  return refused
}

async function withSystem(THROTTLE_RATES: string, work: (system: System) => Promise<void>): Promise<void> {
  const backends = { databaseUrl: 'postgres://127.0.0.1:1/none', pdnsApiUrl: 'http://127.0.0.1:1', pdnsApiKey: 'x' }
  await using system = createSystem(readConfig({ THROTTLE_RATES }), backends, createLog('error'))
  await work(system)
}

const anyToken = fc.oneof(
  fc.constantFrom('one', 'two', 'three', 'bound one', 'bound two', 'pending'),
  fc.integer({ min: 0, max: 20 }).map((i) => `made and ended ${i}`),
)

test('whatever tokens and strangers do, the owner reads, ends tokens and writes meanwhile, and logs in a minute later', async (t) => {
  await fc.assert(
    fc.asyncProperty(movesOf(anyToken), async (moves) => {
      await withSystem(RATES, async (system) => {
        await play(system, moves)
        const refused = await refusedToOwner(system)
        mock.timers.tick(60_000)
        if ((await admit(system, 'login', HOME))!.retryAfter !== undefined) refused.push('ask for a login')
        if (!(await guess(system, { address: HOME, email: OWNER, hasCaptcha: false }, true))) refused.push('log in')
        if (refused.length > 0) throw new Error(`the owner may not ${refused.join(', ')}`)
      })
    }),
    { numRuns: 200 },
  )
  t.pass()
})

test('whatever strangers without captcha do, the owner logs in with one, from anywhere', async (t) => {
  await fc.assert(
    fc.asyncProperty(movesOf(anyToken), addresses, async (moves, address) => {
      await withSystem(RATES, async (system) => {
        await play(system, moves.filter((move) => move.does !== 'guess' || !move.hasCaptcha)) // prettier-ignore
        if (!(await guess(system, { address, email: OWNER, hasCaptcha: true }, true))) throw new Error('refused')
      })
    }),
    { numRuns: 100 },
  )
  t.pass()
})

test('three tokens leave the rates to a fourth', async (t) => {
  await fc.assert(
    fc.asyncProperty(movesOf(fc.constantFrom('one', 'two', 'bound one')), async (moves) => {
      await withSystem(RATES, async (system) => {
        await play(system, moves)
        for (const scope of TOKEN_SCOPES) {
          const { retryAfter } = (await admit(system, scope, tokenOf('fourth'), domainFor(scope)))!
          if (retryAfter !== undefined) throw new Error(`${scope}: ${retryAfter} s`)
        }
      })
    }),
    { numRuns: 100 },
  )
  t.pass()
})

test('mistakes use up nothing for longer than two minutes', async (t) => {
  await fc.assert(
    fc.asyncProperty(movesOf(anyToken), async (moves) => {
      await withSystem(RATES, async (system) => {
        const mistakes = moves.map((move) =>
          move.does === 'use' || move.does === 'ask' ? { ...move, isMistake: true } : move,
        )
        await play(system, mistakes.filter((move) => move.does !== 'use' || move.scope !== 'user')) // prettier-ignore
        mock.timers.tick(120_000)
        for (const scope of TOKEN_SCOPES) {
          for (const token of ['one', 'bound two', 'new']) {
            const { retryAfter } = (await admit(system, scope, tokenOf(token), domainFor(scope)))!
            if (retryAfter !== undefined) throw new Error(`${scope} of ${token}: ${retryAfter} s`)
          }
        }
      })
    }),
    { numRuns: 100 },
  )
  t.pass()
})
