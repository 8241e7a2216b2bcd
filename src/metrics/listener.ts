import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

/** Where metrics are served. */
export interface MetricsListener {
  port: number
  close(): Promise<void>
}

/** Serves `GET /metrics`, and nothing else, on an address of its own. Rejects if it cannot listen there. */
export async function listenForScrapes(metrics: Metrics, host: string, port: number): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') response.writeHead(404).end()
    else {
      metrics.text().then(
        (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
    }
  })
  // As for the API: without an address, Node listens on `::`, or on 0.0.0.0 where there is no IPv6.
  server.listen({ port, ...(host !== '::' && { host }) })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
