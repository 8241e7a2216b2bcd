import test from 'ava'
import { conflictProblem } from '../../src/dns/node.ts'

const TAIL = '. (No other RRsets are allowed alongside CNAME.)'

test('types other than CNAME stand side by side', (t) => {
  t.is(
    conflictProblem('A', [
      { source: 0, type: 'TXT' },
      { source: 'database', type: 'DNAME' },
    ]),
    undefined,
  )
  t.is(conflictProblem('CNAME', [{ source: 'database', type: 'CNAME' }]), undefined)
  t.is(conflictProblem('CNAME', []), undefined)
})

test('nothing stands beside a CNAME', (t) => {
  t.is(
    conflictProblem('CNAME', [
      { source: 'database', type: 'TXT' },
      { source: 'database', type: 'A' },
    ]),
    'RRset with conflicting type present at same subname: database (A, TXT)' + TAIL,
  )
  t.is(
    conflictProblem('TXT', [
      { source: 3, type: 'A' },
      { source: 1, type: 'CNAME' },
    ]),
    'RRset with conflicting type present at same subname: 1 (CNAME)' + TAIL,
  )
})

test('positions come in order, the database last', (t) => {
  t.is(
    conflictProblem('CNAME', [
      { source: 'database', type: 'A' },
      { source: 10, type: 'A' },
      { source: 9, type: 'TXT' },
      { source: 'database', type: 'AAAA' },
    ]),
    'RRset with conflicting type present at same subname: 9 (TXT), 10 (A), database (A, AAAA)' + TAIL,
  )
})
