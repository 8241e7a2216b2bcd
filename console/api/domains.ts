import type { components } from '../../build/api-types.d.ts'
import { api, askWhole, nextCursor } from './client.ts'

export type Domain = components['schemas']['Domain']
export type DeletedDomain = components['schemas']['DeletedDomain']

/** All domains of the account, page by page. @param onPage called with those so far @throws Refused */
export async function allDomains(onPage: (domains: Domain[]) => void): Promise<Domain[]> {
  const domains: Domain[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = await domainPage(cursor, 'false')
    domains.push(...(page.items as Domain[]))
    onPage([...domains])
    cursor = page.next
  }
  return domains
}

/** A page of the deleted domains that can be restored. @throws Refused */
export async function deletedDomains(cursor: string): Promise<{ items: DeletedDomain[]; next: string | undefined }> {
  return (await domainPage(cursor, 'true')) as { items: DeletedDomain[]; next: string | undefined }
}

async function domainPage(cursor: string, deleted: 'true' | 'false') {
  const { data, response } = await askWhole(api.GET('/api/v1/domains/', { params: { query: { cursor, deleted } } }))
  return { items: data, next: nextCursor(response) }
}
