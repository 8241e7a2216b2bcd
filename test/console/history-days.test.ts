import test from 'ava'
import { authorOf, byDay, dayWords, deedOf, valuesIn } from '../../console/history/history.ts'
import type { State } from '../../console/rrsets/rrset.ts'

// What the page of a domain's history says of its entries.

const ENTRY = {
  source: 'api',
  owner: 'ada@shop.test',
  token: null,
  count: 0,
  event: null,
  rollover: null,
  changes: null,
}
const state = { ttl: 300, records: ['192.0.2.1'] }
const change = (subname: string) => ({ subname, type: 'A', before: null, after: state })

test('an entry names up to three changes, and counts the others', (t) => {
  const changes = ['a', 'b', 'c', 'd'].map(change)
  t.deepEqual(deedOf({ ...ENTRY, count: 5, changes }), { named: changes.slice(0, 3), rest: '2 more' })
  t.deepEqual(deedOf({ ...ENTRY, count: 1, changes: changes.slice(3) }), { named: changes.slice(3), rest: '' })
  t.deepEqual(deedOf({ ...ENTRY, count: 4000 }), { named: [], rest: '4,000 record sets' })
  t.deepEqual(deedOf({ ...ENTRY, event: 'deletion', count: 1, changes }), { named: [], rest: 'Domain deleted · 1 record set' }) // prettier-ignore
  const rollover = { action: 'cancel', phase: 'sign' }
  t.deepEqual(deedOf({ ...ENTRY, rollover, changes: [] }), { named: [], rest: 'Key replacement cancelled.' })
})

test('a line has the values of a change if they are short', (t) => {
  const of = (before: State | null, after: State | null) => valuesIn({ subname: '', type: 'A', before, after })
  const [one, two] = ['192.0.2.1', '192.0.2.2']
  t.is(of(null, state), one)
  t.is(of(state, null), one)
  t.is(of(state, { ttl: 300, records: [two] }), `${one} → ${two}`)
  t.is(of(state, { ttl: 300, records: [one, two] }), `+ ${two}`)
  t.is(of({ ttl: 300, records: [one, two] }, state), `− ${two}`)
  t.is(of(state, { ttl: 3600, records: [two] }), `${one} → ${two}, TTL 5 minutes → 1 hour`)
  t.is(of(null, { ttl: 300, records: [one, two] }), '')
  t.is(of(null, { ttl: 300, records: ['x'.repeat(61)] }), `${'x'.repeat(60)}…`)
})

test('one change of the TTL of many record sets is said in one', (t) => {
  const changes = ['a', 'b', 'c', 'd'].map((subname) => ({ subname, type: 'A', before: { ...state, ttl: 86_400 }, after: state })) // prettier-ignore
  t.deepEqual(deedOf({ ...ENTRY, count: 4, changes }), { named: [], rest: 'TTL 1 day → 5 minutes on 4 record sets' })
  const others = [...changes.slice(1), change('a')]
  t.is(deedOf({ ...ENTRY, count: 4, changes: others }).named.length, 3)
})

test('an entry names its author, and how that wrote', (t) => {
  const by = (token: string | null, more: Partial<typeof ENTRY> = {}) =>
    authorOf({ ...ENTRY, token: { name: token }, ...more }, 'ada@shop.test')
  t.is(by('ci'), 'token “ci”')
  t.is(by(''), 'a token')
  t.is(by(null), 'a token that was deleted')
  t.is(by('null'), 'token “null”')
  t.is(by('ci', { owner: 'grace@shop.test' }), 'token “ci” of grace@shop.test')
  t.is(by('login', { owner: 'grace@shop.test' }), 'grace@shop.test')
  t.is(by('login', { owner: 'grace@shop.test', source: 'zonefile' }), 'grace@shop.test (zone file)')
  t.is(by('login', { owner: 'ada@shop.test' }), 'token “login”')
  t.is(by('nas', { source: 'dyndns' }), 'token “nas” (dynamic DNS)')
  t.is(by('dhcp', { source: 'update' }), 'token “dhcp” (DNS UPDATE)')
  const without = (more: object) => authorOf({ ...ENTRY, ...more }, 'ada@shop.test')
  t.is(without({}), 'the API')
  t.is(without({ source: 'operator' }), 'the operator')
  t.is(without({ source: 'rollover', rollover: { action: 'advance', phase: 'publish' } }), 'the service')
})

test('entries are told apart by day', (t) => {
  const at = (day: number, hour: number) => ({ created: new Date(2026, 2, day, hour, 30).toISOString() })
  const entries = [at(30, 23), at(30, 0), at(29, 23), at(27, 12)]
  const days = byDay(entries)
  t.deepEqual(
    days.map((each) => each.entries),
    [entries.slice(0, 2), entries.slice(2, 3), entries.slice(3)],
  )
  // Clocks may have changed between these days.
  const words = days.map(({ day }) => dayWords(day, new Date(2026, 2, 30, 1)))
  t.deepEqual(words.slice(0, 2), ['Today', 'Yesterday'])
  t.regex(words[2]!, /27/)
})
