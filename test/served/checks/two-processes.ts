import test from 'ava'
import { Client } from '../../support/client.ts'
import { useService, type TestService } from '../../support/harness.ts'
import { startService, type LocalService } from '../../support/servers/service.ts'

/** Two processes share the connections that PowerDNS can handle. */
const ENVIRONMENT = { THROTTLE: 'off', PDNS_CONNECTIONS: '4' }

/** Starts a service for a test file, and a second one on the same database and PowerDNS, like another process. */
export function useTwoProcesses(): { service: () => TestService; clients: () => Promise<[Client, Client]> } {
  const service = useService(ENVIRONMENT)
  let second: LocalService | undefined
  test.after.always('the second service stops', async () => {
    await second?.stop()
  })
  return {
    service,
    async clients() {
      second ??= await startService(service().backends, ENVIRONMENT)
      const { api, secret } = await service().account()
      return [api, second.clientOf(secret)]
    },
  }
}
