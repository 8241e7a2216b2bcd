import test from 'ava'
import { conflictProblem } from '../../src/dns/node.ts'

const TAIL = '. (No other RRsets are allowed alongside CNAME.)'

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
