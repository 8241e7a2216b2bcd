import type { components } from '../../build/api-types.d.ts'
import { withoutDot } from '../../src/dns/names.ts'
import type { RRset } from '../rrsets/rrset.ts'
import { api, ask, askAll, askPage, type Slice } from './client.ts'

/** All RRsets of a domain, page by page. @param onPage called with those so far @throws Refused */
export async function allRRsets(name: string, onPage?: (rrsets: RRset[]) => void): Promise<RRset[]> {
  const page = async (cursor: string) => {
    const params = { path: { name }, query: { cursor } }
    const { items, next } = await askPage(api.GET('/api/v1/domains/{name}/rrsets/', { params }))
    return { items: items.map(({ subname, type, ttl, records }) => ({ subname, type, ttl, records })), next }
  }
  return askAll(page, onPage)
}

/** The names in the NS records of a domain, which the parent zone shall have; without final dot. @throws Refused */
export async function nameserversOf(name: string): Promise<string[]> {
  const params = { path: { name }, query: { subname: '', type: 'NS' } }
  const [rrset] = await ask(api.GET('/api/v1/domains/{name}/rrsets/', { params }))
  return (rrset?.records ?? []).map(withoutDot)
}

/** A page of the RRsets in all domains with a content or a name (contract §15.12). @throws Refused */
export async function searchRRsets(
  cursor: string,
  wanted: { content?: string; name?: string },
): Promise<Slice<components['schemas']['RRset']>> {
  return askPage(api.GET('/api/v1/rrsets/', { params: { query: { cursor, ...wanted } } }))
}
