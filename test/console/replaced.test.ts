import test from 'ava'
import { replaced } from '../../console/model/rrset.ts'

// A text is replaced in records where it stands for itself.

const ADDRESS = '192.0.2.1'

const cases: [record: string, text: string, other: string, after: string][] = [
  ['192.0.2.1', ADDRESS, '203.0.113.9', '203.0.113.9'],
  ['192.0.2.10', ADDRESS, '203.0.113.9', '192.0.2.10'],
  ['1192.0.2.1', ADDRESS, '203.0.113.9', '1192.0.2.1'],
  ['192.0.2.1.example.org.', ADDRESS, '203.0.113.9', '192.0.2.1.example.org.'],
  ['"v=spf1 ip4:192.0.2.1 ip4:192.0.2.1/32 -all"', ADDRESS, '203.0.113.9', '"v=spf1 ip4:203.0.113.9 ip4:203.0.113.9/32 -all"'],
  ['2001:db8::1', '2001:db8::1', '2001:db8::2', '2001:db8::2'],
  ['2001:db8::1', 'db8::1', '1', '2001:db8::1'],
  ['1:2::3', '2::3', '1', '1:2::3'],
  ['"v=spf1 ip6:2001:db8::1 -all"', '2001:db8::1', '::2', '"v=spf1 ip6:::2 -all"'],
  ['2001:db8::1:5', '2001:db8::1', '2001:db8::2', '2001:db8::1:5'],
  ['10 Mail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 mx.example.net.'],
  ['10 webmail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 webmail.example.org.'],
  ['10 web.mail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 web.mail.example.org.'],
  ['"a.c abc"', 'a.c', '$&', '"$& abc"'],
  ['"(x) x"', '(x)', 'y', '"y x"'],
] // prettier-ignore

test('not in a longer number, word, name or address', (t) => {
  for (const [record, text, other, after] of cases) t.is(replaced(record, text, other), after, record)
})
