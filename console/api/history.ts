import type { Past } from '../records/advice.ts'
import type { Change } from '../rrsets/rrset.ts'
import { api, ask, askPage } from './client.ts'

/** How many changes are read, at most, that the history does not list. */
const MOST = 2000

/** The changes of an entry of a domain's history. @throws Refused */
export async function changesOf(name: string, id: string): Promise<Change[]> {
  return (await ask(api.GET('/api/v1/domains/{name}/history/{id}/', { params: { path: { name, id } } }))).changes!
}

/**
 * The changes that were made in the last seconds; undefined if they are too many to read.
 * @throws Refused
 */
export async function changesWithin(name: string, seconds: number): Promise<Past[] | undefined> {
  const params = { path: { name }, query: { cursor: '' } }
  const { items, next } = await askPage(api.GET('/api/v1/domains/{name}/history/', { params }))
  const dated = items.map((entry) => ({ ...entry, age: (Date.now() - Date.parse(entry.created)) / 1000 }))
  // What came or went with the domain replaced nothing.
  const recent = dated.filter(({ age, event }) => age < seconds && event === null)
  const unlisted = recent.filter(({ changes }) => changes === null).reduce((sum, { count }) => sum + count, 0)
  if (unlisted > MOST || (next !== undefined && dated.at(-1)!.age < seconds)) return undefined
  return Promise.all(
    recent.map(async ({ age, id, changes }) => ({ age, changes: changes ?? (await changesOf(name, id)) })),
  )
}
