import { absolute, nameOf } from '../../dns/names.ts'
import type { Domain } from '../../service/domains/domains.ts'
import type { ZoneView } from '../../service/doors/zone-views.ts'
import type { RRsetState } from '../../service/rrsets/rrsets.ts'
import { arrayOf, BOOLEAN, COUNT, described, object, oneOf, ref, STRING, VERSION } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { idOf } from './zone-names.ts'

const RECORD = {
  title: 'Record',
  ...object({
    content: described(STRING, 'The content, in presentation format, with absolute names.', '192.0.2.1'),
    disabled: described(BOOLEAN, 'Always false.', false),
  }),
}

/** An RRset, as PowerDNS shows it. Some clients search the text: the order of the members is PowerDNS', too. */
export const ZONE_RRSET = representation<RRsetState, Pick<Domain, 'name'>>()(['RRSet'], {
  comments: { read: arrayOf({ type: 'object' }), text: 'Always empty.', example: [], from: () => [] },
  name: {
    read: STRING,
    text: 'The full name, with final dot.',
    example: 'www.example.com.',
    from: ({ subname }, domain) => nameOf(domain, subname),
  },
  records: {
    read: arrayOf(ref(RECORD)),
    text: 'Its records.',
    from: ({ records }) => records.map((content) => ({ content, disabled: false })),
  },
  ttl: { read: COUNT, text: 'In seconds.', example: 3600 },
  type: { read: STRING, text: 'The record type.', example: 'A' },
})

const none = { text: 'Always empty.', example: [], from: () => [] }
const noText = { text: 'Always empty.', example: '', from: () => '' }
const always = { text: 'Always true.', example: true, from: () => true }

/** A zone, as PowerDNS shows it in a list, and in full. */
export const ZONE = representation<ZoneView>()(['ZoneInList', 'Zone'], {
  account: { read: STRING, ...noText },
  api_rectify: { detail: BOOLEAN, ...always },
  catalog: { read: STRING, ...noText },
  dnssec: { read: BOOLEAN, isOptional: true, ...always },
  edited_serial: {
    read: VERSION,
    isOptional: true,
    text: 'The serial that DNS serves.',
    from: ({ serial }) => serial,
  },
  id: { read: STRING, text: 'For paths.', example: 'example.com.', from: ({ domain }) => idOf(domain.name) },
  kind: { read: oneOf('Native'), text: 'Always the same.', example: 'Native', from: () => 'Native' },
  last_check: { read: COUNT, text: 'Always 0.', example: 0, from: () => 0 },
  master_tsig_key_ids: { detail: arrayOf(STRING), ...none },
  masters: { read: arrayOf(STRING), ...none },
  name: {
    read: STRING,
    text: 'With final dot.',
    example: 'example.com.',
    from: ({ domain }) => absolute(domain.name),
  },
  notified_serial: { read: VERSION, text: 'The same.', from: ({ serial }) => serial },
  nsec3narrow: { detail: BOOLEAN, text: 'Whether NSEC3 is narrow.', example: false },
  nsec3param: {
    detail: STRING,
    text: 'The parameters of NSEC3; empty with NSEC.',
    example: '1 0 0 -',
  },
  serial: { read: VERSION, text: 'The same.', from: ({ serial }) => serial },
  slave_tsig_key_ids: { detail: arrayOf(STRING), ...none },
  soa_edit: { detail: STRING, ...noText },
  soa_edit_api: {
    detail: STRING,
    text: 'Every change increases the serial.',
    example: 'DEFAULT',
    from: () => 'DEFAULT',
  },
  url: {
    read: STRING,
    text: 'The path.',
    example: '/api/v1/servers/localhost/zones/example.com.',
    from: ({ domain }) => `/api/v1/servers/localhost/zones/${idOf(domain.name)}`,
  },
})
