import { oneOf, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

const SERVER_URL = '/api/v1/servers/localhost'

/** The version of PowerDNS whose API this is. Clients read its numbers; what follows says who answers. */
const VERSION = '5.0.2-zoneplane'

/** A version of the API. */
export const API = representation<object>()(['Api'], {
  url: { read: oneOf('/api/v1'), text: 'The path.', example: '/api/v1', from: () => '/api/v1' },
  version: { read: { type: 'integer' }, text: 'Its number.', example: 1, from: () => 1 },
})

/** The server: there is always this one. */
export const SERVER = representation<object>()(['Server'], {
  config_url: {
    read: STRING,
    text: 'A template that leads nowhere: the settings are the operator’s.',
    from: () => `${SERVER_URL}/config{/config_setting}`,
  },
  daemon_type: { read: oneOf('authoritative'), text: 'Always the same.', from: () => 'authoritative' },
  id: { read: oneOf('localhost'), text: 'Always the same.', from: () => 'localhost' },
  type: { read: oneOf('Server'), text: 'Always the same.', from: () => 'Server' },
  url: { read: STRING, text: 'The path.', example: SERVER_URL, from: () => SERVER_URL },
  version: {
    read: STRING,
    text: 'The version of PowerDNS whose API the service speaks.',
    example: VERSION,
    from: () => VERSION,
  },
  zones_url: { read: STRING, text: 'A template of paths.', from: () => `${SERVER_URL}/zones{/zone}` },
})
