import test from 'ava'
import { filterOf } from '../../console/model/filter.ts'

const RRSETS = [
  { subname: '', type: 'MX', ttl: 3600, records: ['10 mail.example.'] },
  { subname: 'mx1', type: 'A', ttl: 300, records: ['192.0.2.1', '192.0.2.7'] },
  { subname: 'www', type: 'AAAA', ttl: 60, records: ['2001:db8::A', 'shop.test.'] },
  { subname: 'www', type: 'TXT', ttl: 86_400, records: ['"Type:A name:192 (x"'] },
]

/** Filters, and the positions of the RRsets that they find. */
const filters: [filter: string, ...found: number[]][] = [
  ['', 0, 1, 2, 3],
  ['  ', 0, 1, 2, 3],
  ['mx', 0, 1],
  ['MX', 0, 1],
  ['@', 0],
  ['type:a', 1],
  ['type:A', 1],
  ['type:aa'],
  ['192.0.2.', 1],
  ['192.0.2.7', 1],
  ['2001:DB8', 2],
  ['ttl<300', 2],
  ['ttl<=300', 1, 2],
  ['ttl>3600', 3],
  ['ttl>=3600', 0, 3],
  ['ttl=60', 2],
  ['ttl<x'],
  ['www type:txt', 3],
  ['www ttl<300', 2],
  ['(x', 3],
  ['.*'],
  ['name:mx', 1],
  ['name:192'],
  ['name:@', 0],
  ['mx1.shop.test', 1],
  ['MX1.shop.test.', 1],
  ['name:mx1.shop.test', 1],
  ['x1.shop.test'],
  ['shop.test', 0, 2],
  ['name:shop.test.', 0],
  ['mx1.other.test'],
]

test('a filter finds rows by names, types, TTLs and contents', (t) => {
  for (const [filter, ...found] of filters) {
    const isFound = filterOf(filter, 'shop.test')
    t.deepEqual(
      RRSETS.flatMap((rrset, i) => (isFound(rrset) ? [i] : [])),
      found,
      filter,
    )
  }
})
