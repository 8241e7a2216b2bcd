import { randomInt } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { relative } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import { answerTime } from '../../limits.ts'
import { currentTime } from '../../time.ts'
import { SCRATCH_ZONE } from '../nameserver.ts'
import { DnsClient, type Endpoint, parseEndpoint } from '../wire/client.ts'
import type { Api } from './api.ts'
import { readSerial } from './published-zone.ts'
import { deleteZone } from './zone-changes.ts'
import { servedSerial } from './zone-settings.ts'

/** Milliseconds in which PowerDNS has to answer the question for a zone's SOA; afterwards the service asks its API. */
export const DNS_ANSWER_TIME = 100

/** The same for a probe, once at the start: a late answer must not make all writes of this process ask the API. */
const PROBE_TIME = 1_000

/** The number of attempts at a probe while other processes probe. */
const PROBES = 5

/**
 * Returns the endpoints at which PowerDNS may answer queries, by its settings: each of its addresses, and that of its
 * API, where an address stands for all. None if it keeps answers in a cache: these may be older than its data.
 * @param url of its API
 */
export async function endpointsOf(valueOf: (setting: string) => string, url: string): Promise<Endpoint[]> {
  if (valueOf('cache-ttl') !== '0' || valueOf('query-cache-ttl') !== '0') return []
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  // Empty if the host has no address.
  const api = await lookup(host).then(
    ({ address }) => address,
    () => '',
  )
  const endpoints = valueOf('local-address')
    .split(/[\s,;]+/)
    .map((text) => parseEndpoint(text, Number(valueOf('local-port'))))
    .map(({ address, port }) => ({ address: /^(0\.0\.0\.0|::)$/.test(address) ? api : address, port }))
  const known = new Map(endpoints.map((endpoint) => [`${endpoint.address} ${endpoint.port}`, endpoint]))
  return [...known.values()].filter(({ address, port }) => isIP(address) !== 0 && port > 0)
}

/**
 * Finds the endpoint at which exactly this PowerDNS answers queries: it serves a zone with the serial that the zone has
 * just got. @throws NameserverFailure
 */
export async function clientAt(endpoints: Endpoint[], api: Api): Promise<DnsClient | undefined> {
  for (let left = PROBES; left > 0 && endpoints.length > 0; left--) {
    const serial = randomInt(1, 2 ** 31)
    await makeScratchZone(api, serial)
    const client = await firstThatServes(endpoints, servedSerial(serial, currentTime()))
    const isOurs = (await readSerial(api, SCRATCH_ZONE)) === serial
    await deleteZone(api, SCRATCH_ZONE)
    // Another process that probes at the same time may have deleted the zone before the question.
    if (client !== undefined || isOurs) return client
  }
  return undefined
}

async function makeScratchZone(api: Api, serial: number): Promise<void> {
  const soa = { content: `invalid. invalid. ${serial} 3600 600 1209600 3600`, disabled: false }
  const rrsets = [{ name: SCRATCH_ZONE, type: 'SOA', ttl: 300, records: [soa] }]
  const body = JSON.stringify({ name: SCRATCH_ZONE, kind: 'Native', nameservers: [], soa_edit_api: '', rrsets })
  for (let left = PROBES; ; left--) {
    await deleteZone(api, SCRATCH_ZONE)
    try {
      await api.call('POST', '/zones?rrsets=false', answerTime(0), body)
      return
    } catch (error) {
      // Another process probes at the same time. LMDB can find its zone after PowerDNS did not: 500.
      const isTaken = error instanceof NameserverFailure && ['conflict', 'failed'].includes(error.kind)
      if (!isTaken || left === 1) throw error
    }
  }
}

/** Returns the first endpoint that serves the scratch zone with this serial; undefined: none does. */
async function firstThatServes(endpoints: Endpoint[], serial: number): Promise<DnsClient | undefined> {
  const clients = endpoints.map((endpoint) => new DnsClient(endpoint))
  const served = await Promise.all(clients.map((client) => client.ask(relative(SCRATCH_ZONE), PROBE_TIME)))
  const first = clients.find((_, i) => served[i]?.serial === serial)
  await Promise.all(clients.filter((client) => client !== first).map((client) => client.close()))
  return first
}
