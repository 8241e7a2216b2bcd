import type { Cryptokey } from '../../service/doors/cryptokeys.ts'
import { arrayOf, BOOLEAN, COUNT, oneOf, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** A key that signs a zone, as PowerDNS shows it in a list: without its private half. */
export const CRYPTOKEY = representation<Cryptokey>()(['Cryptokey'], {
  active: { read: BOOLEAN, text: 'Always true.', example: true, from: () => true },
  algorithm: { read: STRING, text: 'The name of its algorithm.', example: 'ECDSAP256SHA256' },
  dnskey: { read: STRING, text: 'The content of the DNSKEY record.', example: '257 3 13 …' },
  ds: { read: arrayOf(STRING), text: 'The contents of DS records for the parent zone.' },
  flags: { read: COUNT, text: 'Its flags.', example: 257 },
  id: { read: COUNT, text: 'Its key tag.', example: 6454 },
  keytype: { read: oneOf('csk', 'ksk', 'zsk'), text: 'The kind of the key.', example: 'csk' },
  published: { read: BOOLEAN, text: 'Always true.', example: true, from: () => true },
  type: { read: oneOf('Cryptokey'), text: 'Always the same.', from: () => 'Cryptokey' },
})
