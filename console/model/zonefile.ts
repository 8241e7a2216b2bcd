import { readZoneFile, ZoneFileError } from '../../src/dns/zonefile.ts'
import { adviceOn } from './advice.ts'
import { inOrder } from './order.ts'
import { titleOf } from './rows.ts'
import { type Change, shownName } from './rrset.ts'

/** What a zone file would make of an empty domain, as far as the browser can tell. */
export interface Preview {
  changes: Change[]
  problems: string[]
  /** What is seldom meant. */
  hints: string[]
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
    const ordered = inOrder(changes)
    const rrsets = ordered.map((change) => ({ ...change, ...change.after }))
    const hints = adviceOn(rrsets, domain).map((advice) => `${titleOf(advice)}: ${advice.text}`)
    return { changes: ordered, problems, hints }
  } catch (error) {
    if (error instanceof ZoneFileError) return { changes: [], problems: [explained(error, text)], hints: [] }
    throw error
  }
}

/** The problem, with the name that it is about, or with the line. */
function explained({ message, subname }: ZoneFileError, text: string): string {
  if (subname !== undefined) return `${shownName(subname)}: ${message}`
  const [, number] = /line (\d+)/.exec(message) ?? []
  return number === undefined ? message : `${message} The line: ${text.split('\n')[Number(number) - 1]!.slice(0, 200)}`
}
