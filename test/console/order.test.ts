import test from 'ava'
import fc from 'fast-check'
import { inOrder } from '../../console/model/order.ts'

const labels = fc.array(fc.stringMatching(/^[a-z0-9_-]{1,4}$/), { maxLength: 4 })
const subname = fc.oneof(
  labels.map((some) => some.join('.')),
  labels.map((some) => ['*', ...some].join('.')),
)

/** Compares labels as octets, but their numbers by size. */
function compareLabels(one: string, other: string): number {
  const [ones, others] = [one, other].map((label) => label.match(/\d+|\D/g) ?? [])
  for (const [i, part] of ones!.entries()) {
    const with_ = others![i]
    if (with_ === undefined) return 1
    const areNumbers = /\d/.test(part) && /\d/.test(with_)
    const order = areNumbers ? Number(part) - Number(with_) : Buffer.compare(Buffer.from(part), Buffer.from(with_))
    if (order !== 0) return order
  }
  return ones!.length - others!.length
}

/** Compares names label by label from the right (RFC 4034 §6.1); what ends first comes first. */
function compare(one: string, other: string, labelwise = compareLabels): number {
  const [ones, others] = [one, other].map((name) => (name === '' ? [] : name.split('.').reverse()))
  for (const [i, label] of ones!.entries()) {
    if (others![i] === undefined) return 1
    const order = labelwise(label, others![i])
    if (order !== 0) return order
  }
  return ones!.length - others!.length
}

const asOctets = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

test('names are in DNS order, the apex first, and then types', (t) => {
  const places = ['a TXT', '*.z MX', 'z A', ' NS', 'b.a A', 'a A', 'a-b A', ' A', 'z.b.a A', '_x._tcp SRV', '* A']
  const sorted = inOrder(places.map((place) => ({ subname: place.split(' ')[0]!, type: place.split(' ')[1]! })))
  t.deepEqual(
    sorted.map((place) => `${place.subname} ${place.type}`),
    [' A', ' NS', '* A', '_x._tcp SRV', 'a A', 'a TXT', 'b.a A', 'z.b.a A', 'a-b A', 'z A', '*.z MX'],
  )
})

test('the order is that of RFC 4034 §6.1, but for numbers', (t) => {
  const some = ['s10', 's2', 's1', 's01', 's', 's2.a10', 's2.a9'].map((name) => ({ subname: name, type: 'A' }))
  t.deepEqual(
    inOrder(some).map((place) => place.subname),
    ['s2.a9', 's2.a10', 's', 's01', 's1', 's2', 's10'],
  )
  fc.assert(
    fc.property(fc.uniqueArray(subname, { maxLength: 20 }), (names) => {
      const sorted = inOrder(names.map((name) => ({ subname: name, type: 'A' })))
      t.deepEqual(
        sorted.map((place) => place.subname),
        // Leading zeros decide only between names that are equal else.
        names.toSorted((one, other) => compare(one, other) || compare(one, other, asOctets)),
      )
    }),
  )
})
