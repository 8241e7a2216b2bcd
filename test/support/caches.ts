import type { TestProcess, TestServers } from './harness.ts'

/** Starts a service that takes PowerDNS for one that keeps answers in a cache: its API is asked for serials, and not its DNS. */
export async function startWithCaches(servers: TestServers): Promise<TestProcess> {
  const { json } = await servers.pdns('GET', '/config')
  const settings = (json as { name: string; value: string }[]).map(({ name, value }) =>
    name === 'cache-ttl' ? { name, value: '20' } : { name, value },
  )
  servers.proxy.fail(({ path }) => (path === '/config' ? { answer: settings } : 'pass'))
  try {
    return await servers.start()
  } finally {
    servers.proxy.heal()
  }
}
