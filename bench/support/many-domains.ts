import { createLog } from '../../src/log.ts'
import type { SigningKey } from '../../src/nameserver/nameserver.ts'
import { createSystem } from '../../src/process/create-system.ts'
import { storeKeys } from '../../src/service/secrets/signing-keys.ts'
import { readConfig } from '../../src/settings/config.ts'
import { type Db, query } from '../../src/store/database.ts'
import { environmentFor } from '../../test/support/servers/service.ts'
import { throughput } from './measure.ts'
import type { Setup } from './setup.ts'
import { address, rawRRset, rawZone, zone } from './zones.ts'

const HOSTS = Array.from({ length: 9 }, (_, i) => ({ subname: `host${i}`, address: address(i) }))
/** As many requests as PowerDNS' web server takes at a time. */
const WORKERS = 8

/**
 * Makes domains of ten RRsets, `zone(0)` and so on, as the API would in several times as long: database and PowerDNS have
 * the same, and the keys are stored. Only the history lacks the creations.
 */
export async function makeDomains({ raw, backends }: Setup, count: number): Promise<void> {
  await using system = createSystem(readConfig(environmentFor(backends)), backends, createLog('error'))
  const keys: SigningKey[][] = []
  await throughput(count, WORKERS, async (_, i) => {
    const name = `${zone(i)}.` as const
    const { rrsets, ...settings } = rawZone(i, name)
    const hosts = HOSTS.map(({ subname, address }) => rawRRset(`${subname}.${name}`, 'A', address))
    await raw('POST', '/zones?rrsets=false', { ...settings, rrsets: [...rrsets, ...hosts] })
    keys[i] = await system.nameserver.signingKeys(name)
  })
  const domains = await store(system.db, count)
  await throughput(count, WORKERS, async (_, i) => {
    await storeKeys(system, system.db, domains[i]!, keys[i]!, { only: false })
  })
  await query(system.db, 'analyze')
}

/** Stores the domains and their RRsets. */
async function store(db: Db, count: number): Promise<{ id: number; name: string }[]> {
  // Without the triggers, which would update the account for each domain, and join all RRsets.
  await query(db, 'alter table domains disable trigger domains_count')
  await query(db, 'alter table rrsets disable trigger rrsets_cname_alone')
  const domains = await query<{ id: number; name: string }>(
    db,
    `with made as (
       insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
       select name, accounts.id, 60, 1, :size, now() - interval '1 ms' * n, now(), now()
       from accounts, unnest(cast(:names as text[])) with ordinality as zones (name, n)
       returning id, name, created
     ) select id, name from made order by created desc`,
    { size: HOSTS.length + 1, names: Array.from({ length: count }, (_, i) => zone(i)) },
  )
  await query(db, 'update accounts set domains = domains + cast(:count as integer)', { count })
  await query(
    db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select id, rrset.subname, rrset.type, 60, rrset.records, created, touched
     from domains, (
       select '' as subname, 'NS' as type, array['ns1.bench.test.', 'ns2.bench.test.'] as records
       union all
       select subname, 'A', array[address]
       from unnest(cast(:subnames as text[]), cast(:addresses as text[])) as hosts (subname, address)
     ) as rrset
     where domains.name like 'zone%'`,
    { subnames: HOSTS.map(({ subname }) => subname), addresses: HOSTS.map(({ address }) => address) },
  )
  await query(db, 'alter table domains enable trigger domains_count')
  await query(db, 'alter table rrsets enable trigger rrsets_cname_alone')
  return domains
}
