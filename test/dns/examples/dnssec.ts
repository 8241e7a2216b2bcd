import { type Examples, malformed } from './examples.ts'

const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const SHA256 = '6454'.repeat(16)
const SHA384 = 'dead00'.repeat(16)

/** Examples for each of DS, DLV and CDS. */
function digests(type: string): Examples {
  const length = malformed(type, 'digest length inconsistent with digest type')
  return {
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
      [`6454 8 1 ${SHA1}00`, length],
      [`6454 8 1 ${SHA1.slice(2)}`, length],
      [`6454 8 2 ${SHA1}`, length],
      [`6454 8 3 ${SHA384}`, length],
      [`6454 8 4 ${SHA256}`, length],
      ['0 0 0 0', malformed(type, 'Odd-length string')],
      [`6454 8 1 ${SHA1.slice(1)}`, malformed(type, 'Odd-length string')],
      [`6454 8 1 ${SHA1.slice(1)}g`, malformed(type, 'Non-hexadecimal digit found')],
      ['6454 8 1', malformed(type, 'expecting another identifier')],
      ['6454 8 5 "00"', malformed(type, 'expecting an identifier')],
      ['6454 8', malformed(type, 'expecting an identifier')],
      [`6454 SHA 1 ${SHA1}`, malformed(type, 'expecting an integer')],
      [`6454 8 SHA1 ${SHA1}`, malformed(type, 'expecting an integer')],
      [`65536 8 1 ${SHA1}`, malformed(type, '65536 is not an unsigned 16-bit integer')],
      [`6454 256 1 ${SHA1}`, malformed(type, '256 is not an unsigned 8-bit integer')],
      [`6454 8 256 ${SHA1}`, malformed(type, '256 is not an unsigned 8-bit integer')],
      [`-1 8 1 ${SHA1}`, malformed(type, 'expecting an integer')],
      ['\\# 4 19360805', malformed(type, 'expecting another identifier')],
    ],
  }
}

function withReservedType(type: string): Examples {
  const { accepted, rejected } = digests(type)
  const reserved = malformed(type, 'digest type 0 is reserved')
  return { accepted, rejected: [...rejected, ['0 0 0 00', reserved], [`6454 8 0 ${SHA1}`, reserved]] }
}

export const DS = withReservedType('DS')
export const DLV = withReservedType('DLV')

const { accepted, rejected } = digests('CDS')

export const CDS: Examples = {
  accepted: [...accepted, '0 0 0 00', ['00 0 0 (0 0)', '0 0 0 00'], ['\\# 5 0000 00 00 00', '0 0 0 00']],
  rejected: [
    ...rejected,
    ['0 0 0 0000', malformed('CDS', 'digest length inconsistent with digest type')],
    [`6454 8 0 ${SHA1}`, malformed('CDS', 'digest length inconsistent with digest type')],
  ],
}

const ED25519 = 'l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4='
const RSA = 'AwEAAaetidLzsKWUt4swWR8yu0wPHPiUi8LUsAD0QPWU+wzt89epO6tHzkMBVDkC7qphQO2hTY4hHn9npWFRw5BYubE='

/** Examples of DNSKEY and CDNSKEY. */
function keys(type: string): Examples {
  return {
    accepted: [
      `257 3 15 ${ED25519}`,
      `256 3 5 ${RSA}`,
      '0 3 0 AA==',
      '0 0 0 AA==',
      `65535 255 255 ${ED25519}`,
      `256 3 253 ${'AAAA'.repeat(200)}`,
      [`257 3 ED25519 ${ED25519}`, `257 3 15 ${ED25519}`],
      [`257 3 ecdsap256sha256 ${ED25519}`, `257 3 13 ${ED25519}`],
      [`256 3 RSASHA1 ${RSA}`, `256 3 5 ${RSA}`],
      [`0256  03  08  ${RSA}`, `256 3 8 ${RSA}`],
      [`256 3 8 ${RSA.slice(0, 11)} ${RSA.slice(11, 50)}\t(${RSA.slice(50)})`, `256 3 8 ${RSA}`],
      ['257 3 8 AwEAAQ = =', '257 3 8 AwEAAQ=='],
      ['257 3 8 AwEAAf==', '257 3 8 AwEAAQ=='],
      ['257 3 8 AwEAA\\081==', '257 3 8 AwEAAQ=='],
      ['\\# 8 0101 03 08 03010001', '257 3 8 AwEAAQ=='],
    ],
    rejected: [
      ['257 3 8', malformed(type, 'expecting another identifier')],
      ['257 3', malformed(type, 'expecting an identifier')],
      [`257 ${ED25519}`, malformed(type, 'expecting an integer')],
      ['257 3 RSASHA3 AwEAAQ==', malformed(type, 'expecting an integer')],
      ['65536 3 8 AwEAAQ==', malformed(type, '65536 is not an unsigned 16-bit integer')],
      ['257 256 8 AwEAAQ==', malformed(type, '256 is not an unsigned 8-bit integer')],
      ['257 3 256 AwEAAQ==', malformed(type, '256 is not an unsigned 8-bit integer')],
      ['257 3 8 AwEAAQ', malformed(type, 'Incorrect padding')],
      ['257 3 8 AwEAAQ=', malformed(type, 'Incorrect padding')],
      ['257 3 8 AwEAAQ===', malformed(type, 'Incorrect padding')],
      ['257 3 8 Aw==AAQ=', malformed(type, 'Incorrect padding')],
      ['257 3 8 A===', malformed(type, 'Incorrect padding')],
      ['257 3 8 AwEA_Q==', malformed(type, 'Non-base64 digit found')],
      ['257 3 8 AwEA-Q==', malformed(type, 'Non-base64 digit found')],
      ['257 3 8 AwEA\u00fc===', malformed(type, 'Non-base64 digit found')],
      ['257 3 8 "AwEAAQ=="', malformed(type, 'expecting an identifier')],
      ['257 3 8 AwEAAQ== ; ksk', malformed(type, '";" must be quoted, comments are not allowed')],
      ['\\# 4 01010308', malformed(type, 'expecting another identifier')],
    ],
  }
}

export const DNSKEY = keys('DNSKEY')
export const CDNSKEY = keys('CDNSKEY')
