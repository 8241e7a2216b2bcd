import test from 'ava'
import { SMALL_ZONE } from '../../src/limits.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'
import { isConsistent, Zone, type Question } from '../support/dns/zone.ts'

const service = useService({ THROTTLE: 'off' })

/** An RRset to be written; without records it is removed. */
type Write = [subname: string, type: string, ...records: string[]]

const A = '192.0.2.1'
const NS = 'ns.example.'

/** What happens, below a name of its own; and the questions that must then be answered right, and be believed. */
const CASES: [what: string, writes: Write[], asked: string[]][] = [
  ['a name goes', [['x', 'A', A], ['x', 'A']], ['x A', 'y.x A', 'z A']],
  ['a name goes, with the empty ones above it', [['z.y.x', 'A', A], ['z.y.x', 'A']], ['z.y.x A', 'y.x A', 'x A']],
  ['a name goes, but not those below it', [['y.x', 'A', A], ['x', 'A', A], ['x', 'A']], ['x A', 'z.x A', 'y.x TXT']],
  ['a name goes, after those below it', [['y.x', 'A', A], ['x', 'A', A], ['y.x', 'A'], ['x', 'A']], ['x A', 'y.x A']],
  ['a name goes, before those below it', [['y.x', 'A', A], ['x', 'A', A], ['x', 'A'], ['y.x', 'A']], ['x A', 'y.x A']],
  ['one of two types goes', [['x', 'A', A], ['x', 'TXT', '"x"'], ['x', 'TXT']], ['x TXT', 'x A', 'y.x A']],
  ['a CNAME goes', [['x', 'CNAME', 'x.example.'], ['x', 'CNAME']], ['x A', 'x CNAME']],
  ['a CNAME takes the place of an address', [['x', 'A', A], ['x', 'A'], ['x', 'CNAME', NS]], ['x CNAME', 'y.x A']],
  ['a name comes back', [['y.x', 'A', A], ['y.x', 'A'], ['y.x', 'TXT', '"x"']], ['y.x A', 'y.x TXT', 'x A', 'z.x A']],
  ['a wildcard takes the place of names', [['*', 'A', A], ['y.x', 'A', A], ['y.x', 'A']], ['y.x A', 'y.x TXT', 'x A']],
  ['a wildcard goes', [['a', 'A', A], ['*', 'A', A], ['*', 'A']], ['* A', 'c A', 'a.c A']],
  ['a deeper wildcard goes', [['*', 'A', A], ['*.x', 'A', A], ['*.x', 'A']], ['a.x A', 'x A', 'x TXT']],
  ['a delegation comes over names', [['y.x', 'A', A], ['z.y.x', 'A', A], ['x', 'NS', NS]], ['x DS', 'y.x A', 'x A']],
  ['a delegation goes from over names', [['y.x', 'A', A], ['x', 'NS', NS], ['x', 'NS']], ['x DS', 'y.x A', 'z.x A']],
  ['a delegation goes, before names below', [['y.x', 'A', A], ['x', 'NS', NS], ['x', 'NS'], ['y.x', 'A']], ['x A', 'y.x A']],
  ['a delegation goes, after names below', [['y.x', 'A', A], ['x', 'NS', NS], ['y.x', 'A'], ['x', 'NS']], ['x A', 'y.x A']],
  ['a DS comes', [['x', 'NS', NS], ['x', 'DS', `1 13 2 ${'ab'.repeat(32)}`]], ['x DS', 'x A', 'y.x A']],
  ['a DS goes', [['x', 'NS', NS], ['x', 'DS', `1 13 2 ${'ab'.repeat(32)}`], ['x', 'DS']], ['x DS', 'x A', 'y.x A']],
  ['a delegation changes', [['x', 'NS', NS], ['x', 'NS', 'ns2.example.']], ['x DS', 'x NS', 'y.x A']],
  ['glue changes', [['x', 'NS', 'ns.x.@'], ['ns.x', 'A', A], ['ns.x', 'A', '192.0.2.2']], ['x DS', 'ns.x A', 'y.x A']],
  ['a type comes at a delegation', [['x', 'NS', NS], ['x', 'TXT', '"x"']], ['x DS', 'x TXT', 'y.x A']],
  ['a type comes below a delegation', [['x', 'NS', NS], ['y.x', 'A', A], ['y.x', 'TXT', '"x"']], ['y.x A', 'y.x TXT']],
] // prettier-ignore

for (const [kind, fillers] of [
  ['small', 0],
  ['large', SMALL_ZONE + 1],
] as const) {
  let zone: Zone
  test.serial.before(`a ${kind} zone`, async () => {
    zone = await Zone.create(service(), (await service().account()).api, `${kind}.test`)
    for (let i = 0; i < fillers; i++) await zone.put(`f${i}`, 'A', [A])
  })

  for (const [i, [what, writes, asked]] of CASES.entries()) {
    test.serial(`in a ${kind} zone answers and denials are right and valid when ${what}`, async (t) => {
      const below = `n${i}`
      for (const [subname, type, ...records] of writes) {
        const contents = records.map((record) => record.replace('@', zone.at(below)))
        if (contents.length > 0) await zone.put(`${subname}.${below}`, type, contents)
        else await zone.remove(`${subname}.${below}`, type)
      }
      const questions = asked.map((question): Question => {
        const [subname, type] = question.split(' ') as [string, string]
        return [zone.at(`${subname}.${below}`), type]
      })
      await zone.answers(t, questions)
      await zone.validates(t, questions)
    })
  }

  test.serial(`then a transfer of the ${kind} zone is valid`, async (t) => {
    await t.notThrowsAsync(verifyTransfer(service().powerDns, zone.name, zone.ds))
  })
}

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, service())
})
