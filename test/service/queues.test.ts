import test from 'ava'
import { mock } from 'node:test'
import { Unavailable } from '../../src/errors.ts'
import { QUEUE_TIMEOUT } from '../../src/limits.ts'
import { Queues } from '../../src/service/queues.ts'

// The clock stands still, and a test moves it: nothing waits too long because the machine is slow.
test.before(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
})

/** Work that ends when `open` is called. */
function gate(): { work: Promise<void>; open: () => void } {
  let open = () => {}
  const work = new Promise<void>((resolve) => (open = resolve))
  return { work, open }
}

test('work under one key is done in order, one at a time; other keys do not wait', async (t) => {
  const queues = new Queues()
  const { work, open } = gate()
  const done: number[] = []
  const first = queues.run('a', async () => {
    await work
    done.push(1)
  })
  const others = [2, 3, 4].map((n) => queues.run('a', () => Promise.resolve(done.push(n))))
  t.is(await queues.run('b', () => Promise.resolve('other')), 'other')
  t.deepEqual(done, [])
  open()
  await Promise.all([first, ...others])
  t.deepEqual(done, [1, 2, 3, 4])
})

test('a queue with places runs as much work at a time, in order, and work may take several places', async (t) => {
  const queues = new Queues()
  const entered: string[] = []
  const enter = async (name: string, taken: number) => {
    const leave = await queues.enter('a', { places: 3, taken })
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

test('after work fails, at once or later, the next work runs', async (t) => {
  const queues = new Queues()
  const failing = [
    queues.run('a', () => Promise.reject(new Error('later'))),
    queues.run('a', () => {
      throw new Error('at once')
    }),
  ]
  t.deepEqual(
    (await Promise.allSettled(failing)).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(await queues.run('a', () => Promise.resolve('next')), 'next')
})

test.serial('work that waits too long fails, never runs, and does not delay the work behind it', async (t) => {
  const queues = new Queues()
  const leave = await queues.enter('a')
  const ran: string[] = []
  const late = [
    queues.run('a', () => Promise.resolve(ran.push('late'))),
    queues.run('a', () => Promise.resolve(ran.push('later'))),
  ]
  mock.timers.tick(QUEUE_TIMEOUT)
  for (const waiting of late) {
    const error = await t.throwsAsync(waiting, { instanceOf: Unavailable })
    t.is(error.message, 'a: still in the queue after 5000 ms')
  }
  const behind = queues.run('a', () => Promise.resolve(ran.push('behind')))
  leave()
  await behind
  await queues.run('a', () => Promise.resolve(ran.push('last')))
  t.deepEqual(ran, ['behind', 'last'])
})

test.serial('after waiting work timed out and the last work ended, a key is free, for one at a time', async (t) => {
  const queues = new Queues()
  const leave = await queues.enter('a')
  const waiting = queues.enter('a')
  mock.timers.tick(QUEUE_TIMEOUT)
  await t.throwsAsync(waiting, { instanceOf: Unavailable })
  leave()
  const leaveAgain = await queues.enter('a')
  let isIn = false
  const second = queues.enter('a').then((leaveSecond) => {
    isIn = true
    return leaveSecond
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.false(isIn)
  leaveAgain()
  ;(await second)()
  t.true(isIn)
})
