import { malformed, type Examples } from './examples.ts'

const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const SHA256 = '6454'.repeat(16)
const SHA384 = 'dead00'.repeat(16)
const LENGTH = malformed('DS', 'digest length inconsistent with digest type')

export const DS: Examples = {
  accepted: [
    `6454 8 1 ${SHA1}`,
    `6454 8 2 ${SHA256}`,
    `6454 8 3 ${SHA256}`,
    `6454 13 4 ${SHA384}`,
    '0 0 5 00',
    `65535 255 255 ${'ff'.repeat(300)}`,
    [`06454  08   01    ${SHA1}`, `6454 8 1 ${SHA1}`],
    [`6454 8 1 ${SHA1.toUpperCase()}`, `6454 8 1 ${SHA1}`],
    [`6454 8 1 ${SHA1.slice(0, 7)} ${SHA1.slice(7, 20)} (${SHA1.slice(20)})`, `6454 8 1 ${SHA1}`],
    [`6454 RSASHA256 1 ${SHA1}`, `6454 8 1 ${SHA1}`],
    [`6454 ecdsap256sha256 1 ${SHA1}`, `6454 13 1 ${SHA1}`],
    [`6454 RSASHA1-NSEC3-SHA1 1 ${SHA1}`, `6454 7 1 ${SHA1}`],
    [`6454 Ed25519 1 ${SHA1}`, `6454 15 1 ${SHA1}`],
    [`\\# 24 1936 08 01 ${SHA1}`, `6454 8 1 ${SHA1}`],
  ],
  rejected: [
    [`6454 8 1 ${SHA1}00`, LENGTH],
    [`6454 8 1 ${SHA1.slice(2)}`, LENGTH],
    [`6454 8 2 ${SHA1}`, LENGTH],
    [`6454 8 3 ${SHA384}`, LENGTH],
    [`6454 8 4 ${SHA256}`, LENGTH],
    ['0 0 0 00', malformed('DS', 'digest type 0 is reserved')],
    ['0 0 0 0', malformed('DS', 'Odd-length string')],
    [`6454 8 1 ${SHA1.slice(1)}`, malformed('DS', 'Odd-length string')],
    [`6454 8 1 ${SHA1.slice(1)}g`, malformed('DS', 'Non-hexadecimal digit found')],
    ['6454 8 1', malformed('DS', 'expecting another identifier')],
    ['6454 8 5 "00"', malformed('DS', 'expecting an identifier')],
    ['6454 8', malformed('DS', 'expecting an identifier')],
    [`6454 SHA 1 ${SHA1}`, malformed('DS', 'expecting an integer')],
    [`6454 8 SHA1 ${SHA1}`, malformed('DS', 'expecting an integer')],
    [`65536 8 1 ${SHA1}`, malformed('DS', '65536 is not an unsigned 16-bit integer')],
    [`6454 256 1 ${SHA1}`, malformed('DS', '256 is not an unsigned 8-bit integer')],
    [`6454 8 256 ${SHA1}`, malformed('DS', '256 is not an unsigned 8-bit integer')],
    [`-1 8 1 ${SHA1}`, malformed('DS', 'expecting an integer')],
    ['\\# 4 19360805', malformed('DS', 'the data ends too early')],
  ],
}
