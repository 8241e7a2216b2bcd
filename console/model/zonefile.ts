import { readZoneFile, ZoneFileError } from '../../src/dns/zonefile.ts'
import { inOrder } from './order.ts'
import { shownName, type Change } from './rrset.ts'

/** What a zone file would make of an empty domain, as far as the browser can tell. */
export interface Preview {
  changes: Change[]
  problems: string[]
}

/** Reads a zone file for a domain that is to be created. SOA, NS at the apex and DNSSEC records are left out, as there. */
export function previewOf(text: string, domain: string): Preview {
  try {
    const reading = readZoneFile(text, domain)
    let step = reading.next()
    while (step.done !== true) step = reading.next()
    const problems = step.value.flatMap((rrset) =>
      rrset.problems.map((problem) => `${shownName(rrset.subname)} ${rrset.type}: ${problem}`),
    )
    const changes = step.value.map(({ subname, type, ttl, records }) => ({
      subname,
      type,
      before: null,
      after: { ttl: ttl ?? 0, records },
    }))
    return { changes: inOrder(changes), problems }
  } catch (error) {
    if (error instanceof ZoneFileError) return { changes: [], problems: [error.message] }
    throw error
  }
}
