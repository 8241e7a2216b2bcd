import test from 'ava'
import { PROPERTIES } from '../dns/properties.ts'

for (const [sentence, check] of PROPERTIES) {
  test(`with 100,000 random inputs: ${sentence}`, (t) => {
    t.notThrows(() => {
      check(100_000)
    })
  })
}
