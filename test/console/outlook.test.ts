import test from 'ava'
import { chainOf, type Check } from '../../console/dnssec/chain.ts'
import { STATES, stepsOf } from '../../console/dnssec/dnssec.ts'
import { type Facts, outlookOf } from '../../console/dnssec/outlook.ts'

// What the page of a domain's security says in each state of its check and of its rollover.

const SERVER = { name: 'a.nic.test', address: '192.0.2.1', ns: ['ns1.test'], ds: [], problem: null }
const CHECK: Facts['check'] = {
  state: 'secure',
  checked: '2026-01-31T12:00:00Z',
  parent: 'test',
  ds_ttl: 3600,
  nameservers: [SERVER, { ...SERVER, problem: 'does not answer' }],
  problems: [],
}
const SECURE: Facts = { check: CHECK, isSuspended: false, isParentOwn: false, rollover: null }
const ROLLOVER: Facts['rollover'] = { phase: 'publish', waits_for: 'caches', add_ds: [] }
const AT_PARENT: Facts['rollover'] = { phase: 'await-ds', waits_for: 'parent', add_ds: ['1 13 2 00'] }

const checked = (check: Partial<Facts['check']>, rest: Partial<Facts> = {}): Facts => ({
  ...SECURE,
  ...rest,
  check: { ...CHECK, ...check },
})

for (const [what, facts, actor, title] of [
  ['secure', SECURE, 'nobody', 'Nothing is left to do: the domain is secure'],
  ['secure, with a warning', checked({ problems: ['SHA-1'] }), 'you', 'The domain is secure, with a warning'],
  [
    'DS missing',
    checked({ state: 'insecure', ds_ttl: null }),
    'you',
    'One step is left: give your registrar the DS record',
  ],
  ['wrong DS', checked({ state: 'mismatch' }), 'you', 'Act now: correct the DS record at your registrar'],
  ['a DS too many', checked({ state: 'stale' }), 'you', 'One step is left: remove a DS record at your registrar'],
  [
    'not delegated',
    checked({ state: 'not-delegated', ds_ttl: null }),
    'you',
    'Two steps are left: enter the nameservers at your registrar, then the DS record',
  ],
  [
    'other nameservers',
    checked({ state: 'elsewhere', ds_ttl: null }),
    'you',
    'Two steps are left: enter these nameservers at your registrar, then the DS record',
  ],
  [
    'some other nameservers, without DS',
    checked({ state: 'partial', ds_ttl: null }),
    'you',
    'Two steps are left: remove the other nameservers at your registrar, then give it the DS record',
  ],
  [
    'some other nameservers, with DS',
    checked({ state: 'partial' }),
    'you',
    'One step may be left: remove the other nameservers at your registrar',
  ],
  ['changing', checked({ state: 'propagating' }), 'wait', 'Nothing to do but wait: the parent zone is changing'],
  ['unreachable', checked({ state: 'unknown' }), 'wait', 'Nothing to do but wait: the zone above does not answer'],
  [
    'no parent found',
    checked({ state: 'unknown', parent: null }),
    'you',
    'The first step: have the domain registered, with the nameservers below',
  ],
  [
    'not checked',
    checked({ state: 'unknown', checked: null, parent: null }),
    'you',
    'Not checked yet: choose “Check now”',
  ],
  [
    'suspended, whatever else is',
    checked({ state: 'mismatch' }, { isSuspended: true, rollover: AT_PARENT }),
    'operator',
    'Only the operator can act: this domain is suspended',
  ],
  [
    'a rollover that waits for caches',
    checked({}, { rollover: ROLLOVER }),
    'wait',
    'Nothing to do but wait: the key is being replaced',
  ],
  [
    'a rollover before the first DS',
    checked({ state: 'insecure' }, { rollover: ROLLOVER }),
    'wait',
    'Nothing to do but wait: the key is being replaced',
  ],
  [
    'a rollover of a domain with a wrong DS',
    checked({ state: 'mismatch' }, { rollover: ROLLOVER }),
    'you',
    'Act now: correct the DS record at your registrar',
  ],
  [
    'a rollover that waits for the parent',
    checked({ state: 'mismatch' }, { rollover: AT_PARENT }),
    'you',
    'One step is left for you: replace the DS record at your registrar',
  ],
  [
    'a rollover that waits for signers',
    checked({}, { rollover: { ...ROLLOVER, waits_for: 'signers' } }),
    'you',
    'One step is left for you: have the other signers publish the new key',
  ],
  [
    'a parent of one’s own that lacks records',
    checked({ state: 'not-delegated' }, { isParentOwn: true }),
    'you',
    'One step is left: add the records below to test',
  ],
] as const satisfies [string, Facts, string, string][]) {
  test(`${what}: ${title}`, (t) => {
    t.like(outlookOf(facts), { actor, title })
  })
}

