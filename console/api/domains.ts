import type { components } from '../../build/api-types.d.ts'
import { api, askAll, askPage, askWhole, type Slice } from './client.ts'

export type Domain = components['schemas']['Domain']
export type DeletedDomain = components['schemas']['DeletedDomain']

/** Reads the domain's ETag, and the least TTL of its RRsets. */
export async function readDomain(name: string): Promise<{ tag: string; minimumTtl: number }> {
  const { data, response } = await askWhole(api.GET('/api/v1/domains/{name}/', { params: { path: { name } } }))
  return { tag: response.headers.get('ETag')!, minimumTtl: data.minimum_ttl }
}

/** All domains of the account, page by page. @param onPage called with those so far @throws Refused */
export async function allDomains(onPage: (domains: Domain[]) => void): Promise<Domain[]> {
  return askAll((cursor) => domainPage(cursor, 'false') as Promise<Slice<Domain>>, onPage)
}

/** The states of all domains at their last checks, by name. @throws Refused */
export async function allStates(): Promise<Map<string, string>> {
  const all = await askAll((cursor) => askPage(api.GET('/api/v1/delegations/', { params: { query: { cursor } } })))
  return new Map(all.map(({ domain, state }) => [domain, state]))
}

/** A page of the deleted domains that can be restored. @throws Refused */
export async function deletedDomains(cursor: string): Promise<Slice<DeletedDomain>> {
  return domainPage(cursor, 'true') as Promise<Slice<DeletedDomain>>
}

/** The first page of the domains whose names contain a text, the newest first. @throws Refused */
export async function domainsWith(search: string): Promise<Slice<Domain>> {
  return domainPage('', 'false', search) as Promise<Slice<Domain>>
}

async function domainPage(cursor: string, deleted: 'true' | 'false', search?: string) {
  const query = { cursor, deleted, ...(search !== undefined && { search }) }
  return askPage<Domain | DeletedDomain>(api.GET('/api/v1/domains/', { params: { query } }))
}
