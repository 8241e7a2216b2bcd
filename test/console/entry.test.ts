import test from 'ava'
import { execFileSync } from 'node:child_process'
import { curlCommand } from '../../console/records/curl.ts'
import { entryOf, judge, retyped, wholeProblems, withText, withValue } from '../../console/rrsets/entry.ts'
import { ownerOf } from '../../console/rrsets/owner.ts'
import { atMost, ttlProblem, typedTtl, usualTtl } from '../../console/rrsets/ttl.ts'
import { zoneLines } from '../../console/rrsets/zone-lines.ts'
import { readZoneFile } from '../../src/dns/zonefile.ts'

// What is typed in the forms of the records page, and what is copied from there.

test('an entry is in fields as long as it can be', (t) => {
  const mx = entryOf('MX', '')
  t.deepEqual(mx.values, ['', ''])
  t.deepEqual(judge(mx, 'x.test'), { problem: 'Fill this in, or remove it.', at: 0 })
  const typed = withValue(withValue(mx, 0, '10'), 1, 'mail')
  t.like(judge(typed, 'x.test'), {
    rdata: { text: '10 mail.x.test.' },
    taken: { answers: ['mail.x.test.', 'mail.'] },
  })
  const foreign = judge(withValue(typed, 1, 'mx1.postbox.example'), 'x.test')
  t.is(foreign.rdata?.text, '10 mx1.postbox.example.')
  const whole = withText(typed, '10 mail.')
  t.deepEqual([whole.values, judge(whole, 'x.test').rdata?.text], [['10', 'mail.'], '10 mail.'])
  t.is(withText(whole, '10 mail. x').values, undefined)
})

test('what was typed stays where it fits another type; else its fields are empty', (t) => {
  const values = (from: string, records: string[], to: string) =>
    retyped(
      records.map((record) => entryOf(from, record)),
      to,
      'x.test',
    ).map((entry) => entry.values)
  t.deepEqual(values('NS', ['ns1.example.', 'ns2'], 'CNAME'), [['ns1.example.'], ['ns2']])
  t.deepEqual(values('MX', ['10 mail.example.', '20 mail'], 'A'), [['']])
  t.deepEqual(values('A', ['192.0.2.1'], 'AAAA'), [['']])
  t.deepEqual(values('TXT', ['', '"a"'], 'MX'), [['', '']])
  t.deepEqual(values('HTTPS', ['1 a.', '1 . alpn=h2'], 'SVCB'), [
    ['1', 'a.', ''],
    ['1', '.', 'alpn=h2'],
  ])
})

test('of a text without quotes, the quotes are offered', (t) => {
  t.deepEqual(judge(withText(entryOf('TXT', '"a"'), 'v=spf1 -all'), 'x.test'), {
    ...{ problem: 'A text stands in quotes.', at: 0, quoted: '"v=spf1 -all"', taken: undefined },
  })
  t.is(judge(entryOf('TXT', 'a "b'), 'x.test').quoted, undefined)
})

test('an RRset is checked as a whole', (t) => {
  const problems = (type: string, subname: string, ...records: string[]) =>
    wholeProblems(
      { subname, type },
      'x.test',
      records.map((record) => judge(entryOf(type, record), 'x.test')),
    )
  t.deepEqual(problems('A', 'www', '192.0.2.1', '192.0.2.2'), [])
  t.deepEqual(problems('A', 'www', '192.0.2.1', '192.0.2.1'), ['Duplicate: records must be semantically unique'])
  t.deepEqual(problems('CNAME', '', 'a.'), ['CNAME RRset cannot have empty subname.'])
  t.deepEqual(problems('A', 'www'), ['Add a value, or delete the record set.'])
  t.is(problems('A', 'www', '192.0.2.1', 'x'), undefined)
})

