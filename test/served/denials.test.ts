import test from 'ava'
import { SMALL_ZONE } from '../../src/service/zone/rectification.ts'
import { depth } from '../support/depth.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { isConsistent, type Question, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'
import { changeAtRandom } from './checks/sequences.ts'

const service = useService({ THROTTLE: 'off' })

/** An RRset to write; without records it is deleted. */
type Write = [subname: string, type: string, ...records: string[]]

const A = '192.0.2.1'
const NS = 'ns.example.'

/** Writes below a name that only this case uses, and questions whose answers must then be correct and validate. */
const CASES: [what: string, writes: Write[], asked: string[]][] = [
  ['a name is deleted', [['x', 'A', A], ['x', 'A']], ['x A', 'y.x A', 'z A']],
  ['a name and empty non-terminals are deleted', [['z.y.x', 'A', A], ['z.y.x', 'A']], ['z.y.x A', 'y.x A', 'x A']],
  ['a name above others is deleted', [['y.x', 'A', A], ['x', 'A', A], ['x', 'A']], ['x A', 'z.x A', 'y.x TXT']],
  ['a name is deleted after names below', [['y.x', 'A', A], ['x', 'A', A], ['y.x', 'A'], ['x', 'A']], ['x A', 'y.x A']],
  ['a name is deleted before names below', [['y.x', 'A', A], ['x', 'A', A], ['x', 'A'], ['y.x', 'A']], ['x A', 'y.x A']],
  ['one of two types is deleted', [['x', 'A', A], ['x', 'TXT', '"x"'], ['x', 'TXT']], ['x TXT', 'x A', 'y.x A']],
  ['a CNAME is deleted', [['x', 'CNAME', 'x.example.'], ['x', 'CNAME']], ['x A', 'x CNAME']],
  ['a CNAME replaces an address', [['x', 'A', A], ['x', 'A'], ['x', 'CNAME', NS]], ['x CNAME', 'y.x A']],
  ['a deleted name is created again', [['y.x', 'A', A], ['y.x', 'A'], ['y.x', 'TXT', '"x"']], ['y.x A', 'y.x TXT', 'x A', 'z.x A']],
  ['a wildcard covers a deleted name', [['*', 'A', A], ['y.x', 'A', A], ['y.x', 'A']], ['y.x A', 'y.x TXT', 'x A']],
  ['a wildcard is deleted', [['a', 'A', A], ['*', 'A', A], ['*', 'A']], ['* A', 'c A', 'a.c A']],
  ['a deeper wildcard is deleted', [['*', 'A', A], ['*.x', 'A', A], ['*.x', 'A']], ['a.x A', 'x A', 'x TXT']],
  ['a delegation is created above names', [['y.x', 'A', A], ['z.y.x', 'A', A], ['x', 'NS', NS]], ['x DS', 'y.x A', 'x A']],
  ['a delegation above names is deleted', [['y.x', 'A', A], ['x', 'NS', NS], ['x', 'NS']], ['x DS', 'y.x A', 'z.x A']],
  ['a delegation is deleted before names below', [['y.x', 'A', A], ['x', 'NS', NS], ['x', 'NS'], ['y.x', 'A']], ['x A', 'y.x A']],
  ['a delegation is deleted after names below', [['y.x', 'A', A], ['x', 'NS', NS], ['y.x', 'A'], ['x', 'NS']], ['x A', 'y.x A']],
  ['a DS is created', [['x', 'NS', NS], ['x', 'DS', `1 13 2 ${'ab'.repeat(32)}`]], ['x DS', 'x A', 'y.x A']],
  ['a DS is deleted', [['x', 'NS', NS], ['x', 'DS', `1 13 2 ${'ab'.repeat(32)}`], ['x', 'DS']], ['x DS', 'x A', 'y.x A']],
  ['a delegation changes', [['x', 'NS', NS], ['x', 'NS', 'ns2.example.']], ['x DS', 'x NS', 'y.x A']],
  ['glue changes', [['x', 'NS', 'ns.x.@'], ['ns.x', 'A', A], ['ns.x', 'A', '192.0.2.2']], ['x DS', 'ns.x A', 'y.x A']],
  ['a type is added at a delegation', [['x', 'NS', NS], ['x', 'TXT', '"x"']], ['x DS', 'x TXT', 'y.x A']],
  ['a type is added below a delegation', [['x', 'NS', NS], ['y.x', 'A', A], ['y.x', 'TXT', '"x"']], ['y.x A', 'y.x TXT']],
] // prettier-ignore

for (const [kind, fillers] of [
  ['small', 0],
  ['large', SMALL_ZONE + 1],
] as const) {
  let zone: Zone
  test.serial.before(`a ${kind} zone`, async () => {
    zone = await Zone.create(service(), (await service().account()).api, `${kind}.test`)
    await zone.fill(Array.from({ length: fillers }, (_, i) => ({ subname: `f${i}`, type: 'A', records: [A] })))
  })

  for (const [i, [what, writes, asked]] of CASES.entries()) {
    test.serial(`in a ${kind} zone answers and denials are correct and validate when ${what}`, async (t) => {
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

  test.serial(`after these changes a transfer of the ${kind} zone is valid`, async (t) => {
    await t.notThrowsAsync(verifyTransfer(service().powerDns, zone.name, zone.ds))
  })
}

/** How many changes, and how many of the names are validated after each. */
const steps = (short: number, full: number) => ({ steps: depth(short, full), validated: depth(2, 4) })

test.serial('answers and denials of a small zone are correct and validate after every random change', async (t) => {
  await changeAtRandom(t, service(), { zone: 'random-small.test', size: 0, ...steps(20, 250) })
})

test.serial('the same holds for a large zone, which is not rectified when only contents change', async (t) => {
  await changeAtRandom(t, service(), {
    zone: 'random-large.test',
    size: depth(SMALL_ZONE + 20, 2_000),
    ...steps(16, 150),
  })
})

test.serial('the same holds for a zone that grows and shrinks across the limit between small and large', async (t) => {
  await changeAtRandom(t, service(), { zone: 'between.test', size: SMALL_ZONE - 4, ...steps(20, 150) })
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