test('every state of the check has an outlook, which has the colour of the state or of a warning', (t) => {
  for (const state of Object.keys(STATES)) {
    const { title, text, mood } = outlookOf(checked({ state }))
    t.regex(title, /^\S.*[^.]$/, state)
    t.regex(text, /^\S.*\.$/, state)
    if (state !== 'not-delegated') t.is(mood, STATES[state]!.mood, state)
  }
})

/** A chain in one line, with the links in brackets. */
const drawn = (check: Partial<Check>, tags = ['1'], name = 'shop.test') =>
  chainOf(name, { ...CHECK, ...check }, tags, false)
    .map(({ zone, join }) => (join ? `[${join.mood}: ${join.words}] ${zone}` : zone))
    .join(' ')

for (const [check, chain] of [
  [{ state: 'secure' }, '. [none: not checked] test. [good: DS record] shop.test.'],
  [{ state: 'insecure' }, '. [none: not checked] test. [wait: no DS record] shop.test.'],
  [{ state: 'mismatch' }, '. [none: not checked] test. [bad: wrong DS record] shop.test.'],
  [{ state: 'stale' }, '. [none: not checked] test. [wait: a DS record too many] shop.test.'],
  [{ state: 'not-delegated' }, '. [none: not checked] test. [none: not delegated] shop.test.'],
  [{ state: 'elsewhere' }, '. [none: not checked] test. [bad: other nameservers] shop.test.'],
  [{ state: 'partial' }, '. [none: not checked] test. [good: DS record] shop.test.'],
  [{ state: 'partial', ds_ttl: null }, '. [none: not checked] test. [wait: no DS record] shop.test.'],
  [{ state: 'propagating' }, '. [none: not checked] test. [wait: changing] shop.test.'],
  [{ state: 'unknown' }, '. [none: not checked] test. [none: not known] shop.test.'],
  [{ state: 'unknown', parent: null }, '. [none: not checked] the zone above [none: not known] shop.test.'],
  [
    { state: 'unknown', parent: null, checked: null },
    '. [none: not checked] the zone above [none: not checked] shop.test.',
  ],
  // A domain directly below the root has no zone between.
  [{ state: 'secure', parent: '' }, '. [good: DS record] shop.test.'],
] as const) {
  test(`the chain of ${JSON.stringify(check)}: ${chain}`, (t) => {
    t.is(drawn(check), chain)
  })
}

test('the zones of a chain say what is known of them', (t) => {
  const abouts = (check: Partial<Check>, tags: string[], isSuspended = false) =>
    chainOf('shop.test', { ...CHECK, ...check }, tags, isSuspended).map(({ about }) => about)
  t.deepEqual(abouts({}, ['45785']), ['the root', '1 of 2 servers answered', 'signed here, key 45785'])
  t.deepEqual(abouts({ nameservers: [] }, ['1', '2']), ['the root', 'does not answer', 'signed here, keys 1 and 2'])
  t.deepEqual(abouts({ parent: null }, []), ['the root', 'not found', 'signed here'])
  t.deepEqual(abouts({ checked: null, parent: null }, ['1'], true), [
    'the root',
    'not asked yet',
    'suspended: its nameservers do not answer',
  ])
})

for (const [phase, done] of [
  ['queued', -1],
  ['sign', 0],
  ['publish', 1],
  ['await-ds', 2],
  ['await-ds-ttl', 3],
  ['unpublish', 4],
] as const) {
  test(`a rollover in ${phase} has ${Math.max(done, 0)} of five steps behind it`, (t) => {
    const expected = [0, 1, 2, 3, 4].map((i) => (i < done ? 'done' : i === done ? 'now' : 'next'))
    t.deepEqual(
      stepsOf(phase).map(({ progress }) => progress),
      expected,
    )
  })
}
