import test from 'ava'
import fc from 'fast-check'
import { inOrder } from '../../console/model/order.ts'

const labels = fc.array(fc.stringMatching(/^[a-z0-9_-]{1,4}$/), { maxLength: 4 })
const subname = fc.oneof(
  labels.map((some) => some.join('.')),
  labels.map((some) => ['*', ...some].join('.')),
)

/** Compares names as RFC 4034 §6.1 says: label by label from the right, as octets; what ends first comes first. */
function compare(one: string, other: string): number {
  const [ones, others] = [one, other].map((name) => (name === '' ? [] : name.split('.').reverse()))
  for (const [i, label] of ones!.entries()) {
    if (others![i] === undefined) return 1
    const order = Buffer.compare(Buffer.from(label), Buffer.from(others![i]))
    if (order !== 0) return order
  }
  return ones!.length - others!.length
}

test('names are in DNS order, the apex first, and then types', (t) => {
  const places = ['a TXT', '*.z MX', 'z A', ' NS', 'b.a A', 'a A', 'a-b A', ' A', 'z.b.a A', '_x._tcp SRV', '* A']
  const sorted = inOrder(places.map((place) => ({ subname: place.split(' ')[0]!, type: place.split(' ')[1]! })))
  t.deepEqual(
    sorted.map((place) => `${place.subname} ${place.type}`),
    [' A', ' NS', '* A', '_x._tcp SRV', 'a A', 'a TXT', 'b.a A', 'z.b.a A', 'a-b A', 'z A', '*.z MX'],
  )
})

test('the order is that of RFC 4034 §6.1', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(subname, { maxLength: 20 }), (names) => {
      const sorted = inOrder(names.map((name) => ({ subname: name, type: 'A' })))
      t.deepEqual(
        sorted.map((place) => place.subname),
        names.toSorted(compare),
      )
    }),
  )
})