test('a name is relative to the domain, or has it at its end', (t) => {
  const names: [typed: string, owner: ReturnType<typeof ownerOf>][] = [
    ['www', { subname: 'www' }],
    [' WWW ', { subname: 'www' }],
    ['@', { subname: '' }],
    ['x.test.', { subname: '' }],
    ['*.a', { subname: '*.a' }],
    ['_dmarc', { subname: '_dmarc' }],
    ['www.x.test.', { subname: 'www' }],
    ['Autoconfig.X.test', { subname: 'autoconfig' }],
    ['www.x.test.x.test.', { subname: 'www.x.test' }],
    ['x.test', { subname: '' }],
    ['wwwx.test', { subname: 'wwwx.test' }],
    ['www.y.test.', { problems: ['www.y.test. is not in x.test.'] }],
    ['', { problems: ['Type @ for x.test itself.'] }],
  ]
  for (const [typed, owner] of names) t.deepEqual(ownerOf(typed, 'x.test'), owner, typed)
  for (const typed of ['a..b', 'a b', '.', '<img>', 'a\\000', 'ü x', '.x.test.', '.x.test']) {
    t.true('problems' in ownerOf(typed, 'x.test'), typed)
  }
})

test('a new RRset begins with the TTL that most have, or the minimum', (t) => {
  const rrsets = [60, 300, 300].map((ttl) => ({ subname: '', type: 'A', ttl, records: [] }))
  t.deepEqual([usualTtl(rrsets, 60), usualTtl(rrsets, 900), usualTtl([], 60)], [300, 900, 3600])
  for (const [typed, isOne] of [
    ['60', true],
    ['86400', true],
    ['59', false],
    ['86401', false],
    [' 1d ', true],
    ['5 Minutes', true],
    ['1h', true],
    ['1 day', true],
    ['59s', false],
    ['25h', false],
    ['1 month', false],
    ['1.5h', false],
    ['x', false],
    ['', false],
  ] as const) {
    t.is(ttlProblem(typed, 60) === undefined, isOne, typed)
  }
  t.deepEqual(['90', '90s', '5m', '2 hours', '1d'].map(typedTtl), [90, 90, 300, 7200, 86_400])
})

test('the longest time that something can last is told in few figures, and is not shorter', (t) => {
  t.deepEqual([45, 300, 301, 5400, 82_799, 86_400].map(atMost), [
    '45 seconds', '5 minutes', '6 minutes', '90 minutes', '23 hours', '1 day',
  ]) // prettier-ignore
})

test('rows are copied as lines that a zone file can hold', (t) => {
  const rrsets = [
    { subname: '', type: 'MX', ttl: 60, records: ['10 a.', '20 b.'] },
    { subname: '*.a', type: 'TXT', ttl: 300, records: ['"; \\" \\\\ ("'] },
  ]
  const lines = zoneLines('x.test', rrsets)
  t.is(lines, 'x.test.\t60\tIN\tMX\t10 a.\nx.test.\t60\tIN\tMX\t20 b.\n*.a.x.test.\t300\tIN\tTXT\t"; \\" \\\\ ("\n')
  const steps = readZoneFile(lines, 'x.test')
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  t.like(step.value, rrsets)
})

test('the command sends the same body, whatever is in it, and the token of the environment', (t) => {
  const body = [{ records: ['it\'s $HOME `x` \\ "q"', 'x'.repeat(200_000), 'END', '\n', '<img src=x>'] }]
  const headers = { 'If-Match': `"it's"` }
  const command = curlCommand({ method: 'PATCH', url: 'https://x.test/a', headers, body })
  t.notRegex(command, /Token [^$]/)
  const script = `TOKEN=secret; curl() { for part; do printf '%s\\0' "$part"; done; cat; }\n${command}`
  const printed = execFileSync('sh', { input: script, maxBuffer: 2 ** 24 })
    .toString()
    .split('\0')
  t.deepEqual(printed.slice(0, -1), [
    '-X', 'PATCH', 'https://x.test/a', '-H', 'Authorization: Token secret', '-H', `If-Match: "it's"`, '--data-binary', '@-',
  ]) // prettier-ignore
  t.deepEqual(JSON.parse(printed.at(-1)!), body)
})
