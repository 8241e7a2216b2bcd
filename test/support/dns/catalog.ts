import { transfer, type Server } from './dns.ts'
import { eventually } from '../eventually.ts'

/** The members of a catalog zone, ids by zones, as a secondary reads them. Throws if one would not accept it. */
export async function membersOf(server: Server, catalog: string): Promise<Map<string, string>> {
  const lines = (await transfer(server, catalog)).split('\n').map((line) => line.split(/\s+/))
  const members = new Map<string, string>()
  let version: string | undefined
  for (const [name = '', , , type, content = ''] of lines) {
    if (type === 'TXT' && name === `version.${catalog}.`) version = content
    if (type !== 'PTR') continue
    const zone = content.slice(0, -1)
    if (members.has(zone)) throw new Error(`${zone} has two ids`)
    members.set(zone, name.slice(0, -`.zones.${catalog}.`.length))
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
