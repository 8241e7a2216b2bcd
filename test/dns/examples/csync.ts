import { type Examples, malformed } from './examples.ts'

function notAType(text: string): string {
  return malformed('CSYNC', `"${text}" is not a type; others are TYPE1 to TYPE65535`)
}

/** With all types of so many windows. */
function everyTypeOf(windows: number): string {
  const bits = (window: number) => (window === 0 ? '7f' : 'ff') + 'ff'.repeat(31)
  const all = Array.from({ length: windows }, (_, window) => `${window.toString(16).padStart(2, '0')}20${bits(window)}`)
  return `\\# ${6 + 34 * windows} 00000042 0003 ${all.join(' ')}`
}

const LENGTH = malformed('CSYNC', 'the data is not in canonical form')

export const CSYNC: Examples = {
  accepted: [
    '66 3 A NS AAAA',
    '0 0',
    '4294967295 65535 A',
    '1 1 NS SOA MX DNSKEY CAA DLV',
    '1 3 TYPE65535',
    '1 3 TYPE3 TYPE512',
    ['066 03  NS  AAAA A', '66 3 A NS AAAA'],
    ['66 3 ns aaaa', '66 3 NS AAAA'],
    ['66 3 A A TYPE1 type1', '66 3 A'],
    ['66 3 TYPE28 TYPE02', '66 3 NS AAAA'],
    ['66 3 TYPE257 URI', '66 3 URI CAA'],
    ['66 3 (A\tNS)', '66 3 A NS'],
    ['66 3 \\065 \\NS', '66 3 A NS'],
    ['66 3 TYPE65401 TYPE65402', '66 3 TYPE65401 TYPE65402'],
    ['\\# 12 00000042 0003 0004 60000008', '66 3 A NS AAAA'],
    ['\\# 6 00000042 0003', '66 3'],
  ],
  rejected: [
    ['66', malformed('CSYNC', 'expecting an identifier')],
    ['()', malformed('CSYNC', 'expecting an identifier')],
    ['A NS', malformed('CSYNC', 'expecting an integer')],
    ['66 A NS', malformed('CSYNC', 'expecting an integer')],
    ['4294967296 3 A', malformed('CSYNC', '4294967296 is not an unsigned 32-bit integer')],
    ['66 65536 A', malformed('CSYNC', '65536 is not an unsigned 16-bit integer')],
    ['66 3 FOO', notAType('FOO')],
    ['66 3 1', notAType('1')],
    ['66 3 TYPE0', notAType('TYPE0')],
    ['66 3 TYPE65536', notAType('TYPE65536')],
    ['66 3 TYPE', notAType('TYPE')],
    ['66 3 ALIAS', notAType('ALIAS')],
    ['66 3 constructor', notAType('constructor')],
    ['66 3 A,NS', notAType('A,NS')],
    ['66 3 "A"', malformed('CSYNC', 'expecting an identifier')],
    ['66 3 A ; NS', malformed('CSYNC', '";" must be quoted, comments are not allowed')],
    ['\\# 5 00000042 00', malformed('CSYNC', 'the data ends too early')],
    ['\\# 9 00000042 0003 0001 80', malformed('CSYNC', '"TYPE0" is not a type; others are TYPE1 to TYPE65535')],
    ['\\# 8 00000042 0003 0000', LENGTH],
    ['\\# 10 00000042 0003 0002 6000', LENGTH],
    [`\\# 41 00000042 0003 0021 ${'01'.repeat(33)}`, LENGTH],
    ['\\# 9 00000042 0003 0002 60', malformed('CSYNC', 'the data ends too early')],
    [everyTypeOf(32), malformed('CSYNC', 'there are more than 8000 types')],
    ['\\# 12 00000042 0003 000160 000160', malformed('CSYNC', 'the data is not in canonical form')],
  ],
}
