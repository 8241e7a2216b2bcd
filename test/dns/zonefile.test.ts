import test, { type ExecutionContext } from 'ava'
import { SUBNAME_RULE } from '../../src/dns/names.ts'
import { ZoneFileError, type ZoneFileRRset } from '../../src/dns/zone-problems.ts'
import { readZoneFile } from '../../src/dns/zonefile.ts'

// records.md §5, contract §7.7.

const DOMAIN = 'x.test'

/** The RRsets of a zone file for x.test. */
function read(text: string, domain = DOMAIN): ZoneFileRRset[] {
  const steps = readZoneFile(text, domain)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Each RRset as `subname ttl type content, content`. */
function brief(text: string): string[] {
  return read(text).map(
    ({ subname, ttl, type, records }) => `${subname || '@'} ${ttl ?? '-'} ${type} ${records.join(', ')}`,
  )
}

const many = (text: string, times: number) => text.repeat(times)

/** A zone file, and the RRsets that are read from it. */
const accepted: [what: string, text: string, ...rrsets: string[]][] = [
  ['nothing', ''],
  ['blanks alone', ' \n\t\n\r\n \n'],
  ['comments alone', '; one\n;two'],
  ['a relative name', 'www 300 IN A 192.0.2.1\n', 'www 300 A 192.0.2.1'],
  ['an absolute name', 'www.x.test. 300 IN A 192.0.2.1\n', 'www 300 A 192.0.2.1'],
  ['the origin', '@ 300 IN A 192.0.2.1\n', '@ 300 A 192.0.2.1'],
  ['the domain by its name', 'x.test. 300 IN A 192.0.2.1\n', '@ 300 A 192.0.2.1'],
  ['a final line without line break', 'a 1 A 192.0.2.1\nb 1 A 192.0.2.2', 'a 1 A 192.0.2.1', 'b 1 A 192.0.2.2'],
  ['CRLF', 'a 1 A 192.0.2.1\r\nb 1 A 192.0.2.2\r\n', 'a 1 A 192.0.2.1', 'b 1 A 192.0.2.2'],
  ['CRLF and comments', 'a 1 A 192.0.2.1 ; x\r\n;\r\nb 1 A 192.0.2.2', 'a 1 A 192.0.2.1', 'b 1 A 192.0.2.2'],
  ['a BOM', '\ufeffa 1 A 192.0.2.1', 'a 1 A 192.0.2.1'],
  ['a BOM before a directive', '\ufeff$TTL 7\na A 192.0.2.1', 'a 7 A 192.0.2.1'],
  ['tabs', 'a\t1\tIN\tA\t192.0.2.1\t', 'a 1 A 192.0.2.1'],
  ['class after TTL', 'a 5 IN A 192.0.2.1', 'a 5 A 192.0.2.1'],
  ['class before TTL', 'a IN 5 A 192.0.2.1', 'a 5 A 192.0.2.1'],
  ['class alone', 'a IN A 192.0.2.1', 'a - A 192.0.2.1'],
  ['neither class nor TTL', 'a A 192.0.2.1', 'a - A 192.0.2.1'],
  ['class and type in lower case', 'a in a 192.0.2.1', 'a - A 192.0.2.1'],
  ['an owner called like a type', 'A A 192.0.2.1', 'a - A 192.0.2.1'],
  ['an owner called like a class', 'IN IN A 192.0.2.1', 'in - A 192.0.2.1'],
  ['an owner called like a TTL', '10 20 A 192.0.2.1', '10 20 A 192.0.2.1'],
  ['an owner of letters to be lowered', 'WwW A 192.0.2.1', 'www - A 192.0.2.1'],
  ['the domain in capitals', 'www.X.TEST. A 192.0.2.1', 'www - A 192.0.2.1'],
  ['an owner with escapes', '\\119\\w\\087 A 192.0.2.1', 'www - A 192.0.2.1'],
  ['a wildcard', '*.a A 192.0.2.1', '*.a - A 192.0.2.1'],
  ['a wildcard escaped', '\\*.a A 192.0.2.1', '*.a - A 192.0.2.1'],
  ['underscores', '_sip._tcp 1 SRV 1 2 3 host', '_sip._tcp 1 SRV 1 2 3 host.x.test.'],

  ['a blank owner', 'a 1 A 192.0.2.1\n 1 TXT "t"', 'a 1 A 192.0.2.1', 'a 1 TXT "t"'],
  ['a blank owner after a comment', 'a 1 A 192.0.2.1\n; x\n\n\t1 TXT "t"', 'a 1 A 192.0.2.1', 'a 1 TXT "t"'],
  ['a blank owner after $ORIGIN', 'a 1 A 192.0.2.1\n$ORIGIN b\n 1 TXT "t"', 'a 1 A 192.0.2.1', 'a 1 TXT "t"'],
  ['a blank owner at the beginning', ' 1 A 192.0.2.1', '@ 1 A 192.0.2.1'],
  ['a blank owner outside', 'b.test. 1 A 192.0.2.1\n 1 TXT bare\na 1 A 192.0.2.1', 'a 1 A 192.0.2.1'],

  ['$ORIGIN, relative', '$ORIGIN sub\na 1 A 192.0.2.1\n@ 1 A 192.0.2.2', 'a.sub 1 A 192.0.2.1', 'sub 1 A 192.0.2.2'],
  ['$ORIGIN, absolute', '$ORIGIN sub.x.test.\na 1 A 192.0.2.1', 'a.sub 1 A 192.0.2.1'],
  ['$ORIGIN, twice', '$ORIGIN b\n$ORIGIN c\na 1 MX 1 m', 'a.c.b 1 MX 1 m.c.b.x.test.'],
  ['$ORIGIN, the root', '$ORIGIN .\nx.test 1 A 192.0.2.1\ntest 1 A 192.0.2.1', '@ 1 A 192.0.2.1'],
  ['$ORIGIN in lower case', '$origin sub\na 1 A 192.0.2.1', 'a.sub 1 A 192.0.2.1'],
  ['$ORIGIN in capitals', '$ORIGIN X.TEST.\na 1 A 192.0.2.1', 'a 1 A 192.0.2.1'],
  ['$ORIGIN with a comment', '$ORIGIN sub ; x\na 1 A 192.0.2.1', 'a.sub 1 A 192.0.2.1'],
  ['$ORIGIN in parentheses', '$ORIGIN (\nsub )\na 1 A 192.0.2.1', 'a.sub 1 A 192.0.2.1'],
  ['$ORIGIN of another domain', '$ORIGIN other.test.\na 1 A 192.0.2.1\nb.x.test. 1 A 192.0.2.2', 'b 1 A 192.0.2.2'],
  ['# as a comment, below the root', '$ORIGIN .\n# a comment\nx.test 1 A 192.0.2.1', '@ 1 A 192.0.2.1'],

  ['$TTL', '$TTL 300\na A 192.0.2.1\nb 5 A 192.0.2.2', 'a 300 A 192.0.2.1', 'b 5 A 192.0.2.2'],
  ['$TTL, again', '$TTL 300\na A 192.0.2.1\n$TTL 400\nb A 192.0.2.2', 'a 300 A 192.0.2.1', 'b 400 A 192.0.2.2'],
  ['$TTL goes before the last TTL', '$TTL 300\na 5 A 192.0.2.1\nb A 192.0.2.2', 'a 5 A 192.0.2.1', 'b 300 A 192.0.2.2'],
  ['$TTL with units', '$TTL 1w2d3h4m5s\na A 192.0.2.1', 'a 788645 A 192.0.2.1'],
  ['TTLs with units', 'a 1H A 192.0.2.1\nb 1m1M A 192.0.2.2', 'a 3600 A 192.0.2.1', 'b 120 A 192.0.2.2'],
  ['the highest TTL', 'a 4294967295 A 192.0.2.1', 'a 4294967295 A 192.0.2.1'],
  ['TTL 0', 'a 0 A 192.0.2.1', 'a 0 A 192.0.2.1'],
  ['a TTL with zeros', 'a 0060 A 192.0.2.1', 'a 60 A 192.0.2.1'],
  ['the last TTL', 'a 5 A 192.0.2.1\nb A 192.0.2.2\nc 6 A 192.0.2.3\nd A 192.0.2.4',
    'a 5 A 192.0.2.1', 'b 5 A 192.0.2.2', 'c 6 A 192.0.2.3', 'd 6 A 192.0.2.4'],
  ['the TTL that the SOA gives', '@ 9 SOA a b 1 2 3 4 1h\na A 192.0.2.1', 'a 3600 A 192.0.2.1'],
  ['the SOA after $TTL', '$TTL 8\n@ 9 SOA a b 1 2 3 4 5\na A 192.0.2.1', 'a 8 A 192.0.2.1'],
  ['$TTL after the SOA', '@ 9 SOA a b 1 2 3 4 5\n$TTL 8\na A 192.0.2.1', 'a 8 A 192.0.2.1'],
  ['unequal TTLs', 'a 9 A 192.0.2.1\na 7 A 192.0.2.2\na 8 A 192.0.2.3', 'a 7 A 192.0.2.1, 192.0.2.2, 192.0.2.3'],
  ['an RRset with a TTL and none', 'a A 192.0.2.1\na 7 A 192.0.2.2', 'a 7 A 192.0.2.1, 192.0.2.2'],

  ['parentheses', 'a 1 MX ( 10\n  m ; comment )\n )\nb 1 A 192.0.2.1', 'a 1 MX 10 m.x.test.', 'b 1 A 192.0.2.1'],
  ['parentheses around all', '(a\n1\nA\n192.0.2.1)', 'a 1 A 192.0.2.1'],
  ['parentheses without blanks', 'a 1 MX(10)m', 'a 1 MX 10 m.x.test.'],
  ['parentheses around nothing', '()\na () 1 A 192.0.2.1 (\n)', 'a 1 A 192.0.2.1'],
  ['64 levels of parentheses', `a 1 A ${many('(', 64)}192.0.2.1${many(')', 64)}`, 'a 1 A 192.0.2.1'],
  ['parentheses in a string', 'a 1 TXT "("', 'a 1 TXT "("'],
  ['a semicolon in a string', 'a 1 TXT "a;b" ; c', 'a 1 TXT "a;b"'],
  ['a semicolon escaped', 'a 1 TXT a\\;b', 'a 1 TXT "a;b"'],
  ['a quote in a comment', 'a 1 A 192.0.2.1 ; "\nb 1 A 192.0.2.2', 'a 1 A 192.0.2.1', 'b 1 A 192.0.2.2'],
  ['a SOA over several lines', '@ SOA a b (\n 1 ; serial\n 2 3 4 5 )\na A 192.0.2.1', 'a 5 A 192.0.2.1'],

  ['bare words in TXT', 'a 1 TXT one two', 'a 1 TXT "one" "two"'],
  ['a longer string than 255', `a 1 TXT "${many('a', 300)}"`, `a 1 TXT "${many('a', 255)}" "${many('a', 45)}"`],
  ['UTF-8 in TXT', 'a 1 TXT "ß"', 'a 1 TXT "\\195\\159"'],
  ['a line break escaped', 'a 1 TXT "a\\\nb"', 'a 1 TXT "a\\010b"'],
  ['the generic form', 'a 1 A \\# 4 c0 000201\na 1 TXT \\# 2 01 61', 'a 1 A 192.0.2.1', 'a 1 TXT "a"'],
  ['names in contents', '@ 1 MX 1 @\n@ 1 MX 2 a\n@ 1 MX 3 a.\n@ 1 MX 4 .', '@ 1 MX 1 x.test., 2 a.x.test., 3 a., 4 .'],
  ['an escaped @', 'a 1 PTR \\@', 'a 1 PTR \\@.x.test.'],
  ['a name that ends in an escaped dot', 'a 1 PTR b\\.', 'a 1 PTR b\\..x.test.'],
  ['a name that ends in an escaped backslash', 'a 1 PTR b\\\\', 'a 1 PTR b\\\\.x.test.'],
  ['a name that ends in a backslash and a dot', 'a 1 PTR b\\\\.', 'a 1 PTR b\\\\.'],
  ['case in contents', 'a 1 NS Ns.X.test.', 'a 1 NS Ns.X.test.'],
  ['duplicates', 'a 1 A 192.0.2.1\na 1 A 192.0.2.2\nA 1 A 192.0.2.1', 'a 1 A 192.0.2.1, 192.0.2.2'],
  ['duplicates but for case', 'a 1 NS N.x.test.\na 1 NS n', 'a 1 NS N.x.test.'],
  ['a CNAME twice', 'a 1 CNAME b\na 1 CNAME B', 'a 1 CNAME b.x.test.'],
  ['RRsets in pieces', 'a 1 A 192.0.2.1\nb 1 A 192.0.2.3\na 1 A 192.0.2.2', 'a 1 A 192.0.2.1, 192.0.2.2', 'b 1 A 192.0.2.3'],
  ['a delegation', 's 1 NS n\ns 1 DS 1 8 2 ' + many('ab', 32) + '\nn 1 A 192.0.2.1',
    's 1 NS n.x.test.', 's 1 DS 1 8 2 ' + many('ab', 32), 'n 1 A 192.0.2.1'],

  ['the apex SOA and NS', '@ 1 SOA a b 1 2 3 4 5\n@ 1 NS n\n@ 1 NS m.'],
  ['two apex SOAs', '@ 1 SOA a b 1 2 3 4 5\n@ 1 SOA c d 6 7 8 9 10\na A 192.0.2.1', 'a 5 A 192.0.2.1'],
  ['what DNSSEC generates, anywhere', [
    '@ 1 DNSKEY 257 3 13 AAAA', 'a 1 CDS x', 'a 1 CDNSKEY', '@ 1 RRSIG A 1', 'a 1 NSEC b A', 'h 1 NSEC3 1 0 0 - h',
    '@ 1 NSEC3PARAM 1 0 0 -', 'a 1 KEY 1', 'a 1 OPT',
  ].join('\n')],
  ['a CNAME beside RRSIG, NSEC and KEY', 'a 1 CNAME b\na 1 RRSIG x\na 1 NSEC x\na 1 KEY x', 'a 1 CNAME b.x.test.'],
  ['names outside', 'b.test. 1 A x\ntest. 1 WKS\n. 1 NONSENSE ?\nax.test. 1 A 192.0.2.1\na. A 192.0.2.1'],
  ['a name that only looks as if it were inside', 'a\\.x.test. 1 A x'],
  ['a SOA outside', 'b.test. 1 SOA x'],
] // prettier-ignore

for (const [what, text, ...rrsets] of accepted) {
  test(`accepted: ${what}`, (t) => {
    t.deepEqual(brief(text), rrsets)
    const problems = read(text).flatMap(({ problems }) => problems)
    t.deepEqual(problems, [])
  })
}

/** A zone file, and the line and the reason that the error names. */
const malformed: [what: string, text: string, line: number, reason: string][] = [
  ['a bad address', 'a 1 A x', 1, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad address in the last line', '\n\na 1 A x', 3, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad address, more lines following', '; c\na 1 A x\n\n', 2, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad address after CRLF', '\r\n\r\na 1 A x\r\n', 3, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad address after parentheses', 'a 1 MX (\n1\nm )\na 1 A x', 4, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad address after an escaped line break', 'a 1 TXT "a\\\nb"\na 1 A x', 3, 'Record content for type A malformed: Text input is malformed.'],
  ['a bad number in parentheses', '\na 1 MX (\nx\nm )', 2, 'Record content for type MX malformed: expecting an integer'],
  ['$INCLUDE', 'a 1 A 192.0.2.1\n$INCLUDE file', 2, 'only the directives $TTL and $ORIGIN are allowed'],
  ['$include', '$include file b', 1, 'only the directives $TTL and $ORIGIN are allowed'],
  ['$GENERATE', '$GENERATE 0-4294967295 a$ A 192.0.2.1', 1, 'only the directives $TTL and $ORIGIN are allowed'],
  ['an unknown directive', '$DATE 1', 1, 'only the directives $TTL and $ORIGIN are allowed'],
  ['a dollar', '$ A 192.0.2.1', 1, 'only the directives $TTL and $ORIGIN are allowed'],
  ['$TTL without value', '$TTL', 1, 'expecting an identifier'],
  ['$TTL with two values', '$TTL 1 2', 1, 'expected end of line'],
  ['$TTL with a bad value', '$TTL 1y', 1, 'expecting a TTL'],
  ['$TTL, quoted', '$TTL "1"', 1, 'expecting an identifier'],
  ['an indented $TTL', ' $TTL 1', 1, '"$TTL" is not a type'],
  ['$ORIGIN without value', '$ORIGIN', 1, 'expecting an identifier'],
  ['$ORIGIN with two values', '$ORIGIN a b', 1, 'expected end of line'],
  ['$ORIGIN with an empty label', '$ORIGIN a..b', 1, 'A DNS label is empty.'],
  ['$ORIGIN, quoted', '$ORIGIN "a"', 1, 'expecting an identifier'],
  ['$ORIGIN that is too long', `$ORIGIN ${many('a.', 128)}`, 1, 'Hostname must be no longer than 255 characters'],
  ['class CH', 'a 1 CH A 192.0.2.1', 1, '"CH" is not a type'],
  ['class ANY', 'a ANY A 192.0.2.1', 1, '"ANY" is not a type'],
  ['class CLASS3', 'a CLASS3 A 192.0.2.1', 1, '"CLASS3" is not a type'],
  ['two classes', 'a IN IN A 192.0.2.1', 1, '"IN" is not a type'],
  ['two TTLs', 'a 1 2 A 192.0.2.1', 1, '"2" is not a type'],
  ['two TTLs around the class', 'a 1 IN 2 A 192.0.2.1', 1, '"2" is not a type'],
  ['a TTL that ends in a number', 'a 1h30 A 192.0.2.1', 1, 'expecting a TTL'],
  ['a TTL with an unknown unit', 'a 1y A 192.0.2.1', 1, 'expecting a TTL'],
  ['a TTL that is too high', 'a 4294967296 A 192.0.2.1', 1, 'the TTL is longer than 4294967295 seconds'],
  ['a TTL that is far too long', `a ${many('9', 100_000)} A 192.0.2.1`, 1, 'expecting a TTL'],
  ['a negative TTL', 'a -1 A 192.0.2.1', 1, '"-1" is not a type'],
  ['an unknown type', 'a 1 NONSENSE x', 1, '"NONSENSE" is not a type'],
  ['a number of a type that is too long', 'a 1 TYPE123456 x', 1, '"TYPE123456" is not a type'],
  ['the type ANY', 'a 1 IN ANY x', 1, '"ANY" is not a type'],
  ['an owner alone', 'a', 1, 'expecting a type'],
  ['an owner and a class', 'a IN', 1, 'expecting a type'],
  ['an owner and a TTL', 'a 1', 1, 'expecting a type'],
  ['a type alone', ' A', 1, 'Record content for type A malformed: expecting an identifier'],
  ['a quoted owner', '"a" 1 A 192.0.2.1', 1, 'expecting an identifier'],
  ['a quoted TTL', 'a "1" A 192.0.2.1', 1, 'expecting an identifier'],
  ['a quoted class', 'a "IN" A 192.0.2.1', 1, 'expecting an identifier'],
  ['a quoted type', 'a "A" 192.0.2.1', 1, 'expecting an identifier'],
  ['an owner with an empty label', 'a..b 1 A 192.0.2.1', 1, 'A DNS label is empty.'],
  ['an owner with a label that is too long', `${many('a', 64)} 1 A 192.0.2.1`, 1, 'A DNS label is > 63 octets long.'],
  ['an owner that is too long', `${many('a.', 126)}b 1 A 192.0.2.1`, 1, 'Hostname must be no longer than 255 characters'],
  ['an owner that is not ASCII', 'ß 1 A 192.0.2.1', 1, 'A DNS label is not ASCII; write it in Punycode ("xn--...").'],
  ['a name that is not ASCII', 'a 1 MX 1 ß', 1, 'Record content for type MX malformed: A DNS label is not ASCII; write it in Punycode ("xn--...").'],
  ['a bad escape', 'a\\256 1 A 192.0.2.1', 1, 'Text input is malformed.'],
  ['a backslash at the end', 'a 1 PTR b\\', 1, 'Record content for type PTR malformed: Text input is malformed.'],
  ['a quote that is open at the end', '\na 1 TXT "b', 2, 'Text input ended unexpectedly.'],
  ['a quote that is open at the end of a line', 'a 1 A 192.0.2.1\na 1 TXT "b\nc"', 2, 'unexpected line break'],
  ['a quote that is open in parentheses', 'a 1 TXT (\n"b\nc" )', 2, 'unexpected line break'],
  ['parentheses that are open at the end', '\na 1 A ( 192.0.2.1\nb 1 A 192.0.2.2\n', 2, 'unbalanced parentheses'],
  ['parentheses that are open, opened late', 'a 1 MX ( 1\nm )\n\nb 1 TXT b\\\n( (\n', 5, 'unbalanced parentheses'],
  ['parentheses that close nothing', 'a 1 A 192.0.2.1\n\na 1 A (192.0.2.1\n))', 4, 'unbalanced parentheses'],
  ['something after the last field', 'a 1 A 192.0.2.1 192.0.2.2', 1, 'Record content for type A malformed: expected end of record, got "192.0.2.2"'],
  ['a quoted name', 'a 1 NS "b"', 1, 'Record content for type NS malformed: expecting an identifier'],
  ['generic data that are too short', 'a 1 A \\# 4 c00002', 1, 'Record content for type A malformed: the generic data does not have the length given'],
  ['a SOA with too few fields', '@ 1 SOA a b 1 2 3 4', 1, 'expecting an identifier'],
  ['a token of 10 MB', `a 1 TXT ${many('a', 10_000_000)}`, 1, 'the record is longer than 64000 octets'],
  ['a string of 10 MB', `\na 1 TXT "${many('\\', 10_000_000)}`, 2, 'the record is longer than 64000 octets'],
  ['10 MB of tokens', `a 1 TXT${many(' a', 5_000_000)}`, 1, 'the record is longer than 64000 octets'],
  ['10 MB of parentheses', many('(', 10_000_000), 1, 'the record is longer than 64000 octets'],
  ['10 MB of line breaks in parentheses', `\n(${many('\n', 10_000_000)})`, 2, 'the record is longer than 64000 octets'],
] // prettier-ignore

for (const [what, text, line, reason] of malformed) {
  test(`a syntax error: ${what}`, (t) => {
    t.throws(() => read(text), {
      instanceOf: ZoneFileError,
      message: `Zonefile contains syntax error in line ${line}. Reason: ${reason}`,
    })
  })
}

const CNAME = 'No other records with the same name are allowed alongside a CNAME record.'
const SOA = 'Zonefile includes an SOA record for a name different from x.test.'

/** A zone file, and the whole error text. */
const refused: [what: string, text: string, message: string][] = [
  ['a CNAME beside A', 'a 1 CNAME b\na 1 A 192.0.2.1', CNAME],
  ['a CNAME beside A, later, in capitals', 'a 1 A 192.0.2.1\nb 1 A 192.0.2.1\nA 1 CNAME b', CNAME],
  ['a CNAME beside a type that is not supported', 'a 1 CNAME b\na 1 WKS x', CNAME],
  ['a CNAME at the apex', '@ 1 CNAME b.', CNAME],
  ['a SOA below the apex', 'a 1 SOA a b 1 2 3 4 5', SOA],
  ['an owner of other characters', '\na/b 1 A 192.0.2.1', `Could not parse zonefile: line 2: ${SUBNAME_RULE}`],
  ['an owner with an escaped dot', 'a\\.b 1 A 192.0.2.1', `Could not parse zonefile: line 1: ${SUBNAME_RULE}`],
  ['an owner with an inner wildcard', 'a.* 1 A 192.0.2.1', `Could not parse zonefile: line 1: ${SUBNAME_RULE}`],
  ['NUL', 'a 1 TXT "\0"', 'Could not parse zonefile: Null characters are not allowed.'],
  ['half a character', 'a 1 TXT "\ud800"', 'Could not parse zonefile: Surrogate characters are not allowed.'],
  ['too many records', many('a 1 A 192.0.2.1\n', 250_001), 'Could not parse zonefile: it has more than 250000 records'],
] // prettier-ignore

for (const [what, text, message] of refused) {
  test(`refused: ${what}`, (t) => {
    t.throws(() => read(text), { instanceOf: ZoneFileError, message })
  })
}

/** A zone file, and the problems of its RRsets, each with its subname and type. */
const broken: [what: string, text: string, ...problems: string[]][] = [
  ['an alphabet', '@ 1 MX 1 $url.\n@ 1 MX 2 _b.\n@ 1 MX 3 c.', '@/MX: Cannot parse record contents: invalid exchange: \\$url.'],
  ['a type that is not supported', 'a 1 WKS x', 'a/WKS: The WKS RR set type is currently unsupported.'],
  ['a type of a name server product', 'a 1 alias x', 'a/ALIAS: The ALIAS RR set type is currently unsupported.'],
  ['a generic type', 'a 1 TYPE65280 \\# 1 00', 'a/TYPE65280: Generic type format is not supported.'],
  ['two CNAMEs', 'a 1 CNAME b\na 1 CNAME c', 'a/CNAME: CNAME RRset cannot have multiple records.'],
  ['a DS at the apex', '@ 1 DS 1 8 9 ab', '@/DS: DS RRset cannot have empty subname.'],
  ['a name that becomes too long', `a 1 PTR ${many('a.', 126)}b`, 'a/PTR: Hostname must be no longer than 255 characters'],
  ['several', 'a 1 WKS x\nb 1 A 192.0.2.1\na 1 NS .\nc 1 MX 1 _b',
    'a/WKS: The WKS RR set type is currently unsupported.',
    'a/NS: Cannot parse record contents: invalid target: .',
    'c/MX: Cannot parse record contents: invalid exchange: _b.x.test.'],
] // prettier-ignore

for (const [what, text, ...problems] of broken) {
  test(`against the rules: ${what}`, (t) => {
    t.deepEqual(
      read(text).flatMap(({ subname, type, problems }) =>
        problems.map((problem) => `${subname || '@'}/${type}: ${problem}`),
      ),
      problems,
    )
  })
}

test('an RRset has the same limits as everywhere', (t) => {
  const addresses = Array.from({ length: 4092 }, (_, i) => `a 1 A 10.0.${i >> 8}.${i & 255}\n`).join('')
  t.deepEqual(read(addresses)[0]!.problems, ['Ensure this field has no more than 4091 elements.'])
  const texts = Array.from({ length: 7 }, (_, i) => `a 1 TXT ${i}${many('a', 10_000)}\n`).join('')
  t.regex(read(texts)[0]!.problems.join(), /^Ensure this field has no more than 64000 characters after JSON encoding/)
})

/** A zone file, and the line of each problem, with the beginning of its text, or its reason if it is a syntax error. */
const several: [what: string, text: string, ...problems: string[]][] = [
  ['five mistakes of different kinds', 'a 1 A 192.0.2.300\nb 1 MX _x\nc 1 CNAME d\nc 1 TXT x\nd 1 WKS x\ne/f 1 A 192.0.2.1\ng 1 A 192.0.2.1',
    '1 Record content for type A malformed', '2 Record content for type MX malformed', '4 No other records', '5 d.x.test/WKS: The WKS', '6 Could not parse zonefile: line 6'],
  ['a quote that is not closed', 'a 1 TXT "x\nb 1 A x', '1 unexpected line break', '2 Record content'],
  ['a wrong directive', '$INCLUDE x\n$TTL x\nb 1 A x', '1 only the directives', '2 expecting a TTL', '3 Record content'],
  ['mistakes within parentheses', 'a 1 TXT ( "x\n "y" ) 1 A x\nb 1 A x', '1 unexpected line break', '3 Record content'],
  ['parentheses that close nothing', 'a 1 A 192.0.2.1 ) x\n b\n', '1 unbalanced parentheses'],
  ['parentheses that do not close', 'a 1 A x\nb 1 TXT ( x\nc 1 A x', '1 Record content', '2 unbalanced parentheses'],
  ['an owner that cannot be read, and its other records', 'a..b 1 A x\n 1 A x\nc 1 A x', '1 A DNS label is empty', '3 Record content'],
  ['an origin that cannot be read', 'a 1 A x\n$ORIGIN a..b\nc 1 A x', '1 Record content', '2 A DNS label is empty'],
  ['a SOA elsewhere, and too many records', `a 1 SOA a b 1 2 3 4 5\n${many('a 1 A 192.0.2.1\n', 250_001)}b A x`, '- Could not parse zonefile: it has more', '1 Zonefile includes'],
] // prettier-ignore

/** The problems of a zone file that cannot be imported. */
function problemsOf(t: ExecutionContext, text: string) {
  return t.throws(() => read(text), { instanceOf: ZoneFileError }).problems
}

for (const [what, text, ...problems] of several) {
  test(`all is told at once: ${what}`, (t) => {
    const found = problemsOf(t, text).map(({ line, text }) => `${line ?? '-'} ${text.replace(/.*Reason: /, '')}`)
    t.is(found.length, problems.length, found.join('\n'))
    for (const [i, problem] of problems.entries()) t.true(found[i]!.startsWith(problem), found[i])
  })
}

test('reading ends at the 101st line with an error, and never takes long', (t) => {
  const lines = problemsOf(t, many('a 1 A x\n', 1_000_000)).map(({ line }) => line)
  t.deepEqual(
    lines,
    Array.from({ length: 101 }, (_, i) => i + 1),
  )
  // Each of these lines could be looked at up to the end of the file.
  for (const text of [many('"x\\\n', 1_000_000), `) ( ${many('"x\\\n', 1_000_000)}`, `) (${many('x ', 5_000_000)}`]) {
    t.true(problemsOf(t, text).length <= 101)
  }
})

test('a record that cannot be read is a syntax error, also of an RRset that has a problem', (t) => {
  t.throws(() => read('a 1 MX 1 _b\na 1 MX 2'), {
    message:
      'Zonefile contains syntax error in line 2. Reason: Record content for type MX malformed: expecting an identifier',
  })
})

test('it yields after every line, every RRset, and once more for every RRset of several records', (t) => {
  const lines = '\na 1 A 192.0.2.1\n; x\nb 1 A 192.0.2.2\nb 1 A 192.0.2.3\n'
  const steps = [...readZoneFile(lines, DOMAIN)]
  t.is(steps.length, 6 + 2 + 1)
})
