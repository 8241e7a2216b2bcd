import test from 'ava'
import { Pace } from '../../src/nameserver/parents/pace.ts'
import { SimulatedClock } from '../support/dns/simulated-clock.ts'

// Contract §15.9: whose question is next.

const wanted = () => false

test('however many wait for their turn, they share one timer, and come in order', async (t) => {
  const clock = new SimulatedClock()
  const pace = new Pace(clock)
  const order: number[] = []
  const turns = Array.from({ length: 1_000 }, async (_, i) => {
    await pace.turn(undefined, wanted)
    order.push(i)
  })
  t.is(clock.sleepers.length, 1)
  clock.leap()
  await clock.during(turns[10]!)
  t.is(clock.sleepers.length, 1)
  t.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  pace.close()
  t.deepEqual((await Promise.allSettled(turns)).map(({ status }) => status).slice(10, 12), ['fulfilled', 'rejected'])
})

test('those that wait for their server hold up nobody', async (t) => {
  const clock = new SimulatedClock()
  const pace = new Pace(clock)
  const order: string[] = []
  const turns = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(async (server, i) => {
    await pace.turn(server, wanted)
    order.push(`${i} ${server}`)
  })
  await clock.during(Promise.all(turns))
  t.deepEqual(order, ['0 192.0.2.1', '3 192.0.2.2', '1 192.0.2.1', '2 192.0.2.1'])
})

test('one whose question is not wanted any more leaves the queue without a turn', async (t) => {
  const clock = new SimulatedClock()
  const pace = new Pace(clock)
  let isOver = false
  const turns = [pace.turn('192.0.2.1', wanted), pace.turn('192.0.2.1', () => isOver), pace.turn('192.0.2.1', wanted)]
  isOver = true
  t.deepEqual(await clock.during(Promise.all(turns)), [true, false, true])
  // The last one has the second turn of the server.
  t.true(clock.now() < 2_000)
})
