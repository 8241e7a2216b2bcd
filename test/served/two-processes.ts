import test from 'ava'
import { closeSystem } from '../../src/server.ts'
import { Client } from '../support/client.ts'
import { startService, useWorld, type World } from '../support/world.ts'

/** As many connections to PowerDNS as it bears, shared by two processes. */
const ENVIRONMENT = { THROTTLE: 'off', PDNS_CONNECTIONS: '4' }

/** A world in which a second process of the service runs on the same database and PowerDNS. */
export function useTwoProcesses(): { world: () => World; clients: () => Promise<[Client, Client]> } {
  const world = useWorld(ENVIRONMENT)
  let second: Awaited<ReturnType<typeof startService>> | undefined
  test.after.always('the second process ends', async () => {
    await second?.running.stop()
    if (second) await closeSystem(second.system)
  })
  return {
    world,
    async clients() {
      second ??= await startService(world().backends, ENVIRONMENT)
      const { api, secret } = await world().account()
      return [api, new Client(`http://127.0.0.1:${second.running.port}`, secret)]
    },
  }
}
