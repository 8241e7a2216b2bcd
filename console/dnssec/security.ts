import type { components } from '../../build/api-types.d.ts'
import { api, ask, Refused } from '../api/client.ts'
import { overviewOf } from '../api/domains.ts'
import { mayChange } from '../api/me.ts'
import { nameserversOf } from '../api/rrsets.ts'
import type { RRset } from '../rrsets/rrset.ts'

type Schemas = components['schemas']

/** What the API says about the security of a domain. */
export interface Security {
  domain: Schemas['DomainWithKeys']
  /** The keys that sign: those of the service. */
  keys: Schemas['Key'][]
  /** The names of the nameservers that registrars enter. */
  nameservers: string[]
  delegation: Schemas['Delegation']
  /** Null: there is none, or the token may not see it. */
  rollover: Schemas['Rollover'] | null
  /** What the parent zone lacks, if the token may change it here; otherwise empty. */
  missing: RRset[]
}

/** Asks for all that the page of a domain's security shows. @throws Refused */
export async function securityOf(name: string): Promise<Security> {
  const params = { path: { name } }
  const [domain, nameservers, delegation, rollover] = await Promise.all([
    ask(api.GET('/api/v1/domains/{name}/', { params })),
    nameserversOf(name),
    ask(api.GET('/api/v1/domains/{name}/delegation/', { params })),
    mayChange(name) ? rolloverOf(name) : null,
  ])
  const keys = domain.keys.filter(({ managed }) => managed)
  const isSettled = rollover === null && domain.suspended === undefined
  const missing =
    isSettled && (await isOwn(delegation, nameservers)) ? missingIn(delegation, name, nameservers, keys) : []
  return { domain, keys, nameservers, delegation, rollover, missing }
}

/** Whether the parent zone is a domain that the token may change, and our nameservers are those of the zone. */
async function isOwn({ parent, nameservers }: Schemas['Delegation'], ours: string[]): Promise<boolean> {
  if (!parent || !mayChange(parent) || !nameservers.some(({ name }) => ours.includes(name))) return false
  return (await overviewOf(parent)) !== undefined
}

/** The record sets of a delegation, as the service itself makes them (contract §7.6), which the parent zone lacks. */
function missingIn(
  { state, parent }: Schemas['Delegation'],
  name: string,
  nameservers: string[],
  keys: Schemas['Key'][],
): RRset[] {
  const subname = name.slice(0, -parent!.length - 1)
  const ds = keys.flatMap((key) => key.ds.filter((text) => text.split(' ')[2] === '2'))
  return [
    { subname, type: 'NS', ttl: 3600, records: state === 'not-delegated' ? nameservers.map((host) => `${host}.`) : [] },
    { subname, type: 'DS', ttl: 300, records: state === 'not-delegated' || state === 'insecure' ? ds : [] },
  ].filter(({ records }) => records.length > 0)
}

async function rolloverOf(name: string): Promise<Schemas['Rollover'] | null> {
  const overview = await overviewOf(name)
  // Where there is none, nobody asks for it.
  if (!overview?.rollover) return null
  try {
    return await ask(api.GET('/api/v1/domains/{name}/rollover/', { params: { path: { name } } }))
  } catch (reason) {
    if (reason instanceof Refused && [403, 404].includes(reason.status)) return null
    throw reason
  }
}
