import { type Delegation, type DomainState, STATES } from '../../service/delegation/checks.ts'
import { dsTtlOf } from '../../service/delegation/observation.ts'
import { arrayOf, COUNT, nullable, oneOf, ref, STRING, TIME } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

const SERVER = representation<Delegation['servers'][number]>()(['ParentServer'], {
  name: { read: STRING, text: 'Its name, without final dot.', example: 'a.parent.example' },
  address: {
    read: STRING,
    text: 'The address at which it was asked; empty if it has none that may be asked.',
    example: '192.0.2.1',
  },
  ns: {
    read: arrayOf(STRING),
    text: 'The nameservers to which it delegates the domain.',
    example: ['ns1.example.net', 'ns2.example.net'],
  },
  ds: {
    read: arrayOf(STRING),
    text: 'The contents of the DS records of the domain.',
    example: ['12345 13 2 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  },
  problem: {
    read: nullable(STRING),
    text: 'The reason why `ns` and `ds` are empty, if it has not told them.',
    example: 'does not answer',
  },
})

const RESULT = {
  state: {
    read: oneOf(...Object.keys(STATES)),
    text: Object.entries(STATES)
      .map(([state, meaning]) => `\`${state}\`: ${meaning}.`)
      .join(' '),
    example: 'secure',
  },
  checked: { read: nullable(TIME), text: 'The time of the check; null: there was none yet.' },
}

/** The state of a delegation at the last check. */
export const LAST_CHECK = representation<Pick<DomainState, 'state' | 'checked'>>()(['LastCheck'], RESULT)

/** The state of one of all domains, as the last check at its parent found it (contract §15.9). */
export const DOMAIN_STATE = representation<DomainState>()(['DomainState'], {
  domain: { read: STRING, text: 'The domain.', example: 'example.com' },
  ...RESULT,
})

/** The delegation of a domain, as the last check at the parent found it (contract §15.9). */
export const DELEGATION = representation<Delegation>()(['Delegation'], {
  ...RESULT,
  parent: {
    read: nullable(STRING),
    text: 'The zone that delegates the domain; null if it was not found.',
    example: 'example',
  },
  ds_ttl: {
    read: nullable(COUNT),
    text: 'The greatest TTL of the DS records, in seconds; null if there are none.',
    example: 3600,
    from: ({ servers }) => dsTtlOf(servers),
  },
  nameservers: {
    read: arrayOf(ref(SERVER.schema)),
    text: 'The servers of the parent zone.',
    from: ({ servers }) => servers.map((server) => SERVER.present(server)),
  },
  problems: {
    read: arrayOf(STRING),
    text: 'What to do, in sentences; and what will break later.',
    example: ['The nameserver ns2.example.net does not serve the domain: 192.0.2.2 does not answer.'],
  },
})
