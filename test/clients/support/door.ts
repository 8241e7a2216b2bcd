import test from 'ava'
import { type Key, keyFor } from '../../support/clients/dns-update.ts'
import { type OwnService, type TestServers, useServers } from '../../support/harness.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { type Authority, makeAuthority } from './authority.ts'
import { newToken } from './clients.ts'
import { blocks } from './documents.ts'
import { shell } from './programs.ts'

/** The servers for clients of DNS UPDATE: a service that takes it, DNS, and an authority for ACME servers. */
export interface Door {
  servers: TestServers
  service: OwnService
  authority: Authority
  /** The nameserver's address and port. */
  dns: string
  /** Where DNS UPDATE is taken, at 127.0.0.1. */
  port: number
}

/** Starts these servers for a test file. */
export function useDoor(): () => Door {
  const servers = useServers()
  let door: Door | undefined
  test.serial.before('the service starts, and takes DNS UPDATE', async () => {
    const service = await servers().serve({ DNS_UPDATE_PORT: '0' })
    const { dnsHost, dnsPort } = servers().powerDns
    const authority = await makeAuthority(newFolder())
    door = { servers: servers(), service, authority, dns: `${dnsHost}:${dnsPort}`, port: service.updatePort! }
  })
  return () => door!
}

/** The key of a token that may write only what these policies allow. Its name is without final dot. */
export async function newKey({ service }: Door, ...allowed: object[][]): Promise<Key> {
  const key = await keyFor(service.api, (await newToken(service.api, allowed)).id)
  return { ...key, name: key.name.replace(/\.$/, '') }
}

/** The code below a heading of docs/clients.md about DNS UPDATE, with the names of this test in it. */
export function updateBlocks(heading: string, { port }: Door, key: Key, changes: Record<string, string>): string[] {
  const code = blocks('docs/clients.md', heading, { ...changes, '203.0.113.7': '127.0.0.1' })
  return code.map((text) =>
    text.replaceAll('5353', `${port}`).replaceAll('$KEY', key.name).replaceAll('$SECRET', key.secret),
  )
}

/** Makes the documented key file in a new folder. @returns the folder */
export async function folderWithKey(key: Key): Promise<string> {
  const folder = newFolder()
  const [command] = blocks('docs/clients.md', 'All DNS UPDATE clients', { $KEY: key.name, $SECRET: key.secret })
  const { code, output } = await shell(command!, { folder })
  if (code !== 0) throw new Error(output)
  return folder
}
