import test from 'ava'
import { BOUND, type Event, type History, NONE, type Outcome, SOME, type Values, violations } from './history.ts'

// The checker of histories finds each kind of violation, and accepts what concurrency and late requests explain.

const A = (value: string): Values => ({ 'a address': value })
const B = (value: string): Values => ({ 'b address': value })

const write = (from: number, to: number, sets: Values, outcome: Outcome = 'done', needs: Values = {}): Event => ({
  kind: 'write',
  text: `write of ${Object.values(sets).join()}`,
  from,
  to,
  sets,
  needs,
  outcome,
})
const read = (from: number, to: number, seen: Values): Event => ({ kind: 'read', from, to, seen })
const look = (from: number, to: number, seen: Values): Event => ({ kind: 'look', from, to, seen })
const serial = (at: number, serial: number): Event => ({ kind: 'serial', from: at, to: at + 1, serial })
const push = (from: number, to: number, serial: number): Event => ({ kind: 'push', from, to, serial })

const HEALED = 1_000
const LONG_AFTER = HEALED + BOUND + 1_000
const SETTLED = LONG_AFTER + 1_000

function found(events: Event[]): string[] {
  const history: History = { events, healed: HEALED, settled: SETTLED }
  return violations(history)
}

const overwriting = [write(0, 10, A('1')), write(20, 30, A('2'))]
const concurrent = [write(0, 10, A('1')), write(5, 15, A('2'))]
const bulk = [write(0, 10, { ...A('1'), ...B('1') }), write(20, 30, { ...A('2'), ...B('2') })]
const late = [push(0, 500, 1), push(25, 28, 2)]

const mailing = (outcome: Outcome): Event => ({
  ...{ kind: 'mailing', text: 'a sign-up', from: 0, to: 10 },
  ...{ address: 'a@example.test', outcome },
})
const mail = (id: string): Event => ({ kind: 'delivery', from: 20, to: 20, address: 'a@example.test', id })

const wrong: [what: string, events: Event[], text: RegExp][] = [
  ['an answer that nothing explains', [write(0, 10, A('1'), 'unexpected')], /unexpected answer/],
  ['an answer to a sign-up that nothing explains', [mailing('unexpected')], /unexpected answer/],
  ['an acknowledged mail does not arrive', [mailing('done')], /no mail arrived/],
  ['a mail arrives twice as another one', [mailing('done'), mail('1'), mail('2')], /2 mails, not one again/],
  ['a refused mail arrives', [mailing('refused'), mail('1')], /a mail arrived/],
  ['a failed mail arrives', [mailing('failed'), mail('1')], /a mail arrived/],

  ['the API shows an overwritten value', [...overwriting, read(40, 50, A('1'))], /no order .* a address 1/],
  ['the API does not show an acknowledged value', [write(0, 10, A('1')), read(20, 30, A(NONE))], /no order/],
  ['the API shows a deleted value', [write(0, 10, A('1')), write(20, 30, A(NONE)), read(40, 50, A('1'))], /no order/],
  ['the API shows a value before it was sent', [read(0, 10, A('1')), write(20, 30, A('1'))], /no order/],
  ['the API shows a refused value', [write(0, 10, A('1'), 'refused'), read(20, 30, A('1'))], /was refused/],
  ['the API shows a failed value', [write(0, 10, A('1'), 'failed'), read(20, 30, A('1'))], /was refused/],
  ['the API shows a value that nobody sent', [read(20, 30, A('1'))], /was refused/],
  [
    'the API shows concurrent writes in both orders',
    [...concurrent, read(20, 21, A('1')), read(22, 23, A('2'))],
    /no order/,
  ],
  [
    'the API shows a half of a bulk write',
    [...bulk.slice(0, 1), write(20, 60, { ...A('2'), ...B('2') }), read(30, 40, { ...A('2'), ...B('1') })],
    /no order/,
  ],
  [
    'the API shows an unknown write, then not, then again',
    [write(0, 10, A('1'), 'unknown'), read(20, 21, A('1')), read(22, 23, A(NONE)), read(24, 25, A('1'))],
    /no order/,
  ],
  [
    'a write on condition of a value succeeds after that was overwritten',
    [...overwriting, write(40, 50, A('3'), 'done', A('1'))],
    /no order .* write of 3/,
  ],
  [
    'a change of an RRset succeeds after its deletion',
    [write(0, 10, A('1')), write(20, 30, A(NONE)), write(40, 50, { 'a ttl': '60' }, 'done', A(SOME))],
    /no order .* write of 60/,
  ],

  [
    'DNS shows an overwritten value',
    [...overwriting, look(40, 50, A('1'))],
    /a address 1 was overwritten by write of 2/,
  ],
  ['DNS does not show an acknowledged value', [write(0, 10, A('1')), look(20, 30, A(NONE))], /none was overwritten/],
  [
    'DNS shows a deleted value',
    [write(0, 10, A('1')), write(20, 30, A(NONE)), look(40, 50, A('1'))],
    /was overwritten/,
  ],
  ['DNS shows a refused value', [...late, write(0, 10, A('1'), 'refused'), look(20, 30, A('1'))], /was refused/],
  ['DNS shows a value before it was sent', [look(0, 10, A('1')), write(20, 30, A('1'))], /was refused, or never sent/],
  [
    'DNS shows a failed value in the end',
    [write(0, 10, A('1'), 'failed'), look(LONG_AFTER, LONG_AFTER, A('1'))],
    /failed/,
  ],
  [
    'DNS shows a failed value after a later write',
    [write(0, 10, A('1'), 'failed'), write(20, 30, A('2')), look(40, 50, A('1'))],
    /was overwritten by write of 2/,
  ],
  [
    'DNS shows an unknown value after a later write',
    [write(0, 10, A('1'), 'unknown'), write(20, 30, A('2')), look(40, 50, A('1'))],
    /was overwritten by write of 2/,
  ],
  [
    'DNS shows the old value after the new one of a write that is not answered yet',
    [...overwriting.slice(0, 1), write(20, 60, A('2')), look(30, 31, A('2')), look(32, 33, A('1'))],
    /was overwritten by write of 2/,
  ],
  [
    'DNS shows a half of a bulk write',
    [...bulk.slice(0, 1), write(20, 60, { ...A('2'), ...B('2') }), look(30, 31, A('2')), look(32, 33, B('1'))],
    /was overwritten by write of 2,2/,
  ],
  [
    'DNS shows a half of a bulk write after PowerDNS has answered',
    [
      ...bulk.slice(0, 1),
      write(20, 60, { ...A('2'), ...B('2') }),
      ...[push(25, 35, 1), look(30, 31, A('2')), look(36, 37, B('1'))],
    ],
    /was overwritten by write of 2,2/,
  ],
  [
    'DNS shows an overwritten value for long after a late change',
    [...late, ...overwriting, look(LONG_AFTER, LONG_AFTER, A('1'))],
    /was overwritten/,
  ],
  [
    'DNS shows an overwritten value after all repairs',
    [push(0, SETTLED, 1), push(25, 28, 2), ...overwriting, look(SETTLED + 1, SETTLED + 2, A('1'))],
    /was overwritten/,
  ],
  ['the serial goes back', [serial(0, 2), serial(10, 1)], /after serial 2/],
  [
    'the serial is back for long after a late change',
    [...late, serial(30, 2), serial(LONG_AFTER, 1)],
    /after serial 2/,
  ],
]

