import type { components } from '../../build/api-types.d.ts'
import { api, ask, Refused } from '../api/client.ts'
import { overviewOf } from '../api/domains.ts'
import { mayChange } from '../api/me.ts'
import { nameserversOf } from '../api/rrsets.ts'

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
  return { domain, keys: domain.keys.filter(({ managed }) => managed), nameservers, delegation, rollover }
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
