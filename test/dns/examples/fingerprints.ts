import { type Examples, malformed } from './examples.ts'

const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const SHA256 = '6454'.repeat(16)

/** Examples of TLSA and SMIMEA, which are alike. */
function associations(type: string): Examples {
  return {
    accepted: [
      `3 1 1 ${SHA256}`,
      `0 0 2 ${SHA256}${SHA256}`,
      `1 1 0 ${'30820122'.repeat(100)}`,
      '2 0 1 00',
      '3 0 1 deadbeefcafe',
      `255 255 255 ${SHA256}`,
      [`03 01 001 ${SHA256}`, `3 1 1 ${SHA256}`],
      [`3 1 1 ${SHA256.toUpperCase()}`, `3 1 1 ${SHA256}`],
      ['3 1 1 DEADBEEF', '3 1 1 deadbeef'],
      [`3 1 1 ${SHA256.slice(0, 31)} ${SHA256.slice(31)}`, `3 1 1 ${SHA256}`],
      [`3 1 1 ( ${SHA256.slice(0, 8)}\t${SHA256.slice(8)} )`, `3 1 1 ${SHA256}`],
      ['3 1 1 \\100\\069', '3 1 1 de'],
      ['\\# 5 03 01 01 BEEF', '3 1 1 beef'],
    ],
    rejected: [
      ['3 1 1', malformed(type, 'expecting another identifier')],
      ['3 1', malformed(type, 'expecting an identifier')],
      [SHA256, malformed(type, `${SHA256} is not an unsigned 8-bit integer`)],
      ['3 1 1 abc', malformed(type, 'Odd-length string')],
      ['3 1 1 abcg', malformed(type, 'Non-hexadecimal digit found')],
      ['3 1 1 ab:cd:', malformed(type, 'Non-hexadecimal digit found')],
      ['3 1 1 0xabcd', malformed(type, 'Non-hexadecimal digit found')],
      ['256 1 1 abcd', malformed(type, '256 is not an unsigned 8-bit integer')],
      ['3 256 1 abcd', malformed(type, '256 is not an unsigned 8-bit integer')],
      ['3 1 256 abcd', malformed(type, '256 is not an unsigned 8-bit integer')],
      ['DANE-EE 1 1 abcd', malformed(type, 'expecting an integer')],
      ['3 SPKI 1 abcd', malformed(type, 'expecting an integer')],
      ['-3 1 1 abcd', malformed(type, 'expecting an integer')],
      ['3 1 1 "abcd"', malformed(type, 'expecting an identifier')],
      ['3 1 1 ab cd "ef"', malformed(type, 'expecting an identifier')],
      ['3 1 1 abcd;', malformed(type, '";" must be quoted, comments are not allowed')],
      ['\\# 3 030101', malformed(type, 'expecting another identifier')],
    ],
  }
}

export const TLSA = associations('TLSA')
export const SMIMEA = associations('SMIMEA')

export const SSHFP: Examples = {
  accepted: [
    `2 1 ${SHA1}`,
    `4 2 ${SHA256}`,
    '2 2 aabbcceeddff',
    '0 0 00',
    `255 255 ${SHA256}`,
    [`04 002 ${SHA256}`, `4 2 ${SHA256}`],
    [`4 2 ${SHA256.toUpperCase()}`, `4 2 ${SHA256}`],
    ['1 1 AaBbCc', '1 1 aabbcc'],
    [`4 2 ${SHA256.slice(0, 32)} ${SHA256.slice(32)}`, `4 2 ${SHA256}`],
    [`4 2 (${SHA256})`, `4 2 ${SHA256}`],
    ['4 2 a b c d', '4 2 abcd'],
    ['\\052 2 abcd', '4 2 abcd'],
    ['\\# 4 04 02 ABCD', '4 2 abcd'],
  ],
  rejected: [
    ['4 2', malformed('SSHFP', 'expecting another identifier')],
    ['4', malformed('SSHFP', 'expecting an identifier')],
    ['()', malformed('SSHFP', 'expecting an identifier')],
    ['4 2 abc', malformed('SSHFP', 'Odd-length string')],
    ['4 2 xy', malformed('SSHFP', 'Non-hexadecimal digit found')],
    ['4 2 ab:cd:', malformed('SSHFP', 'Non-hexadecimal digit found')],
    ['256 2 abcd', malformed('SSHFP', '256 is not an unsigned 8-bit integer')],
    ['4 256 abcd', malformed('SSHFP', '256 is not an unsigned 8-bit integer')],
    ['ED25519 2 abcd', malformed('SSHFP', 'expecting an integer')],
    ['4 SHA256 abcd', malformed('SSHFP', 'expecting an integer')],
    ['"4" 2 abcd', malformed('SSHFP', 'expecting an identifier')],
    ['4 2 "abcd"', malformed('SSHFP', 'expecting an identifier')],
    ['4 2 abcd\nabcd', malformed('SSHFP', 'unexpected line break')],
    ['\\# 2 0402', malformed('SSHFP', 'expecting another identifier')],
  ],
}

const CERTIFICATE = 'MIICajCCAdOgAwIBAgICBEUwDQYJKoZIhvcNAQEF'

