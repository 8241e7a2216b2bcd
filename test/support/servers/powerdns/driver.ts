import { PowerDns, type PowerDnsOptions } from '../../../../src/nameserver/powerdns/powerdns.ts'
import type { PowerDns as Server } from '../../../../src/private-servers/powerdns.ts'
import { parse } from '../../clients/client.ts'

/** Sends a request to PowerDNS itself, not through a proxy. */
export type Pdns = (method: string, path: string, body?: unknown) => Promise<{ status: number; json: unknown }>

/** @param powerDns as it runs when the request is sent */
export function pdnsOf(powerDns: Server): Pdns {
  return async (method, path, body) => {
    const response = await fetch(`${powerDns.apiUrl}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': powerDns.apiKey, connection: 'close' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { status: response.status, json: parse(await response.text()) }
  }
}

/** A driver of its own for the PowerDNS at a URL, which it has not probed. */
export function driverAt(url: string, key: string, options: Partial<PowerDnsOptions> = {}): PowerDns {
  return new PowerDns({ url, key, connections: 1, primary: 'ns1.example.test.', dnskeyTtl: 3600, ...options })
}
