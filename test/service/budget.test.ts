import test, { type ExecutionContext } from 'ava'
import { mock } from 'node:test'
import { Unavailable } from '../../src/errors.ts'
import { Budget, Holder } from '../../src/flow/budget.ts'
import { KEEPING_TIME, OWN_KEEPING_TIME, TURN_TIMEOUT } from '../../src/limits.ts'

// The clock stands still, and a test moves it: nothing waits too long because the machine is slow.
test.before(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
})

/** Work that ends when `open` is called. */
function gate(): { work: Promise<void>; open: () => void } {
  let open = () => {}
  const work = new Promise<void>((resolve) => (open = resolve))
  return { work, open }
}

test('work under one key is done in order, one at a time; other keys do not wait', async (t) => {
  const queues = new Budget({ each: 1 })
  const { work, open } = gate()
  const done: number[] = []
  const first = queues.run('a', undefined, async () => {
    await work
    done.push(1)
  })
  const others = [2, 3, 4].map((n) => queues.run('a', undefined, () => Promise.resolve(done.push(n))))
  t.is(await queues.run('b', undefined, () => Promise.resolve('other')), 'other')
  t.deepEqual(done, [])
  open()
  await Promise.all([first, ...others])
  t.deepEqual(done, [1, 2, 3, 4])
})

test('as much is taken at a time as there is room for, in order, and one may take several', async (t) => {
  const queues = new Budget({ each: 3 })
  const entered: string[] = []
  const enter = async (name: string, taken: number) => {
    const leave = await queues.take('a', undefined, { count: taken })
    entered.push(name)
    return leave
  }
  const [one, two, all, last] = [enter('one', 1), enter('two', 1), enter('all', 3), enter('last', 1)]
  ;(await one)()
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(entered, ['one', 'two'])
  ;(await two)()
  const leaveAll = await all
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(entered, ['one', 'two', 'all'])
  leaveAll()
  ;(await last)()
  t.deepEqual(entered, ['one', 'two', 'all', 'last'])
})

test('the bound of all makes callers wait for each other, but not those who have no room of their own', async (t) => {
  const queues = new Budget({ each: 2, all: 3 })
  const entered: string[] = []
  const enter = async (caller: string, name: string) => {
    const leave = await queues.take(caller)
    entered.push(name)
    return leave
  }
  const leaving = [enter('a', 'a1'), enter('a', 'a2'), enter('b', 'b1')]
  const waiting = [enter('a', 'a3'), enter('b', 'b2')]
  const [leaveFirst, , leaveThird] = await Promise.all(leaving)
  t.deepEqual(entered, ['a1', 'a2', 'b1'])
  leaveThird!()
  ;(await waiting[1]!)()
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(entered, ['a1', 'a2', 'b1', 'b2'])
  leaveFirst!()
  await waiting[0]
  t.deepEqual(entered, ['a1', 'a2', 'b1', 'b2', 'a3'])
})

test('what exceeds the bound of the caller, or of all, is not taken, until enough is given back', (t) => {
  const budget = new Budget({ each: 10, all: 15 })
  const release = budget.tryTake('a', { count: 8 })!
  t.is(budget.tryTake('a', { count: 3 }), undefined)
  budget.tryTake('b', { count: 7 })
  t.is(budget.tryTake('c', { count: 1 }), undefined)
  release()
  t.truthy(budget.tryTake('c', { count: 8 }))
  t.is(budget.tryTake('a', { count: 1 }), undefined)
})

test('after work fails, at once or later, the next work runs', async (t) => {
  const queues = new Budget({ each: 1 })
  const failing = [
    queues.run('a', undefined, () => Promise.reject(new Error('later'))),
    queues.run('a', undefined, () => {
      throw new Error('at once')
    }),
  ]
  const outcomes = (await Promise.allSettled(failing)).map(({ status }) => status)
  t.deepEqual(outcomes, ['rejected', 'rejected'])
  t.is(await queues.run('a', undefined, () => Promise.resolve('next')), 'next')
})

test.serial('work that waits too long fails, never runs, and does not delay the work behind it', async (t) => {
  const queues = new Budget({ each: 1 })
  const leave = await queues.take('a')
  const ran: string[] = []
  const late = [
    queues.run('a', undefined, () => Promise.resolve(ran.push('late'))),
    queues.run('a', undefined, () => Promise.resolve(ran.push('later'))),
  ]
  mock.timers.tick(TURN_TIMEOUT)
  for (const waiting of late) {
    const error = await t.throwsAsync(waiting, { instanceOf: Unavailable })
    t.is(error.message, 'a: still in the queue after 30000 ms')
  }
  const behind = queues.run('a', undefined, () => Promise.resolve(ran.push('behind')))
  leave()
  await behind
  await queues.run('a', undefined, () => Promise.resolve(ran.push('last')))
  t.deepEqual(ran, ['behind', 'last'])
})

