import { overlap, parseNetwork } from '../../dns/addresses.ts'
import { Invalid, type Problems } from '../../errors.ts'
import { TRANSFER_ADDRESSES_MAX, TRANSFER_NOTIFY_MAX } from '../../limits.ts'
import { addressProblem, type TransferKey, type TransferSettings } from '../../service/domains/transfers.ts'
import type { Config } from '../../settings/config.ts'
import { boolean } from '../fields/fields.ts'
import { transferAddresses } from '../fields/networks.ts'
import { oneOf, ref, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

const KEY = representation<TransferKey>()(['TransferKey'], {
  name: { read: STRING, text: 'Its name, which is random.', example: 'key-0b9f4e5c-52a1-4f0e-9a57-8d1c2f3e4a5b' },
  algorithm: { read: oneOf('hmac-sha256'), text: 'Its algorithm.', example: 'hmac-sha256' },
  secret: { read: STRING, text: 'Its secret, in Base64.', example: 'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=' },
})

/** The permissions to transfer a domain's zone; in full with a new key (contract §15.7). */
export const TRANSFERS = representation<TransferSettings & { key?: TransferKey }>()(['Transfers', 'NewTransferKey'], {
  addresses: {
    write: transferAddresses(TRANSFER_ADDRESSES_MAX),
    text: `Clients that may transfer the zone without a key: at most ${TRANSFER_ADDRESSES_MAX} addresses and networks.`,
    example: ['192.0.2.7', '2001:db8::/64'],
  },
  notify: {
    write: transferAddresses(TRANSFER_NOTIFY_MAX),
    text: `Servers that get a NOTIFY after each change: at most ${TRANSFER_NOTIFY_MAX} of the addresses in \`addresses\`.`,
    example: ['192.0.2.7'],
  },
  tsig: {
    write: boolean(),
    text: 'Whether the zone has a TSIG key. Every client with the key may transfer the zone.',
    example: true,
  },
  key: {
    readOnce: ref(KEY.schema),
    text: 'The key, if this request created it.',
    from: ({ key }) => KEY.present(key!),
  },
})

/** Reads all permissions to transfer a domain's zone. @throws Invalid */
export function readTransfers(body: unknown, config: Config): TransferSettings {
  const { addresses, notify, tsig } = TRANSFERS.readForm(body, ['addresses', 'notify', 'tsig'])
  const allowed = addresses.map(parseNetwork)
  const problems: Problems = {
    addresses: itemProblems(addresses, (text) => addressProblem(config, parseNetwork(text))),
    notify: itemProblems(notify, (text) => {
      if (text.includes('/')) return 'Must be one address.'
      return allowed.some((network) => overlap(network, parseNetwork(text))) ? undefined : 'Must be in addresses.'
    }),
  }
  const some = Object.entries(problems).filter(([, texts]) => texts.length > 0)
  if (some.length > 0) throw new Invalid(Object.fromEntries(some))
  return { addresses: [...new Set(addresses)], notify: [...new Set(notify)], tsig }
}

function itemProblems(items: string[], problemOf: (item: string) => string | undefined): string[] {
  return items.flatMap((item, i) => {
    const problem = problemOf(item)
    return problem === undefined ? [] : [`Item ${i}: ${problem}`]
  })
}
