import { succeeded } from '../clients/api.ts'
import type { Client, Options } from '../clients/client.ts'
import type { ShownChange } from './history.ts'

/** An entry of an account's activity as the API shows it. */
export interface ShownActivity {
  id: string
  created: string
  type: string
  domain: string | null
  version: number | null
  source: string
  owner: string | null
  token: { id: string; name: string | null } | null
  request_id: string | null
  message: string | null
  count: number | null
  rollover: { action: string; phase: string | null } | null
  subject: Record<'token' | 'policy' | 'factor' | 'member' | 'state' | 'name', string | null> | null
  address: string | null
  changes: ShownChange[] | null
}

/** The newest activity of an account, newest first. */
export async function activityOf(api: Client, filter: Record<string, string> = {}): Promise<ShownActivity[]> {
  const query = new URLSearchParams(filter).toString()
  return succeeded(await api.get(`/activity/?${query}`), 200).json as ShownActivity[]
}

/** All activity that matches, in lines. */
export async function activityLines(
  api: Client,
  filter: Record<string, string> = {},
  options: Options = {},
): Promise<ShownActivity[]> {
  const query = new URLSearchParams(filter).toString()
  const headers = { ...options.headers, accept: 'application/x-ndjson' }
  const { text } = succeeded(await api.get(`/activity/?${query}`, { headers }), 200)
  return text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as ShownActivity)))
}
