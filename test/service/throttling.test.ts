import test from 'ava'
import { mock } from 'node:test'
import { Throttled } from '../../src/errors.ts'
import type { Scope } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'
import { createSystem } from '../../src/process/create-system.ts'
import type { Actor } from '../../src/service/actor.ts'
import { Memory, type Window, WINDOWS_MAX } from '../../src/service/throttling/counters.ts'
import { comparePassword } from '../../src/service/throttling/guessing.ts'
import { refusalsOf } from '../../src/service/throttling/refusals.ts'
import { admit } from '../../src/service/throttling/throttling.ts'
import { readConfig } from '../../src/settings/config.ts'
import type { Account } from '../../src/store/accounts/accounts.ts'
import { query } from '../../src/store/database.ts'
import * as windows from '../../src/store/windows.ts'
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
      tokenId: `token of ${accountId}`,
      accountId,
      ownerId: accountId,
      address: '192.0.2.1',
      dailyRate,
      override: false,
      mfa: null,
      mfaPending: false,
      autoPolicy: false,
      ...{ memberId: null, personId: null, role: null, confined: false, mfaLacking: false, messageRequired: false },
    },
    ...{ permCreateDomain: false, permDeleteDomain: false, permManageTokens: false, restricted: false },
  }
}

/** Compares a password for an account of its own, from a client that is not trusted. */
async function compareFrom(system: System, address: string, compare: () => Promise<boolean>): Promise<boolean> {
  const email = `${address}@example.test`
  return comparePassword(system, { address, email, isKnownNetwork: false, solve: undefined, compare })
}

/** The contract's table: requests per seconds. */
const RATES: [Scope, [number, number][]][] = [
  ['public', [[50, 1]]],
  ['login', [[20, 1]]],
  ['account_management_active', [[3, 60]]],
  ['account_management_passive', [[500, 60], [6000, 3600]]],
  ['dyndns', [[20, 120]]],
  ['dns_api_cheap', [[100, 1], [500, 60]]],
  ['dns_api_expensive', [[100, 1], [3000, 60], [10000, 3600]]],
  ['dns_api_per_domain_expensive', [[20, 1], [150, 60], [1000, 3600], [3000, DAY]]],
  ['user', [[20000, DAY]]],
  ['login_failure', [[10, 60]]],
  ['login_failure_per_account', [[100, 3600]]],
  ['totp_failure', [[10, 3600]]],
  ['mail', [[3, 3600], [5, DAY / 2]]],
] // prettier-ignore

for (const [scope, rates] of RATES) {
  test(`the rates of ${scope} are those of the contract`, (t) => {
    const read = readConfig({}).throttleRates[scope]
    t.deepEqual(read, rates.map(([requests, seconds]) => ({ requests, seconds }))) // prettier-ignore
  })
}

