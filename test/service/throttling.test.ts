import test from 'ava'
import { mock } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { Throttled } from '../../src/errors.ts'
import { WINDOWS_MAX, type Scope } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'
import { createSystem } from '../../src/process/create-system.ts'
import type { Actor } from '../../src/service/actor.ts'
import { BoundedMemory } from '../../src/service/throttling/counters.ts'
import { admit, comparePassword } from '../../src/service/throttling/throttling.ts'
import type { System } from '../../src/system.ts'
import { createDatabase } from '../support/servers/postgres/databases.ts'
import { statementsOf } from '../support/statements.ts'

// Contract §14: rates, keys, windows, and what is reported to the caller.

const DAY = 86_400

// The clock stands still, and a test moves it. So windows do not end early on a slow machine, and no statement takes longer
// than the time after which requests are counted in memory instead.
test.serial.before(() => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.now() })
})

let database: Awaited<ReturnType<typeof createDatabase>>

test.before('a database', async () => {
  database = await createDatabase()
})

test.after.always('the database is dropped', async () => {
  await database.drop()
})

/** A system with a database and without PowerDNS. */
async function withSystem(environment: Record<string, string>, work: (system: System) => Promise<void>): Promise<void> {
  const backends = { databaseUrl: database.url, pdnsApiUrl: 'http://127.0.0.1:1', pdnsApiKey: 'x' }
  await using system = createSystem(readConfig(environment), backends, createLog('error'))
  await work(system)
}

function account(accountId: string, dailyRate: number | null = null): Actor {
  return {
    ...{
      tokenId: 'token',
      accountId,
      ownerId: accountId,
      address: '192.0.2.1',
      dailyRate,
      override: false,
      mfa: null,
      mfaPending: false,
      autoPolicy: false,
    },
    ...{ permCreateDomain: false, permDeleteDomain: false, permManageTokens: false, restricted: false },
  }
}

/** Compares a password for an account of its own, from a client that is not trusted. */
async function compareFrom(system: System, address: string, compare: () => Promise<boolean>): Promise<boolean> {
  return comparePassword(system, { address, email: `${address}@example.test` }, compare, () => Promise.resolve(false))
}

/** The contract's table: requests per seconds. */
const RATES: [Scope, [number, number][]][] = [
  ['account_management_active', [[3, 60]]],
  ['account_management_passive', [[500, 60], [6000, 3600]]],
  ['dyndns', [[20, 120]]],
  ['dns_api_cheap', [[100, 1], [500, 60]]],
  ['dns_api_expensive', [[100, 1], [3000, 60], [10000, 3600]]],
  ['dns_api_per_domain_expensive', [[20, 1], [150, 60], [1000, 3600], [3000, DAY]]],
  ['user', [[20000, DAY]]],
  ['login_failure', [[10, 60], [100, 3600]]],
  ['login_failure_per_account', [[100, 3600]]],
  ['totp_failure', [[10, 3600]]],
  ['mail', [[3, 3600], [10, DAY]]],
] // prettier-ignore

for (const [scope, rates] of RATES) {
  test(`the rates of ${scope} are those of the contract`, (t) => {
    const read = readConfig({}).throttleRates[scope]
    t.deepEqual(read, rates.map(([requests, seconds]) => ({ requests, seconds }))) // prettier-ignore
  })

  for (const [requests, seconds] of rates) {
    test.serial(`${scope}: ${requests} requests in ${seconds} s are accepted, and no more`, async (t) => {
      await withSystem({ THROTTLE_RATES: `${scope}=${requests}/${Math.max(seconds, 60)}s` }, async (system) => {
        const request = () => admit(system, scope, account('a'))
        for (let i = 0; i < requests; i++) t.is((await request())!.retryAfter, undefined)
        const { retryAfter, tightest } = (await request())!
        t.like(tightest, { scope, quota: requests, remaining: 0, seconds: retryAfter })
        t.true(retryAfter! >= 1 && retryAfter! <= Math.max(seconds, 60))
      })
    })
  }
}

for (const THROTTLE_STORE of ['memory', 'postgres']) {
  test.serial(`in ${THROTTLE_STORE}, as many simultaneous requests pass as the rate allows`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dns_api_cheap=50/h' }, async (system) => {
      const verdicts = await Promise.all(
        Array.from({ length: 100 }, () => admit(system, 'dns_api_cheap', account('at once'))),
      )
      t.is(verdicts.filter((verdict) => verdict!.retryAfter === undefined).length, 50)
    })
  })

  test.serial(`in ${THROTTLE_STORE}, rejected requests do not prolong a window`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dns_api_cheap=2/min' }, async (system) => {
      const request = async () => (await admit(system, 'dns_api_cheap', account('a')))!.retryAfter
      for (let window = 0; window < 2; window++) {
        t.deepEqual([await request(), await request(), await request()], [undefined, undefined, 60])
        mock.timers.tick(59_999)
        t.is(await request(), 1)
        mock.timers.tick(1)
      }
    })
  })

  test.serial(`in ${THROTTLE_STORE}, wrong passwords are forgotten when their window ends`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'login_failure=1/min' }, async (system) => {
      const compare = (isRight: boolean) => compareFrom(system, '192.0.2.9', () => Promise.resolve(isRight))
      t.false(await compare(false))
      mock.timers.tick(59_999)
      await t.throwsAsync(compare(true), { instanceOf: Throttled })
      mock.timers.tick(1)
      t.true(await compare(true))
    })
  })
}

