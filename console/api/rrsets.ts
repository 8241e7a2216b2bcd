import type { RRset } from '../model/rrset.ts'
import { api, askWhole, nextCursor } from './client.ts'

/** All RRsets of a domain, page by page. @param onPage called with those so far @throws Refused */
export async function allRRsets(name: string, onPage: (rrsets: RRset[]) => void = () => undefined): Promise<RRset[]> {
  const rrsets: RRset[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { data, response } = await askWhole(
      api.GET('/api/v1/domains/{name}/rrsets/', { params: { path: { name }, query: { cursor } } }),
    )
    for (const { subname, type, ttl, records } of data) rrsets.push({ subname, type, ttl, records })
    onPage([...rrsets])
    cursor = nextCursor(response)
  }
  return rrsets
}