test.serial('after waiting work timed out and the last work ended, a key is free, for one at a time', async (t) => {
  const queues = new Budget({ each: 1 })
  const leave = await queues.take('a')
  const waiting = queues.take('a')
  mock.timers.tick(TURN_TIMEOUT)
  await t.throwsAsync(waiting, { instanceOf: Unavailable })
  leave()
  const leaveAgain = await queues.take('a')
  let isIn = false
  const second = queues.take('a').then((leaveSecond) => {
    isIn = true
    return leaveSecond
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.false(isIn)
  leaveAgain()
  ;(await second)()
  t.true(isIn)
})

test.serial('a budget that is closed refuses those who wait, and those who would have to, at once', async (t) => {
  const queues = new Budget({ each: 1 })
  const leave = await queues.take('a')
  const waiting = [queues.take('a'), queues.take('a')]
  queues.close()
  for (const refused of [...waiting, queues.take('a')]) {
    t.is((await t.throwsAsync(refused, { instanceOf: Unavailable })).message, 'a: the process stops')
  }
  ;(await queues.take('b'))()
  leave()
  ;(await queues.take('a'))()
})

test.serial('one who waits several times has one patience', async (t) => {
  let now = 0
  const clock = mock.method(performance, 'now', () => now)
  const pass = (time: number) => {
    now += time
    mock.timers.tick(time)
  }
  const queues = new Budget({ each: 1 })
  const patience = { left: TURN_TIMEOUT, gone: new AbortController().signal }
  const [leave] = await Promise.all([queues.take('a'), queues.take('b')])
  const first = queues.take('a', patience)
  pass(TURN_TIMEOUT - 1)
  leave()
  await first
  const second = queues.take('b', patience)
  pass(1)
  await t.throwsAsync(second, { instanceOf: Unavailable })
  // What need not wait, needs no patience.
  ;(await queues.take('c', patience))()
  clock.mock.restore()
})

test('who is gone leaves the queue, without a turn, and those behind go on', async (t) => {
  const queues = new Budget({ each: 2 })
  const leave = await queues.take('a')
  const client = new AbortController()
  const patience = { left: TURN_TIMEOUT, gone: client.signal }
  const leaving = queues.take('a', patience, { count: 2 })
  const behind = queues.take('a')
  client.abort()
  t.is((await t.throwsAsync(leaving, { instanceOf: Unavailable })).message, 'a: the client is gone')
  ;(await behind)()
  await t.throwsAsync(queues.take('a', patience, { count: 2 }), { instanceOf: Unavailable })
  leave()
  ;(await queues.take('a', undefined, { count: 2 }))()
})

test('callers get the room for all by turns, also if one of them always waits', async (t) => {
  const queues = new Budget({ each: 1, all: 1 })
  const turns: string[] = []
  const enter = async (caller: string) => {
    const leave = await queues.take(caller)
    turns.push(caller)
    leave()
  }
  const leave = await queues.take('a')
  const waiting = ['a', 'a', 'a', 'b', 'b', 'c'].map(enter)
  leave()
  await Promise.all(waiting)
  t.deepEqual(turns, ['a', 'b', 'c', 'a', 'b', 'a'])
})

test('of the bound of all, a caller gets no more than it leaves to the others', (t) => {
  const budget = new Budget({ each: 100, all: 100 })
  const sizes: number[] = []
  for (let i = 0; i < 100; i++) {
    let size = 0
    while (budget.tryTake(`caller ${i}`) !== undefined) size++
    sizes.push(size)
  }
  t.deepEqual(sizes.slice(0, 8), [50, 25, 13, 6, 3, 2, 1, 0])
})

/** A clock by which holders measure. */
function useClock(t: ExecutionContext): (time: number) => void {
  let now = 0
  const clock = mock.method(performance, 'now', () => now)
  t.teardown(() => {
    clock.mock.restore()
  })
  return (time) => {
    now += time
    mock.timers.tick(500)
  }
}

/** Takes places that are given back when they are lost. */
function occupy(budget: Budget, caller: string, count: number, lost: string[], ownTime?: number): Holder {
  const holder = new Holder(ownTime)
  const release = budget.tryTake(caller, { count, holder })!
  holder.begin(() => {
    lost.push(caller)
    release()
  })
  return holder
}

test.serial('those who wait take the places of the slowest of the largest callers, not of smaller ones', async (t) => {
  const pass = useClock(t)
  const budget = new Budget({ each: 10, all: 20 })
  const lost: string[] = []
  occupy(budget, 'large', 5, lost)
  occupy(budget, 'large', 5, lost)
  occupy(budget, 'small', 2, lost)
  occupy(budget, 'middle', 4, lost)
  const entering = budget.take('new', undefined, { count: 5 })
  pass(KEEPING_TIME - 1)
  t.deepEqual(lost, [])
  pass(1)
  await entering
  t.deepEqual(lost, ['large'])
})

test.serial('only the time in which a holder waits for its client counts, in all', async (t) => {
  const pass = useClock(t)
  const budget = new Budget({ each: 1, all: 1 })
  const holder = new Holder()
  const release = budget.tryTake('a', { holder })!
  let isLost = false
  const wait = () => {
    holder.begin(() => {
      isLost = true
      release()
    })
  }
  wait()
  pass(KEEPING_TIME - 1)
  holder.end()
  const entering = budget.take('b')
  pass(KEEPING_TIME)
  t.false(isLost)
  wait()
  pass(1)
  t.true(isLost)
  await entering
})

test.serial("beyond its own bound, a caller's slow holders make room for it, and others' do not", async (t) => {
  const pass = useClock(t)
  const budget = new Budget({ each: 2, all: 10 })
  const lost: string[] = []
  occupy(budget, 'a', 2, lost)
  occupy(budget, 'b', 2, lost)
  const entering = budget.take('a')
  pass(OWN_KEEPING_TIME - 1)
  t.deepEqual(lost, [])
  pass(1)
  await entering
  t.deepEqual(lost, ['a'])
  occupy(budget, 'c', 2, lost, KEEPING_TIME)
  const next = budget.take('c')
  pass(KEEPING_TIME)
  await next
  t.deepEqual(lost, ['a', 'c'])
})
