import test from 'ava'
import { readConfig } from '../../src/config.ts'
import { Throttled } from '../../src/errors.ts'
import type { Scope } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'
import { closeSystem, createSystem } from '../../src/server.ts'
import type { Actor } from '../../src/service/tokens/actor.ts'
import { admit, comparePassword } from '../../src/service/throttling/throttling.ts'
import type { System } from '../../src/system.ts'

// Contract §14: rates, keys, and what a caller is told, by a clock that the test moves.

const START = Date.parse('2026-03-01T12:00:00Z')
const DAY = 86_400

interface Clock {
  /** Milliseconds since the start. */
  at: number
}

/** A system that counts in memory, and its clock; nothing behind it is asked for. */
async function withSystem(
  environment: Record<string, string>,
  work: (system: System, clock: Clock) => Promise<void>,
): Promise<void> {
  const nowhere = { databaseUrl: 'postgres://127.0.0.1:1/x', pdnsApiUrl: 'http://127.0.0.1:1', pdnsApiKey: 'x' }
  const clock = { at: 0 }
  const system = createSystem(readConfig(environment), nowhere, createLog('error'))
  system.now = () => new Date(START + clock.at).toISOString().replace('Z', '000Z')
  try {
    await work(system, clock)
  } finally {
    await closeSystem(system)
  }
}

function account(accountId: string, dailyRate: number | null = null): Actor {
  return {
    ...{ tokenId: 'token', accountId, dailyRate, override: false, mfa: null, mfaPending: false, autoPolicy: false },
    ...{ permCreateDomain: false, permDeleteDomain: false, permManageTokens: false, restricted: false },
  }
}

/** The table of the contract: requests, and seconds. */
const RATES: [Scope, [number, number][]][] = [
  ['account_management_active', [[3, 60]]],
  ['account_management_passive', [[500, 60], [6000, 3600]]],
  ['dyndns', [[20, 120]]],
  ['dns_api_cheap', [[100, 1], [500, 60]]],
  ['dns_api_expensive', [[100, 1], [3000, 60], [10000, 3600]]],
  ['dns_api_per_domain_expensive', [[20, 1], [150, 60], [1000, 3600], [3000, DAY]]],
  ['user', [[20000, DAY]]],
  ['login_failure', [[10, 60], [100, 3600]]],
] // prettier-ignore

for (const [scope, rates] of RATES) {
  for (const [requests, seconds] of rates) {
    test.serial(`${scope}: ${requests} requests in any ${seconds} s, and not one more`, async (t) => {
      await withSystem({}, async (system, clock) => {
        const who = account('a')
        const request = () => admit(system, scope, who)
        // As fast as this rate allows, which is slower than the shorter ones do.
        const pause = Math.max(Math.floor((seconds * 1000 * 0.9) / requests), 1)
        for (let i = 0; i < requests; i++) {
          clock.at = i * pause
          t.is((await request())!.retryAfter, undefined)
        }
        const last = clock.at
        const wait = Math.ceil((seconds * 1000 - last) / 1000)
        t.like(await request(), {
          retryAfter: wait,
          headroom: { scope, quota: requests, window: seconds, remaining: 0 },
        })
        clock.at = seconds * 1000 - 1
        t.is((await request())!.retryAfter, 1)
        // The first one leaves the window, and what was rejected never entered it; the next leaves after a pause.
        clock.at = seconds * 1000
        t.is((await request())!.retryAfter, undefined)
        t.is((await request())!.retryAfter, Math.ceil(pause / 1000))
        clock.at = seconds * 1000 + pause
        t.is((await request())!.retryAfter, undefined)
      })
    })
  }
}

test.serial('of all windows the one with the fewest requests left is told, of equal ones the longer', async (t) => {
  const rates = 'dns_api_cheap=4/10s,6/min; user=8/d'
  await withSystem({ THROTTLE_RATES: rates }, async (system, clock) => {
    const told = []
    for (const at of [0, 2_500, 10_000, 11_000, 12_500, 20_000, 60_000, 62_500, 71_000]) {
      clock.at = at
      const { retryAfter, headroom } = (await admit(system, 'dns_api_cheap', account('a')))!
      const { scope, quota, window, remaining, seconds } = headroom
      told.push([at, retryAfter, scope, quota, window, remaining, seconds])
    }
    t.deepEqual(told, [
      [0, undefined, 'dns_api_cheap', 4, 10, 3, 10],
      [2_500, undefined, 'dns_api_cheap', 4, 10, 2, 8],
      // The first one has left the short window.
      [10_000, undefined, 'dns_api_cheap', 4, 10, 2, 3],
      [11_000, undefined, 'dns_api_cheap', 4, 10, 1, 2],
      // So has the second one: one is left in either window.
      [12_500, undefined, 'dns_api_cheap', 6, 60, 1, 48],
      [20_000, undefined, 'dns_api_cheap', 6, 60, 0, 40],
      [60_000, undefined, 'dns_api_cheap', 6, 60, 0, 3],
      [62_500, undefined, 'user', 8, DAY, 0, DAY - 62],
      // The rate per day blocks for longer than the rate per minute would.
      [71_000, DAY - 71, 'user', 8, DAY, 0, DAY - 71],
    ])
  })
})

test.serial('every blocking rate must allow the request before it is worth asking again', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dns_api_cheap=1/s,2/min; user=2/h' }, async (system, clock) => {
    const request = async () => (await admit(system, 'dns_api_cheap', account('a')))!.retryAfter
    t.is(await request(), undefined)
    clock.at = 400
    t.is(await request(), 1)
    clock.at = 1_000
    t.is(await request(), undefined)
    clock.at = 1_500
    t.is(await request(), 3599)
  })
})