for (const [what, events, text] of wrong) {
  test(`a violation is found: ${what}`, (t) => {
    const texts = found(events)
    t.is(texts.length, 1, texts.join('\n'))
    t.regex(texts[0]!, text)
  })
}

const right: [what: string, events: Event[]][] = [
  ['the API shows either of two concurrent writes', [...concurrent, read(20, 30, A('1')), read(31, 32, A('1'))]],
  [
    'the API shows the old value or the new one during a write',
    [...overwriting, read(25, 35, A('1')), read(36, 37, A('2'))],
  ],
  [
    'the API shows an unknown value late',
    [write(0, 10, A('1'), 'unknown'), read(20, 30, A(NONE)), read(40, 50, A('1'))],
  ],
  ['an unknown write had no effect', [...overwriting, write(25, 35, A('3'), 'unknown'), read(40, 50, A('2'))]],
  [
    'a change of an RRset relies on an unknown creation that nobody saw',
    [
      write(0, 10, A('1'), 'unknown'),
      write(20, 30, { 'a ttl': '60' }, 'done', A(SOME)),
      read(40, 50, { 'a ttl': '60' }),
    ],
  ],
  ['an unknown deletion is seen', [write(0, 10, A('1')), write(20, 30, A(NONE), 'unknown'), read(40, 50, A(NONE))]],
  ['a write on condition of the present value succeeds', [...overwriting, write(40, 50, A('3'), 'done', A('2'))]],
  ['DNS shows either of two concurrent writes', [...concurrent, look(20, 30, A('1'))]],
  ['DNS shows a value before its answer', [write(0, 10, A('1')), look(5, 6, A('1'))]],
  [
    'DNS shows a failed value until its repair',
    [write(0, 10, A('1'), 'failed'), look(20, 30, A('1')), look(40, 50, A(NONE))],
  ],
  [
    'DNS shows a failed value after a deletion of what did not exist',
    [write(0, 10, A('1'), 'failed'), write(20, 30, A(NONE)), look(40, 50, A('1'))],
  ],
  [
    'DNS shows a failed value after a bulk write that deletes what did not exist',
    [write(0, 10, A('1'), 'failed'), write(20, 30, { ...A(NONE), ...B('2') }), look(40, 50, A('1'))],
  ],
  [
    'DNS shows a half of a bulk write until PowerDNS has answered',
    [
      ...bulk.slice(0, 1),
      write(20, 60, { ...A('2'), ...B('2') }),
      ...[push(25, 35, 1), look(30, 31, A('2')), look(32, 33, B('1'))],
    ],
  ],
  ['DNS shows an overwritten value after a late change', [...late, ...overwriting, look(501, 502, A('1'))]],
  ['the serial goes back after a late change', [...late, serial(30, 2), serial(501, 1)]],
  ['an acknowledged mail arrives, and again', [mailing('done'), mail('1'), mail('1')]],
  ['an unknown mail arrives', [mailing('unknown'), mail('1')]],
  ['an unknown mail does not arrive', [mailing('unknown')]],
  ['the serial grows', [serial(0, 1), serial(10, 1), serial(20, 2)]],
]

for (const [what, events] of right) {
  test(`no violation is found: ${what}`, (t) => {
    t.deepEqual(found(events), [])
  })
}
