import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Lets a server listen, and returns its port. @param port 0: any that is free */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A local port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

/**
 * The beginning of addresses of this machine that nobody else uses, such as `127.83.12.`: servers that are restarted keep
 * their ports there.
 */
export function ownNetwork(): string {
  return `127.${randomInt(1, 255)}.${randomInt(255)}.`
}

/** Why no server can listen on port 53 of an address of this machine; undefined if one can. */
export function lackOfPort53(address: string): string | undefined {
  const binding = `require('dgram').createSocket('udp4').bind(53, '${address}', process.exit)`
  return spawnSync(process.execPath, ['-e', binding]).status === 0 ? undefined : `port 53 of ${address} cannot be bound`
}
