import test from 'ava'
import { depth } from '../support/depth.ts'
import { PROPERTIES } from './properties.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? depth(1_000, 30_000))

for (const [sentence, check] of PROPERTIES) {
  test(sentence, (t) => {
    t.notThrows(() => {
      check(RUNS)
    })
  })
}
