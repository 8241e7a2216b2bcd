import { absolute } from '../../dns/names.ts'
import type { Domain } from '../../service/domains/domains.ts'
import type { FoundRRset } from '../../service/domains/record-search.ts'
import { BOOLEAN, COUNT, oneOf, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { idOf } from './zone-names.ts'

/** A zone that a search found. */
export const FOUND_ZONE = representation<Domain>()(['FoundZone'], {
  name: { read: STRING, text: 'With final dot.', example: 'example.com.', from: ({ name }) => absolute(name) },
  object_type: { read: oneOf('zone'), text: 'Always the same.', from: () => 'zone' },
  zone_id: { read: STRING, text: 'Its id.', example: 'example.com.', from: ({ name }) => idOf(name) },
})

/** A record that a search found. */
export const FOUND_RECORD = representation<FoundRRset & { content: string; name: string }>()(['FoundRecord'], {
  content: { read: STRING, text: 'Its content.', example: '192.0.2.1' },
  disabled: { read: BOOLEAN, text: 'Always false.', example: false, from: () => false },
  name: { read: STRING, text: 'Its full name.', example: 'www.example.com.' },
  object_type: { read: oneOf('record'), text: 'Always the same.', from: () => 'record' },
  ttl: { read: COUNT, text: 'In seconds.', example: 3600 },
  type: { read: STRING, text: 'Its type.', example: 'A' },
  zone: { read: STRING, text: 'Its zone.', example: 'example.com.', from: ({ domain }) => absolute(domain) },
  zone_id: { read: STRING, text: 'The id of its zone.', example: 'example.com.', from: ({ domain }) => idOf(domain) },
})