test.serial('a request that one scope rejects is counted in no other', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dns_api_cheap=1/min; user=3/d' }, async (system, clock) => {
    const request = async (scope: Scope) => (await admit(system, scope, account('a')))!.retryAfter
    t.is(await request('dns_api_cheap'), undefined)
    for (let i = 0; i < 10; i++) t.is(await request('dns_api_cheap'), 60)
    t.is(await request('user'), undefined)
    t.is(await request('user'), undefined)
    t.is(await request('user'), DAY)
    // Nor is what `user` rejects counted in its own scope: it is in no window a minute after the first.
    clock.at = 60_000
    t.like(await admit(system, 'dns_api_cheap', account('a')), { retryAfter: DAY - 60 })
    t.like(await admit(system, 'dns_api_cheap', account('b')), { retryAfter: undefined })
  })
})

test.serial('scopes, accounts and buckets are counted apart', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dyndns=1/h; dns_api_cheap=1/h' }, async (system) => {
    const request = async (...args: [Scope, Actor | string, string?]) =>
      (await admit(system, ...args))!.retryAfter === undefined
    t.true(await request('dyndns', account('a'), 'x.test'))
    t.false(await request('dyndns', account('a'), 'x.test'))
    t.true(await request('dyndns', account('a'), 'y.test'))
    t.true(await request('dyndns', account('b'), 'x.test'))
    t.true(await request('dns_api_cheap', account('a')))
    t.false(await request('dns_api_cheap', account('a')))
  })
})

for (const [one, other, same] of [
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.1', '::ffff:192.0.2.1', true],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ['2001:db8::1', '2001:db8::ffff:ffff:ffff:ffff', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ['2001:db8:0:ff00::', '2001:db8:0:ff01::', false],
  ['2001:db8::1', '2001:DB8:0:0:8000::', true],
] as const) {
  test.serial(`callers at ${one} and ${other} are counted ${same ? 'together' : 'apart'}`, async (t) => {
    await withSystem({ THROTTLE_RATES: 'account_management_active=1/h' }, async (system) => {
      t.is((await admit(system, 'account_management_active', one))!.retryAfter, undefined)
      t.is((await admit(system, 'account_management_active', other))!.retryAfter, same ? 3600 : undefined)
    })
  })
}

test.serial('an account may have a daily rate of its own, which takes the place of the others', async (t) => {
  await withSystem({ THROTTLE_RATES: 'user=1/s,5/d' }, async (system) => {
    for (let i = 0; i < 7; i++) t.is((await admit(system, 'user', account('a', 7)))!.retryAfter, undefined)
    t.like(await admit(system, 'user', account('a', 7)), { retryAfter: DAY, headroom: { quota: 7, window: DAY } })
    t.like(await admit(system, 'user', account('none', 0)), {
      retryAfter: DAY,
      headroom: { quota: 0, window: DAY, remaining: 0, seconds: DAY },
    })
    // Raised, it counts what there was; lowered as well.
    t.is((await admit(system, 'user', account('a', 8)))!.retryAfter, undefined)
    t.is((await admit(system, 'user', account('a', 3)))!.retryAfter, DAY)
  })
})

test.serial('nothing is counted, and nothing told, when throttling is off', async (t) => {
  await withSystem({ THROTTLE: 'off', THROTTLE_RATES: 'user=1/d; login_failure=1/d' }, async (system) => {
    for (let i = 0; i < 3; i++) t.is(await admit(system, 'user', account('a')), undefined)
    for (let i = 0; i < 3; i++) t.false(await comparePassword(system, '192.0.2.1', async () => false))
  })
})

test.serial('passwords are compared until too many were wrong; right ones are not counted', async (t) => {
  await withSystem({}, async (system, clock) => {
    let compared = 0
    const compare = (right: boolean, address = '192.0.2.1') =>
      comparePassword(system, address, async () => {
        compared++
        return right
      })
    for (let i = 0; i < 30; i++) t.true(await compare(true))
    for (let i = 0; i < 10; i++) t.false(await compare(false))
    compared = 0
    t.is((await t.throwsAsync(compare(true), { instanceOf: Throttled })).wait, 60)
    t.is((await t.throwsAsync(compare(false), { instanceOf: Throttled })).wait, 60)
    t.is(compared, 0)
    t.true(await compare(true, '192.0.2.2'))
    clock.at = 60_000
    t.true(await compare(true))
  })
})

test.serial('of many passwords tried at once, no more are compared than may be wrong', async (t) => {
  await withSystem({}, async (system) => {
    let compared = 0
    const tries = Array.from({ length: 50 }, (_, i) =>
      comparePassword(system, `2001:db8::${i}`, async () => {
        compared++
        await new Promise(setImmediate)
        return false
      }).catch((error: unknown) => error),
    )
    const outcomes = await Promise.all(tries)
    t.is(compared, 10)
    t.is(outcomes.filter((outcome) => outcome instanceof Throttled).length, 40)
  })
})

test.serial('a comparison that fails otherwise is not counted', async (t) => {
  await withSystem({ THROTTLE_RATES: 'login_failure=1/h' }, async (system) => {
    for (let i = 0; i < 3; i++) {
      await t.throwsAsync(
        comparePassword(system, '192.0.2.1', () => Promise.reject(new Error('busy'))),
        {
          message: 'busy',
        },
      )
    }
    t.false(await comparePassword(system, '192.0.2.1', async () => false))
  })
})
