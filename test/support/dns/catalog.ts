import { eventually } from '../eventually.ts'
import type { Server } from './dns.ts'
import { transferred } from './wire.ts'

/** The members of a catalog zone, labels by zones, as a secondary reads them. Throws if one would not accept it. */
export async function membersOf(server: Server, catalog: string): Promise<Map<string, string>> {
  const members = new Map<string, string>()
  let version: string | undefined
  for (const { name, type, records } of await transferred(server, catalog)) {
    if (type === 'TXT' && name === `version.${catalog}.`) version = records.join()
    if (type !== 'PTR') continue
    for (const zone of records.map((record) => record.slice(0, -1))) {
      if (members.has(zone)) throw new Error(`${zone} has two labels`)
      members.set(zone, name.slice(0, -`.zones.${catalog}.`.length))
    }
  }
  if (version !== '"2"') throw new Error(`the version of ${catalog} is ${version}`)
  return members
}

/** Waits until the catalog zone has these members. */
export async function hasMembers(server: Server, catalog: string, zones: string[]): Promise<void> {
  const wanted = [...zones].sort().join()
  let found = ''
  const isSo = async () => {
    found = await membersOf(server, catalog).then(
      (members) => [...members.keys()].sort().join(),
      (error: unknown) => (error as Error).message,
    )
    return found === wanted
  }
  await eventually(isSo).catch((error: unknown) => {
    throw new Error(`${catalog} has ${found}, not ${wanted}`, { cause: error })
  })
}
