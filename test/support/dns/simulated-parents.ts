import type { Endpoint } from '../../../src/nameserver/wire/client.ts'
import type { Question, Reply, ReplyRecord } from '../../../src/nameserver/wire/messages.ts'

// Parents that are asked in memory: each name of one label is a zone on two nameservers, which delegate all domains below
// it to one of ours, without DS.

/** The address of the resolver. */
export const RESOLVER = '192.0.2.4'

const OURS = '192.0.2.1'
const ADDRESSES: Record<string, string> = {
  'a.example': '192.0.2.2',
  'b.example': '192.0.2.3',
  'ns1.zoneplane.test': OURS,
}

/** Answers as the resolver, or a nameserver, of this address. */
export function answer({ address }: Endpoint, { name, type }: Question): Reply {
  const soa = [record('SOA', name.slice(name.lastIndexOf('.') + 1), '1')]
  if (address === OURS) return reply({ answers: [record('SOA', name, '1')] })
  if (address !== RESOLVER) {
    return type === 'DS'
      ? reply({ authorities: soa })
      : reply({ isAuthoritative: false, authorities: [record('NS', name, 'ns1.zoneplane.test')] })
  }
  if (type === 'SOA') return reply({ answers: soa })
  if (type === 'NS') return reply({ answers: ['a.example', 'b.example'].map((host) => record('NS', name, host)) })
  return reply({ answers: type === 'A' ? [record('A', name, ADDRESSES[name]!)] : [] })
}

function record(type: string, name: string, content: string): ReplyRecord {
  return { name, type, ttl: 60, content }
}

function reply(more: Partial<Reply>): Reply {
  const empty = { answers: [], authorities: [], additionals: [] }
  return { rcode: 'NOERROR', isAuthoritative: true, isTruncated: false, ...empty, ...more }
}