test.serial('a request takes one statement per rate in Postgres, and none in memory', async (t) => {
  for (const [store, expected] of [
    ['memory', 0],
    ['postgres', 5],
  ] as const) {
    await withSystem({ THROTTLE_STORE: store }, async (system) => {
      const request = () => admit(system, 'dns_api_per_domain_expensive', account('a'), 'x.test')
      await request()
      const statements = await statementsOf(request)
      t.is(statements.filter((text) => !text.includes('set timezone')).length, expected)
    })
  }
})

test.serial('however many callers there are, memory holds a limited number of windows', async (t) => {
  const counters = new BoundedMemory({ points: 0, duration: 60 })
  for (let i = 0; i < 1.5 * WINDOWS_MAX; i++) {
    await counters.penalty(`address ${i}`)
    if (i % 1000 === 0) await counters.penalty('regular')
  }
  t.is(counters.dump().storage.length, WINDOWS_MAX)
  t.is((await counters.get('regular'))!.consumedPoints, 1.5 * WINDOWS_MAX / 1000) // prettier-ignore
  t.is((await counters.get(`address ${1.5 * WINDOWS_MAX - 1}`))!.consumedPoints, 1)
  t.is(await counters.get('address 0'), null)
})

test.serial('the window with the fewest remaining requests is reported, of equal ones the longest', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dns_api_cheap=4/10s,6/min; user=8/d' }, async (system) => {
    const reported = []
    for (let i = 0; i < 9; i++) {
      const { retryAfter, tightest } = (await admit(system, 'dns_api_cheap', account('a')))!
      // `retryAfter` lasts until the end of the longest exhausted window.
      const blocking = [10, 60, DAY].find((length) => retryAfter !== undefined && retryAfter <= length)
      reported.push([blocking, tightest.scope, tightest.quota, tightest.length, tightest.remaining])
      t.true(tightest.seconds >= 1 && tightest.seconds <= tightest.length)
    }
    t.deepEqual(reported, [
      [undefined, 'dns_api_cheap', 4, 10, 3],
      [undefined, 'dns_api_cheap', 4, 10, 2],
      [undefined, 'dns_api_cheap', 4, 10, 1],
      [undefined, 'dns_api_cheap', 4, 10, 0],
      [10, 'dns_api_cheap', 4, 10, 0],
      [10, 'dns_api_cheap', 6, 60, 0],
      [60, 'dns_api_cheap', 6, 60, 0],
      [60, 'user', 8, DAY, 0],
      [DAY, 'user', 8, DAY, 0],
    ])
  })
})

test.serial('scopes, accounts and buckets are counted separately', async (t) => {
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

test.serial('the daily rate of an account replaces the configured rates', async (t) => {
  await withSystem({ THROTTLE_RATES: 'user=1/s,5/d' }, async (system) => {
    for (let i = 0; i < 7; i++) t.is((await admit(system, 'user', account('a', 7)))!.retryAfter, undefined)
    const rejected = async (who: Actor) => {
      const { retryAfter, tightest } = (await admit(system, 'user', who))!
      t.true(retryAfter! > DAY - 60 && retryAfter! <= DAY)
      t.like(tightest, { quota: who.dailyRate, length: DAY, remaining: 0, seconds: retryAfter })
    }
    await rejected(account('a', 7))
    await rejected(account('none', 0))
    // A raised or lowered rate still counts the earlier requests.
    t.is((await admit(system, 'user', account('a', 9)))!.retryAfter, undefined)
    await rejected(account('a', 3))
  })
})

test.serial('when throttling is off, nothing is counted or reported', async (t) => {
  await withSystem({ THROTTLE: 'off', THROTTLE_RATES: 'user=1/d; login_failure=1/d' }, async (system) => {
    for (let i = 0; i < 3; i++) t.is(await admit(system, 'user', account('a')), undefined)
    for (let i = 0; i < 3; i++) t.false(await compareFrom(system, '192.0.2.1', async () => false))
  })
})

test.serial('passwords are compared until too many were wrong; right ones are not counted', async (t) => {
  await withSystem({}, async (system) => {
    let compared = 0
    const compare = (right: boolean, address = '192.0.2.1') =>
      compareFrom(system, address, async () => {
        compared++
        return right
      })
    for (let i = 0; i < 30; i++) t.true(await compare(true))
    for (let i = 0; i < 10; i++) t.false(await compare(false))
    compared = 0
    for (const isRight of [true, false]) {
      const { wait } = await t.throwsAsync(compare(isRight), { instanceOf: Throttled })
      t.true(wait >= 1 && wait <= 60)
    }
    t.is(compared, 0)
    t.true(await compare(true, '192.0.2.2'))
  })
})

test.serial('of many wrong passwords sent at once, only as many are compared as may be wrong', async (t) => {
  await withSystem({}, async (system) => {
    let compared = 0
    const tries = Array.from({ length: 50 }, (_, i) =>
      compareFrom(system, `2001:db8::${i}`, async () => {
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

test.serial('a comparison that throws is not counted', async (t) => {
  await withSystem({ THROTTLE_RATES: 'login_failure=1/h' }, async (system) => {
    for (let i = 0; i < 3; i++) {
      await t.throwsAsync(
        compareFrom(system, '192.0.2.1', () => Promise.reject(new Error('busy'))),
        {
          message: 'busy',
        },
      )
    }
    t.false(await compareFrom(system, '192.0.2.1', async () => false))
  })
})
