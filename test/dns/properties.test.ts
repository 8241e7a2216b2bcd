import test from 'ava'
import { depth } from '../support/depth.ts'
import { PROPERTIES } from './properties.ts'

/** More runs want more time: FUZZ_RUNS=1000000 npm test -- --timeout=60m build/test/dns/properties.test.js */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? depth(500, 30_000))

for (const [sentence, check] of PROPERTIES) {
  test(sentence, (t) => {
    t.notThrows(() => {
      check(RUNS)
    })
  })
}
