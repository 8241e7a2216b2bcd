import { type ShownRRset, succeeded } from '../clients/api.ts'
import type { Client } from '../clients/client.ts'

export interface ShownChange {
  subname: string
  type: string
  before: { ttl: number; records: string[] } | null
  after: { ttl: number; records: string[] } | null
}

/** An entry of a domain's history as the API shows it. */
export interface ShownEntry {
  id: string
  created: string
  version: number
  source: string
  owner: string | null
  token: { id: string; name: string | null } | null
  request_id: string | null
  message: string | null
  count: number
  event: 'creation' | 'deletion' | 'return' | null
  rollover: { action: string; phase: string | null } | null
  trimmed: boolean
  changes: ShownChange[] | null
}

/** The newest entries of a domain's history, newest first. */
export async function entriesOf(api: Client, domain: string, query = ''): Promise<ShownEntry[]> {
  return succeeded(await api.get(`/domains/${domain}/history/${query}`), 200).json as ShownEntry[]
}

export async function changesIn(api: Client, domain: string, { id }: ShownEntry): Promise<ShownChange[]> {
  const { json } = succeeded(await api.get(`/domains/${domain}/history/${id}/`), 200)
  return (json as { changes: ShownChange[] }).changes
}

/** The RRsets by subname and type, without times and the order of records. */
export async function contentsOf(api: Client, domain: string): Promise<Record<string, string>> {
  const shown = succeeded(await api.get(`/domains/${domain}/rrsets/`), 200).json as ShownRRset[]
  const lines = shown.map(({ subname, type, ttl, records }) => [
    `${subname} ${type}`,
    `${ttl} ${[...records].sort().join(' ')}`,
  ])
  return Object.fromEntries(lines.sort()) as Record<string, string>
}

export const undo = (api: Client, domain: string, { id }: ShownEntry, query = '') =>
  api.post(`/domains/${domain}/history/${id}/undo/${query}`)

export const restore = (api: Client, domain: string, when: { at?: unknown; version?: unknown }, query = '') =>
  api.post(`/domains/${domain}/restore/${query}`, when)
