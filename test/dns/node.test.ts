import test from 'ava'
import { conflictProblem } from '../../src/dns/node.ts'

const TAIL = '. (No other RRsets are allowed alongside CNAME.)'

test('types other than CNAME stand side by side', (t) => {
  t.is(
    conflictProblem('A', [
      { place: 0, type: 'TXT' },
      { place: 'database', type: 'DNAME' },
    ]),
    undefined,
  )
  t.is(conflictProblem('CNAME', [{ place: 'database', type: 'CNAME' }]), undefined)
  t.is(conflictProblem('CNAME', []), undefined)
})

test('nothing stands beside a CNAME', (t) => {
  t.is(
    conflictProblem('CNAME', [
      { place: 'database', type: 'TXT' },
      { place: 'database', type: 'A' },
    ]),
    'RRset with conflicting type present at same subname: database (A, TXT)' + TAIL,
  )
  t.is(
    conflictProblem('TXT', [
      { place: 3, type: 'A' },
      { place: 1, type: 'CNAME' },
    ]),
    'RRset with conflicting type present at same subname: 1 (CNAME)' + TAIL,
  )
})

test('positions come in order, the database last', (t) => {
  t.is(
    conflictProblem('CNAME', [
      { place: 'database', type: 'A' },
      { place: 10, type: 'A' },
      { place: 9, type: 'TXT' },
      { place: 'database', type: 'AAAA' },
    ]),
    'RRset with conflicting type present at same subname: 9 (TXT), 10 (A), database (A, AAAA)' + TAIL,
  )
})
