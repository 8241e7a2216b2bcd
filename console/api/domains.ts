import type { components, paths } from '../../build/api-types.d.ts'
import { api, ask, askAll, askPage, askWhole, type Slice } from './client.ts'

export type Domain = components['schemas']['Domain']
export type Overview = components['schemas']['DomainOverview']
export type DeletedDomain = components['schemas']['DeletedDomain']

/** Reads the domain's ETag, the least TTL of its RRsets, and whether nobody can change it. */
export async function readDomain(name: string): Promise<{ tag: string; minimumTtl: number; isSuspended: boolean }> {
  const { data, response } = await askWhole(api.GET('/api/v1/domains/{name}/', { params: { path: { name } } }))
  return { tag: response.headers.get('ETag')!, minimumTtl: data.minimum_ttl, isSuspended: data.suspended !== undefined }
}

/** All domains that the token sees, page by page. @param onPage called with those so far @throws Refused */
export async function allDomains(onPage: (domains: Overview[]) => void): Promise<Overview[]> {
  return askAll((cursor) => domainPage<Overview>({ cursor, overview: 'true' }), onPage)
}

/** Reads a domain; undefined if the token sees none of this name. @throws Refused */
export async function overviewOf(name: string): Promise<Overview | undefined> {
  const { items } = await domainPage<Overview>({ cursor: '', overview: 'true', owns_qname: name })
  // A name within another domain is that domain's.
  return items.find((domain) => domain.name === name)
}

/** A page of the deleted domains that can be restored. @throws Refused */
export async function deletedDomains(cursor: string): Promise<Slice<DeletedDomain>> {
  return domainPage({ cursor, deleted: 'true' })
}

/** The first page of the domains whose names contain a text, the newest first. @throws Refused */
export async function domainsWith(search: string): Promise<Slice<Domain>> {
  return domainPage({ cursor: '', search })
}

/** @param query which decides of what kind the entries are */
async function domainPage<T extends Domain | DeletedDomain>(
  query: NonNullable<paths['/api/v1/domains/']['get']['parameters']['query']>,
): Promise<Slice<T>> {
  return askPage<unknown>(api.GET('/api/v1/domains/', { params: { query } })) as Promise<Slice<T>>
}

/** Has the delegation of a domain checked now. @throws Refused */
export async function checkDelegation(name: string): Promise<void> {
  await ask(api.POST('/api/v1/domains/{name}/delegation/', { params: { path: { name } } }))
}
