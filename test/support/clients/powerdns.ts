import type { Account } from './accounts.ts'
import { newZone, type RRsetBody, type Zone } from './api.ts'
import { type Answer, Client } from './client.ts'

/** The path of all zones of PowerDNS' API. */
export const ZONES = '/servers/localhost/zones'

/** An RRset as PowerDNS' API shows it. */
export interface PdnsRRset {
  comments: unknown[]
  name: string
  records: { content: string; disabled: boolean }[]
  ttl: number
  type: string
}

/** A zone as PowerDNS' API shows it. */
export interface PdnsZone {
  name: string
  serial: number
  rrsets: PdnsRRset[]
  [member: string]: unknown
}

/** A domain and its paths at both doors, with clients of the same account. */
export interface Doors extends Zone {
  door: Client
  /** The path of the zone at PowerDNS' API. */
  zone: string
}

export function doorOf(account: Account): Client {
  return new Client(account.api.url, account.secret, 'powerdns')
}

/** A new account and its domain, with these RRsets besides its NS. */
export async function newDoors(service: Parameters<typeof newZone>[0], ...members: RRsetBody[]): Promise<Doors> {
  const made = await newZone(service, ...members)
  return { ...made, door: doorOf(made.account), zone: `${ZONES}/${made.domain}.` }
}

/** A change of www A in a request; `members` replace the defaults. */
export function amendment(domain: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  const records = [{ content: '192.0.2.1', disabled: false }]
  return { name: `www.${domain}.`, type: 'A', ttl: 3600, changetype: 'REPLACE', records, ...members }
}

/** Sends changes of a zone. */
export async function amend(door: Client, zone: string, ...rrsets: unknown[]): Promise<Answer> {
  return door.patch(zone, { rrsets })
}

/** The contents of all RRsets of a zone but SOA and NS at its apex, by name and type. */
export async function rrsetsOf(door: Client, zone: string): Promise<Record<string, string[]>> {
  const { rrsets, name: apex } = (await door.get(zone)).json as PdnsZone
  const others = rrsets.filter(({ name, type }) => name !== apex || !['SOA', 'NS'].includes(type))
  return Object.fromEntries(
    others.map(({ name, type, records }) => [
      `${name.slice(0, -apex.length - 1)} ${type}`,
      records.map(({ content }) => content),
    ]),
  )
}
