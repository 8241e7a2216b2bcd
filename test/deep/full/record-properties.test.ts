import test from 'ava'
import { PROPERTIES } from '../../dns/properties.ts'

for (const [sentence, check] of PROPERTIES) {
  test(`with 30,000 random inputs: ${sentence}`, (t) => {
    t.notThrows(() => {
      check(30_000)
    })
  })
}
