import test from 'ava'
import { requestOf } from '../../src/service/doors/amendments.ts'

// architecture.md: no request blocks the event loop for long.

test('records that EXTEND compares are read one by one, however many an RRset has', (t) => {
  const rrset = { subname: 'www', type: 'A', ttl: 3600 }
  const records = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  const work = requestOf(
    [],
    [
      { ...rrset, kind: 'REPLACE', records },
      { ...rrset, kind: 'EXTEND', records: ['192.0.2.1'] },
    ],
  )
  let parts = 1
  let part = work.next()
  for (; part.done !== true; part = work.next()) parts++
  t.true(parts > records.length)
  t.deepEqual(part.value[0]!.records, [...records, '192.0.2.1'])
})
