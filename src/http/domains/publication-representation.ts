import type { NameserverStatus, PublicationStatus } from '../../service/domains/serving-status.ts'
import { arrayOf, nullable, oneOf, ref, STRING, TIME, VERSION } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

const NAMESERVER = representation<NameserverStatus>()(['NameserverStatus'], {
  name: { read: STRING, text: 'Its name, with final dot.', example: 'ns1.example.net.' },
  status: {
    read: oneOf('INSYNC', 'PENDING', 'UNREACHABLE'),
    text: 'INSYNC: it serves this version or a later one. UNREACHABLE: it does not answer.',
    example: 'INSYNC',
  },
  version: { read: nullable(VERSION), text: 'The version that it serves; null if it serves none, or does not answer.' },
  detail: { read: STRING, isOptional: true, text: 'The reason, if it is PENDING.', example: 'serves an older version' },
})

/** The status of a version of a domain: served or not yet (contract §15.6). */
export const PUBLICATION = representation<PublicationStatus>()(['PublicationStatus'], {
  version: { read: VERSION, text: 'The requested version.' },
  published: { read: TIME, text: "The time of the last change of the domain's contents in DNS." },
  status: {
    read: oneOf('INSYNC', 'PENDING'),
    text: 'INSYNC: every name server that can be reached, and at least one, serves this version or a later one.',
    example: 'INSYNC',
  },
  nameservers: {
    read: arrayOf(ref(NAMESERVER.schema)),
    text: 'The primary, and then the secondaries.',
    from: ({ nameservers }) => nameservers.map((server) => NAMESERVER.present(server)),
  },
})
