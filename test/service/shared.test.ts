import test from 'ava'
import { Shared } from '../../src/flow/shared.ts'
import { eventually } from '../support/eventually.ts'

interface Run {
  end: () => void
  fail: (error: Error) => void
}

/** Runs that end when the test says so; each has its number, from 1. */
class Runs {
  readonly begun: Run[] = []

  readonly begin = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const number = this.begun.push({
        end: () => {
          resolve(number)
        },
        fail: reject,
      })
    })

  /** The run with this number, once it has begun. */
  async nth(number: number): Promise<Run> {
    return (await eventually(() => this.begun[number - 1]))!
  }
}

test('who asks during a run shares the next run, which begins when that one has ended', async (t) => {
  const [shared, runs] = [new Shared<number>(), new Runs()]
  const [first, ...others] = [1, 2, 3].map(() => shared.run('a', runs.begin))
  t.is(runs.begun.length, 1)
  ;(await runs.nth(1)).end()
  t.is(await first, 1)
  await runs.nth(2)
  const later = shared.run('a', runs.begin)
  ;(await runs.nth(2)).end()
  t.deepEqual(await Promise.all(others), [2, 2])
  ;(await runs.nth(3)).end()
  t.is(await later, 3)
  const alone = shared.run('a', runs.begin)
  t.is(runs.begun.length, 4)
  ;(await runs.nth(4)).end()
  t.is(await alone, 4)
})

test('a run that hangs keeps the others waiting only for a while', async (t) => {
  const [shared, runs] = [new Shared<number>(), new Runs()]
  const [hanging, next] = [shared.run('a', runs.begin), shared.run('a', runs.begin)]
  await runs.nth(2)
  const later = shared.run('a', runs.begin)
  ;(await runs.nth(2)).end()
  t.is(await next, 2)
  ;(await runs.nth(3)).end()
  t.is(await later, 3)
  ;(await runs.nth(1)).end()
  t.is(await hanging, 1)
  const last = shared.run('a', runs.begin)
  t.is(runs.begun.length, 4)
  ;(await runs.nth(4)).end()
  t.is(await last, 4)
})

test('who asks for something else does not wait', async (t) => {
  const [shared, runs] = [new Shared<number>(), new Runs()]
  const [one, other] = [shared.run('a', runs.begin), shared.run('b', runs.begin)]
  ;(await runs.nth(2)).end()
  t.is(await other, 2)
  ;(await runs.nth(1)).end()
  t.is(await one, 1)
})

test('all who share a run get its error, and the next run begins all the same', async (t) => {
  const [shared, runs] = [new Shared<number>(), new Runs()]
  const all = [1, 2, 3].map(() => shared.run('a', runs.begin))
  ;(await runs.nth(1)).fail(new Error('the first failed'))
  await t.throwsAsync(all[0]!, { message: 'the first failed' })
  const last = shared.run('a', runs.begin)
  ;(await runs.nth(2)).fail(new Error('the second failed'))
  for (const sharing of all.slice(1)) await t.throwsAsync(sharing, { message: 'the second failed' })
  ;(await runs.nth(3)).end()
  t.is(await last, 3)
})
