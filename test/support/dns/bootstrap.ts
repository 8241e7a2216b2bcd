import type { Server } from './dns.ts'
import { contentOf, type Message, query } from './wire.ts'

/** What a registry asks: the servers of its zone, a validating resolver, and all nameservers on one port. */
export interface Registry {
  parents: readonly Server[]
  resolver: Server
  port: number
}

/**
 * Authenticates the first DS of a domain as a registry does (RFC 9615 §4.2).
 * @returns the contents of its CDS
 * @throws an error that says which condition does not hold
 */
export async function bootstrap({ parents, resolver, port }: Registry, name: string): Promise<string[]> {
  // Step 1.
  const hosts = new Set<string>()
  for (const parent of parents) {
    if (recordsOf(await query(parent, name, 'DS'), 'DS').length > 0) throw new Error('it has DS already')
    const { authorities } = await query(parent, name, 'NS')
    for (const record of authorities) if (record.type === 'NS') hosts.add(contentOf(record).replace(/\.$/, ''))
  }
  const outside = [...hosts].filter((host) => !host.endsWith(`.${name}`))
  if (outside.length === 0) throw new Error('no nameserver is outside of the domain')

  const setsOf = async (type: string): Promise<string[][]> => {
    const sets: string[][] = []
    // Step 2.
    for (const host of hosts) {
      const [address] = recordsOf(await query(resolver, host, 'A', { recursive: true }), 'A')
      const message = await query({ dnsHost: address!, dnsPort: port }, name, type)
      const isGood = message.isAuthoritative && message.rcode === 'NOERROR'
      if (!isGood) throw new Error(`${host} answers ${message.rcode} for ${name}`)
      sets.push(recordsOf(message, type))
    }
    // Step 3.
    for (const host of outside) {
      const signal = `_dsboot.${name}._signal.${host}`
      const message = await query(resolver, signal, type, { recursive: true })
      if (message.rcode !== 'NOERROR') throw new Error(`${signal}: ${message.rcode}`)
      if (!message.isAuthentic) throw new Error(`${signal} is not authenticated`)
      sets.push(recordsOf(message, type))
    }
    return sets
  }
  const [cds, cdnskey] = [await setsOf('CDS'), await setsOf('CDNSKEY')]
  // Step 4.
  for (const sets of [cds, cdnskey]) {
    if (new Set(sets.map((records) => records.join())).size !== 1) throw new Error('the sets differ')
    if (sets[0]!.length === 0) throw new Error('there is nothing to act on')
  }
  return cds[0]!
}

function recordsOf({ answers }: Message, type: string): string[] {
  return answers.filter((record) => record.type === type).map(contentOf).sort() // prettier-ignore
}