export const CERT: Examples = {
  accepted: [
    `1 12179 3 ${CERTIFICATE}`,
    '6 0 0 sadfdQ==',
    '65535 65535 255 AA==',
    [`PKIX 1 RSASHA256 ${CERTIFICATE}`, `1 1 8 ${CERTIFICATE}`],
    [`SPKI 1 ed25519 ${CERTIFICATE}`, `2 1 15 ${CERTIFICATE}`],
    ['PGP 0 0 sadfdQ==', '3 0 0 sadfdQ=='],
    ['IPKIX 0 0 sadfdQ==', '4 0 0 sadfdQ=='],
    ['ISPKI 0 0 sadfdQ==', '5 0 0 sadfdQ=='],
    ['IPGP 0 0 sadfdd==', '6 0 0 sadfdQ=='],
    ['ACPKIX 0 0 sadfdQ==', '7 0 0 sadfdQ=='],
    ['iacpkix 0 0 sadfdQ==', '8 0 0 sadfdQ=='],
    ['URI 0 0 sadfdQ==', '253 0 0 sadfdQ=='],
    ['OID 0 0 sadfdQ==', '254 0 0 sadfdQ=='],
    ['06 00 000 sadf dQ ==', '6 0 0 sadfdQ=='],
    [`1 1 8 (${CERTIFICATE.slice(0, 9)}\t${CERTIFICATE.slice(9)})`, `1 1 8 ${CERTIFICATE}`],
    ['\\# 6 0006 0000 00 B1', '6 0 0 sQ=='],
  ],
  rejected: [
    ['0 0 0 sadfdQ==', malformed('CERT', 'certificate type 0 is reserved')],
    ['\\# 6 0000 0000 00 b1', malformed('CERT', 'certificate type 0 is reserved')],
    ['X509 0 0 sadfdQ==', malformed('CERT', 'expecting an integer')],
    ['6 x 0 sadfdQ==', malformed('CERT', 'expecting an integer')],
    ['6 0 SHA1 sadfdQ==', malformed('CERT', 'expecting an integer')],
    ['65536 0 0 sadfdQ==', malformed('CERT', '65536 is not an unsigned 16-bit integer')],
    ['6 65536 0 sadfdQ==', malformed('CERT', '65536 is not an unsigned 16-bit integer')],
    ['6 0 256 sadfdQ==', malformed('CERT', '256 is not an unsigned 8-bit integer')],
    ['6 0 0', malformed('CERT', 'expecting another identifier')],
    ['6 0 sadfdQ==', malformed('CERT', 'expecting an integer')],
    ['6 0 0 sadfdQ', malformed('CERT', 'Incorrect padding')],
    ['6 0 0 sadfdQ=', malformed('CERT', 'Incorrect padding')],
    ['6 0 0 =', malformed('CERT', 'Incorrect padding')],
    ['6 0 0 sadf!Q==', malformed('CERT', 'Non-base64 digit found')],
    ['6 0 0 "sadfdQ=="', malformed('CERT', 'expecting an identifier')],
    ['\\# 5 0006000000', malformed('CERT', 'expecting another identifier')],
  ],
}

/** Examples of OPENPGPKEY and DHCID, which are base64 alone. */
function blobs(type: string): Examples {
  return {
    accepted: [
      'AA==',
      'AAE=',
      'AAEC',
      'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
      'mQCNAzIG',
      '+/+/',
      'AAEBOSD+XR3Os/0LozeXVqcNc7FwCfQdWL3b/NaiUDlW2No=',
      ['aa aaa  aaaa a a a', 'aaaaaaaaaaaa'],
      ['AB==', 'AA=='],
      ['sadfdd==', 'sadfdQ=='],
      ['AAF=', 'AAE='],
      ['( AA\tEC )', 'AAEC'],
      ['AA = =', 'AA=='],
      ['\\065AEC', 'AAEC'],
      ['\\# 3 00 01 02', 'AAEC'],
    ],
    rejected: [
      ['()', malformed(type, 'expecting another identifier')],
      ['A', malformed(type, 'Incorrect padding')],
      ['AA', malformed(type, 'Incorrect padding')],
      ['AAA', malformed(type, 'Incorrect padding')],
      ['AA=', malformed(type, 'Incorrect padding')],
      ['A===', malformed(type, 'Incorrect padding')],
      ['====', malformed(type, 'Incorrect padding')],
      ['AA==AA==', malformed(type, 'Incorrect padding')],
      ['A=AA', malformed(type, 'Incorrect padding')],
      ['AA-_', malformed(type, 'Non-base64 digit found')],
      ['AA.A', malformed(type, 'Non-base64 digit found')],
      ['\u00c4AAA', malformed(type, 'Non-base64 digit found')],
      ['"AAEC"', malformed(type, 'expecting an identifier')],
      ['AA "EC"', malformed(type, 'expecting an identifier')],
      ['AAEC ; key', malformed(type, '";" must be quoted, comments are not allowed')],
      ['\\# 0', malformed(type, 'expecting another identifier')],
    ],
  }
}

export const OPENPGPKEY = blobs('OPENPGPKEY')
export const DHCID = blobs('DHCID')
