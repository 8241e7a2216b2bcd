import packet from 'dns-packet'
import { randomInt } from 'node:crypto'

/** NOTIFY (RFC 1996 §3.3), with the flag AA (§3.7). */
const NOTIFY = (4 << 11) | packet.AUTHORITATIVE_ANSWER

/** A NOTIFY for a zone: a name without final dot. */
export function notifyMessage(zone: string): Buffer {
  return packet.encode({
    type: 'query',
    id: randomInt(65_536),
    flags: NOTIFY,
    questions: [{ name: zone, type: 'SOA' }],
  })
}
