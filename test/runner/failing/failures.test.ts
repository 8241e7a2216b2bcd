import test from 'ava'
import fc from 'fast-check'
import { useService } from '../../support/harness.ts'

// Fails on purpose: test/run.test.ts looks at what the test command says of it.

const service = useService()

test('an assertion that fails', async (t) => {
  t.log('before it fails')
  t.deepEqual({ status: (await service().anonymous.get('/domains/')).status }, { status: 200 })
})

test('a property that fails', (t) => {
  t.notThrows(() => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1000 }), (number) => number < 10))
  })
})

test('a test that passes', (t) => {
  t.pass()
})
