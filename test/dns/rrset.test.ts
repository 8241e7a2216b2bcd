import test from 'ava'
import { parseRdata } from '../../src/dns/rdata.ts'
import { MAX_RECORDS, rrsetProblems, sizeProblems } from '../../src/dns/rrset.ts'

function problems(type: string, records: string[], name = 'a.example.', apex = false) {
  return rrsetProblems({ type, name, apex, rdata: records.map((record) => parseRdata(type, record)) })
}

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
}

/** An owner name of so many octets on the wire. */
function owner(octets: number): string {
  return 'a.'.repeat((octets - 3) / 2) + (octets % 2 ? 'a.' : 'aa.')
}

test('a set of different records is fine', (t) => {
  t.is(problems('A', ['192.0.2.1', '192.0.2.2']), undefined)
  t.is(problems('TXT', ['"A"', '"a"']), undefined)
})

test('records are compared in DNSSEC canonical form', (t) => {
  const duplicate = { texts: ['Duplicate: records must be semantically unique'] }
  t.deepEqual(problems('AAAA', ['::1', '0::1']), duplicate)
  t.deepEqual(problems('NS', ['ns.example.', 'NS.example.']), duplicate)
  for (const type of ['HTTPS', 'SVCB', 'LP']) t.deepEqual(problems(type, ['1 a.ex.', '1 A.Ex.']), duplicate, type)
  t.deepEqual(problems('SRV', ['1 2 3 a.', '1 2 3 b.', '01 2 3 \\065.']), duplicate)
})

test('the number and the JSON length of records are limited', (t) => {
  t.deepEqual(sizeProblems(addresses(MAX_RECORDS).map(() => '1.2.3.4')), [])
  t.deepEqual(sizeProblems(Array<string>(4092).fill('')), ['Ensure this field has no more than 4091 elements.'])
  t.deepEqual(sizeProblems(['a'.repeat(63_996)]), [])
  t.deepEqual(sizeProblems(['a'.repeat(63_997)]), [
    'Ensure this field has no more than 64000 characters after JSON encoding (it has 64001).',
  ])
  t.deepEqual(sizeProblems(Array<string>(30_000).fill('"')), [
    'Ensure this field has no more than 4091 elements.',
    'Ensure this field has no more than 64000 characters after JSON encoding (it has 150001).',
  ])
})

test('characters outside the basic plane count once', (t) => {
  t.deepEqual(sizeProblems(['\u{1f600}'.repeat(63_996)]), [])
})

test('the size counts again once strings are cut and escaped', (t) => {
  const input = [`"${'a'.repeat(63_000)}"`]
  t.deepEqual(sizeProblems(input), [])
  t.deepEqual(problems('TXT', input), {
    field: 'records',
    texts: ['Ensure this field has no more than 64000 characters after JSON encoding (it has 64243).'],
  })
})

test('an RRset fits one DNS message', (t) => {
  t.is(owner(63).length, 62)
  t.is(problems('A', addresses(4091), owner(63)), undefined)
  t.deepEqual(problems('A', addresses(4091), owner(64)), {
    texts: ['Total length of RRset exceeds limit by 1 bytes.'],
  })
  const short = Array.from({ length: 3700 }, (_, i) => `0 0 ${i} a.`)
  t.is(problems('SRV', short.slice(0, 1)), undefined)
  t.deepEqual(problems('SRV', short), {
    texts: [`Total length of RRset exceeds limit by ${12 + 15 + 3700 * 21 - 65535} bytes.`],
  })
})

test('rules of types, all that apply', (t) => {
  const apex = ['example.', true] as const
  t.is(problems('CNAME', ['a.']), undefined)
  t.deepEqual(problems('CNAME', ['a.', 'b.']), { texts: ['CNAME RRset cannot have multiple records.'] })
  t.deepEqual(problems('CNAME', ['a.', 'b.'], ...apex), {
    texts: ['CNAME RRset cannot have multiple records.', 'CNAME RRset cannot have empty subname.'],
  })
  t.is(problems('DS', ['0 0 5 00', '0 0 5 01']), undefined)
  t.deepEqual(problems('DS', ['0 0 5 00'], ...apex), { texts: ['DS RRset cannot have empty subname.'] })
  t.is(problems('NS', ['a.'], ...apex), undefined)
})