for (const THROTTLE_STORE of ['memory', 'postgres']) {
  test.serial(`in ${THROTTLE_STORE}, as many simultaneous requests pass as the rate allows`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dns_api_cheap=50/h' }, async (system) => {
      const verdicts = await Promise.all(
        Array.from({ length: 100 }, () => admit(system, 'dns_api_cheap', account('at once'))),
      )
      t.is(verdicts.filter((verdict) => verdict!.retryAfter === undefined).length, 50)
      // The others have left no count.
      t.is((await admit(system, 'user', account('at once')))!.tightest.remaining, 20_000 - 51)
    })
  })

  test.serial(`in ${THROTTLE_STORE}, a request that one window refuses counts in none`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dns_api_cheap=2/s, 5/min' }, async (system) => {
      const waits = async (requests: number) => {
        const verdicts = []
        for (let i = 0; i < requests; i++) verdicts.push((await admit(system, 'dns_api_cheap', account('many')))!)
        return verdicts.map(({ retryAfter }) => retryAfter)
      }
      for (const [seconds, expected] of [
        [1, [undefined, undefined, 1, 1, 1, 1, 1, 1]],
        [1, [undefined, undefined, 1, 1, 1, 1, 1, 1]],
        [58, [undefined, 58, 58, 58]],
        [0, [undefined, undefined, 1]],
      ] as const) {
        t.deepEqual(await waits(expected.length), [...expected])
        mock.timers.tick(seconds * 1000)
      }
      t.is((await admit(system, 'user', account('many')))!.tightest.remaining, 20_000 - 8)
    })
  })

  test.serial(`in ${THROTTLE_STORE}, 100 clients that wait as they are told get what the rate promises`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dns_api_cheap=20/s, 150/min, 400/h' }, async (system) => {
      // The second in which each sends its next request, and the requests that have passed in each minute.
      const next = Array.from({ length: 100 }, () => 0)
      const passed = [0, 0, 0, 0]
      for (let now = 0; now < 240; now = Math.min(...next)) {
        const sending = next.flatMap((second, i) => (second === now ? [i] : []))
        for (const i of sending) {
          const { retryAfter = 0 } = (await admit(system, 'dns_api_cheap', account('obedient')))!
          if (retryAfter === 0) passed[Math.floor(now / 60)]!++
          next[i] = now + Math.max(retryAfter, 1)
        }
        mock.timers.tick(1000 * (Math.min(...next) - now))
      }
      t.deepEqual(passed, [150, 150, 100, 0])
    })
  })

  test.serial(
    `in ${THROTTLE_STORE}, a request that is taken back leaves its place in the lasting windows`,
    async (t) => {
      const THROTTLE_RATES = 'dns_api_cheap=2/min, 3/h; user=4/d'
      await withSystem({ THROTTLE_STORE, THROTTLE_RATES }, async (system) => {
        const request = async () => (await admit(system, 'dns_api_cheap', account('mistaken')))!
        for (let minute = 0; minute < 5; minute++) {
          for (const retryAfter of [undefined, undefined, 60]) {
            const verdict = await request()
            t.is(verdict.retryAfter, retryAfter)
            if (retryAfter === undefined) await verdict.takeBack()
          }
          mock.timers.tick(60_000)
        }
        const { takeBack } = await request()
        await request()
        mock.timers.tick(3_600_000)
        // In the next window, there is nothing to take back.
        await request()
        await takeBack()
        t.is((await request()).tightest.remaining, 0)
      })
    },
  )

  test.serial(`in ${THROTTLE_STORE}, a request stays in the shortest window of its scope`, async (t) => {
    await withSystem({ THROTTLE_STORE, THROTTLE_RATES: 'dyndns=2/h, 3/d; user=4/d' }, async (system) => {
      const request = async () => (await admit(system, 'dyndns', account('mistaken too'), { name: 'x.test' }))!
      for (const retryAfter of [undefined, undefined, 3600]) {
        const verdict = await request()
        t.is(verdict.retryAfter, retryAfter)
        if (retryAfter === undefined) await verdict.takeBack()
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

test.serial('in postgres, the full windows of an account are found, and those of no other', async (t) => {
  const rates = 'dns_api_cheap=2/min; dns_api_per_domain_expensive=1/h; user=4/d'
  await withSystem({ THROTTLE_STORE: 'postgres', THROTTLE_RATES: rates }, async (system) => {
    const actor = account('refused')
    const found = async (dailyRate: number | null = null) => {
      const shown = await refusalsOf(system, { id: 'refused', dailyRate } as Account, [actor.tokenId])
      return shown.map(({ scope, length, caller, domain }) => ({ scope, length, caller, domain }))
    }
    await admit(system, 'dns_api_cheap', actor)
    await admit(system, 'dns_api_cheap', account('refuse'))
    t.deepEqual(await found(), [])
    await admit(system, 'dns_api_cheap', actor)
    await admit(system, 'dns_api_per_domain_expensive', actor, { name: 'a.example' })
    const { tokenId: caller } = actor
    const full = [
      { scope: 'dns_api_per_domain_expensive', length: 3600, caller, domain: 'a.example' },
      { scope: 'dns_api_cheap', length: 60, caller, domain: null },
    ]
    t.deepEqual(await found(), full)
    t.deepEqual(await found(3), [{ scope: 'user', length: DAY, caller, domain: null }, ...full])
    // All API tokens of the account together have four times the rates of one.
    for (let i = 0; i < 7; i++) {
      await admit(system, 'dns_api_cheap', { ...actor, tokenId: `spare ${i}` })
      await admit(system, 'dns_api_cheap', { ...actor, tokenId: `spare ${i}` })
    }
    const shared = { ...full[1]!, caller: 'refused' }
    t.deepEqual(await found(), [full[0]!, shared, full[1]!])
    mock.timers.tick(60_000)
    t.deepEqual(await found(), full.slice(0, 1))
  })
})

test.serial('in postgres, a request beyond the rates asks Postgres at most once a second', async (t) => {
  await withSystem({ THROTTLE_STORE: 'postgres', THROTTLE_RATES: 'dns_api_cheap=1/min' }, async (system) => {
    const request = async () => (await admit(system, 'dns_api_cheap', account('flooding')))!.retryAfter
    t.is(await request(), undefined)
    t.is(await request(), 60)
    const flood = async () => {
      for (let i = 0; i < 20; i++) t.is(await request(), 60)
    }
    t.deepEqual(await statementsOf(flood), [])
    mock.timers.tick(60_000)
    t.is(await request(), undefined)
  })
})

test.serial('in memory, no window lasts longer because the clock is set back', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dns_api_cheap=1/min' }, async (system) => {
    const request = async () => (await admit(system, 'dns_api_cheap', account('later')))!.retryAfter
    t.is(await request(), undefined)
    t.is(await request(), 60)
    mock.timers.setTime(Date.now() - 3_600_000)
    t.is(await request(), undefined)
    t.is(await request(), 60)
  })
})

test.serial('while other attempts run, one beyond the rate is to come back in a second', async (t) => {
  await withSystem({ THROTTLE_RATES: 'login_failure=1/min' }, async (system) => {
    let answer: (isRight: boolean) => void = () => undefined
    const running = compareFrom(system, '192.0.2.77', () => new Promise((resolve) => (answer = resolve)))
    const second = { address: '192.0.2.77', email: 'b@example.test', isKnownNetwork: false, solve: undefined }
    const attempt = () => comparePassword(system, { ...second, compare: () => Promise.resolve(true) })
    t.is((await t.throwsAsync(attempt, { instanceOf: Throttled })).wait, 1)
    answer(true)
    t.true(await running)
    t.true(await attempt())
    t.false(await compareFrom(system, '192.0.2.77', () => Promise.resolve(false)))
    t.is((await t.throwsAsync(attempt, { instanceOf: Throttled })).wait, 60)
  })
})

test.serial(
  'windows in Postgres are deleted after their end, or if they last longer as the clock was set back',
  async (t) => {
    await withSystem({ THROTTLE_STORE: 'postgres', THROTTLE_RATES: 'dns_api_cheap=5/s; user=5/d' }, async (system) => {
      await admit(system, 'dns_api_cheap', account('deleted'))
      mock.timers.tick(2_000)
      const left = async (now: number) => {
        await windows.removeBefore(system.db, now)
        return query(system.db, `select key, points from throttle where key like '%deleted%' order by key`)
      }
      const lasting = ['deleted', 'token of deleted'].map((key) => ({ key: `user ${DAY} ${key}`, points: 1 }))
      t.deepEqual(await left(Date.now()), lasting)
      t.deepEqual(await left(Date.now() - 3_600_000), [])
    })
  },
)

test.serial('a request takes one statement in Postgres, and none in memory', async (t) => {
  for (const [store, expected] of [
    ['memory', 0],
    ['postgres', 1],
  ] as const) {
    await withSystem({ THROTTLE_STORE: store }, async (system) => {
      const request = () => admit(system, 'dns_api_per_domain_expensive', account('a'), { name: 'x.test' })
      await request()
      const statements = await statementsOf(request)
      t.is(statements.length, expected)
    })
  }
})

test.serial('however many callers there are, memory holds a limited number of windows', async (t) => {
  const memory = new Memory()
  const windowsOf = (key: string): Window[] => [{ scope: 'user', key, quota: 1e6, length: 60 }]
  const used = async (key: string) => (await memory.read(windowsOf(key)))[0]!.used
  // Whoever guesses a password cannot make it forget the wrong ones by requests from many addresses.
  const failures: Window[] = [{ scope: 'login_failure_per_account', key: 'an account', quota: 100, length: 3600 }]
  await memory.count(failures)
  // Nor does a token get its requests of the day again.
  const lasting: Window[] = [{ scope: 'user', key: 'a token', quota: 100, length: DAY }]
  await memory.count(lasting)
  for (let i = 0; i < 1.5 * WINDOWS_MAX; i++) {
    await memory.count(windowsOf(`address ${i}`))
    if (i % 1000 === 0) await memory.count(windowsOf('regular'))
  }
  t.is(await used('regular'), 1.5 * WINDOWS_MAX / 1000) // prettier-ignore
  t.is(await used(`address ${1.5 * WINDOWS_MAX - 1}`), 1)
  t.is(await used(`address ${0.5 * WINDOWS_MAX + 1}`), 1)
  t.is(await used(`address ${0.5 * WINDOWS_MAX - 1}`), 0)
  t.is((await memory.read(failures))[0]!.used, 1)
  t.is((await memory.read(lasting))[0]!.used, 1)
})

test.serial('the window with the fewest remaining requests is reported, of equal ones the longest', async (t) => {
  await withSystem({ THROTTLE_RATES: 'dns_api_cheap=4/10s,6/min; user=10/d' }, async (system) => {
    const reported = []
    for (const [requests, seconds] of [
      [5, 10],
      [3, 50],
      [5, 0],
    ] as const) {
      for (let i = 0; i < requests; i++) {
        const { retryAfter, tightest } = (await admit(system, 'dns_api_cheap', account('a')))!
        reported.push([retryAfter, tightest.scope, tightest.quota, tightest.length, tightest.remaining])
        t.true(tightest.seconds >= 1 && tightest.seconds <= tightest.length)
      }
      mock.timers.tick(seconds * 1000)
    }
    t.deepEqual(reported, [
      [undefined, 'dns_api_cheap', 4, 10, 3],
      [undefined, 'dns_api_cheap', 4, 10, 2],
      [undefined, 'dns_api_cheap', 4, 10, 1],
      [undefined, 'dns_api_cheap', 4, 10, 0],
      [10, 'dns_api_cheap', 4, 10, 0],
      [undefined, 'dns_api_cheap', 6, 60, 1],
      [undefined, 'dns_api_cheap', 6, 60, 0],
      [50, 'dns_api_cheap', 6, 60, 0],
      [undefined, 'user', 10, DAY, 3],
      [undefined, 'user', 10, DAY, 2],
      [undefined, 'user', 10, DAY, 1],
      [undefined, 'user', 10, DAY, 0],
      [DAY - 60, 'user', 10, DAY, 0],
    ])
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

test.serial(
  'a password from a known network, or with a captcha that was needed, is that of a trusted client',
  async (t) => {
    await withSystem({ THROTTLE_RATES: 'login_failure=1/min' }, async (system) => {
      const trusted: boolean[] = []
      const guess = (isKnownNetwork: boolean, solve?: () => Promise<void>) =>
        comparePassword(system, {
          ...{ address: '192.0.2.60', email: 'trusted@example.test', isKnownNetwork, solve },
          compare: async (isTrusted) => trusted.push(isTrusted) > 0,
        })
      const solve = () => Promise.resolve()
      for (const [isKnownNetwork, solving] of [[false], [true], [false, solve]] as const) {
        t.true(await guess(isKnownNetwork, solving))
      }
      await compareFrom(system, '192.0.2.60', async () => false)
      t.true(await guess(false, solve))
      t.deepEqual(trusted, [false, true, false, true])
    })
  },
)

test('whoever gets no further mail has one with a link that is still valid', (t) => {
  const { confirmationValidity, throttleRates } = readConfig({})
  for (const { seconds } of throttleRates.mail) t.true(seconds <= confirmationValidity)
})
