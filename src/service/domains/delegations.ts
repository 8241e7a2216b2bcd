import { parseRdata } from '../../dns/rdata.ts'
import { APEX_NS_TTL, DELEGATION_DS_TTL } from '../../limits.ts'
import type { Key } from '../../nameserver/nameserver.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { localParent } from '../zone/local-suffixes.ts'
import { desired, type Change } from '../zone/changes.ts'
import type { UnderMark } from '../zone/publication.ts'
import { writeAlso } from '../zone/zones.ts'

/** What the zone of a local public suffix says about a domain below it, by type; without records, nothing. */
type Delegation = Record<'NS' | 'DS', { ttl: number; records: string[] }>

/** Delegates a new domain in the zone of its local public suffix, if that is hosted here (contract §7.6). */
export async function delegate(
  system: System,
  trx: Db,
  underMark: UnderMark,
  { name, keys }: { name: string; keys: Pick<Key, 'ds'>[] },
): Promise<void> {
  await write(system, trx, underMark, name, {
    NS: { ttl: APEX_NS_TTL, records: system.config.nameServers },
    DS: { ttl: DELEGATION_DS_TTL, records: keys.flatMap(({ ds }) => ds) },
  })
}

/** Takes the delegation of a domain away that is being deleted. */
export async function withdraw(system: System, trx: Db, underMark: UnderMark, name: string): Promise<void> {
  const nothing = { ttl: APEX_NS_TTL, records: [] }
  await write(system, trx, underMark, name, { NS: nothing, DS: nothing })
}

async function write(system: System, trx: Db, underMark: UnderMark, name: string, delegation: Delegation) {
  const suffix = localParent(name, system.config.localPublicSuffixes)
  if (suffix === undefined) return
  const subname = name.slice(0, -suffix.length - 1)
  await writeAlso(system, trx, underMark, suffix, subname, ({ current }) => {
    const present = new Map(current.map((rrset) => [rrset.type, rrset]))
    const changes = Object.entries(delegation).map(([type, { ttl, records }]): Change => {
      const rdata = records.map((text) => parseRdata(type, text))
      const after = rdata.length === 0 ? undefined : desired({ subname, type, ttl }, rdata)
      return { subname, type, before: present.get(type), after }
    })
    // Beside a CNAME there can be no delegation.
    const cname = { subname, type: 'CNAME', before: present.get('CNAME'), after: undefined }
    return delegation.NS.records.length === 0 ? changes : [cname, ...changes]
  })
}
