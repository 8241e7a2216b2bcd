import test from 'ava'
import { PROPERTIES } from '../dns/properties.ts'

for (const [sentence, check] of PROPERTIES) {
  test(`a hundred thousand times: ${sentence}`, (t) => {
    t.notThrows(() => {
      check(100_000)
    })
  })
}
