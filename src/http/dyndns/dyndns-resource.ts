import type { Group, Resource } from '../kit/resource.ts'
import { refuseDryRun } from '../kit/terms.ts'
import { reportPublication } from '../middleware/report-publication.ts'
import { CHECK_IP_PATH, UPDATE_PATH } from '../middleware/request-target.ts'
import { throttle } from '../middleware/throttle.ts'
import { text } from '../openapi/answers.ts'
import { authenticateForUpdate } from './authenticate-for-update.ts'
import * as dyndns from './dyndns-handlers.ts'

function update(path: string, id: string): Resource {
  return {
    path,
    guards: [authenticateForUpdate],
    dyndns: true,
    GET: {
      id,
      summary: 'Update the addresses of names',
      description:
        'Without addresses in the query, sets the address of the client. The parameters `myipv4:<host>` and ' +
        '`myipv6:<host>` apply only to this host. The request updates all names, or none.',
      query: ['hostname', 'host_id', 'myip', 'myipv4', 'ip', 'ipv4', 'myipv6', 'ipv6'],
      answers: { 200: text('good', 'A line `good` for each host, also if nothing has changed.') },
      errors: {
        400: ['IP parameter "myip" cannot use subnet notation with multiple addresses.'],
        403: ['Insufficient token permissions.'],
        409: [],
      },
      // The API rejects a wrong method before it looks at the hosts (contract §10.1).
      chain: [refuseDryRun, dyndns.findHosts, throttle('dyndns'), reportPublication, dyndns.update],
    },
  }
}

/** Dynamic DNS (contract §10). */
export const DYNDNS: Group = {
  tag: 'Dynamic DNS',
  text:
    'For routers and other devices with changing addresses, in their protocols. Responses are plain text. On host ' +
    'names that the operator reserves for updates, every path means an update.',
  resources: [
    update('/api/v1/dyndns/update', 'updateAddresses'),
    update('/nic/update', 'updateAddressesAsDyndns2'),
    update(UPDATE_PATH, 'updateAddressesShortly'),
    {
      path: CHECK_IP_PATH,
      guards: [],
      dyndns: true,
      GET: {
        id: 'showAddress',
        summary: "Show the client's address",
        answers: { 200: text('192.0.2.7', 'An IPv4 or IPv6 address.') },
        chain: [dyndns.showAddress],
      },
    },
  ],
}
