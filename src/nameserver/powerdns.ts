import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure, type FailureKind } from '../errors.ts'
import { answerTime } from '../limits.ts'
import { jsonText, type Sequence } from '../slices.ts'
import { Api, type ApiOptions } from './api.ts'
import type { Key, Nameserver, PublishedRRset, PublishedZone } from './nameserver.ts'
import { nsec3Label } from './nsec3.ts'

export interface PowerDnsOptions extends ApiOptions {
  /** The SOA's primary name server: an absolute name. */
  primary: string
}

/** No salt, no extra iterations (RFC 9276 §3.1), and not narrow, so that the zone can be transferred. */
const NSEC3PARAM = '1 0 0 -'

/** No serials but ours (`soa_edit_api`), and a zone that is right after each change. */
const SETTINGS = { kind: 'Master', nsec3param: NSEC3PARAM, soa_edit_api: '', api_rectify: true }

/** The SOA's TTL and, as its last field, that of keys and denials, in seconds; denials live for the lesser (RFC 2308). */
const SOA_TTL = 300
const SOA_TIMES = '86400 7200 3600000 3600'

/** How often a deletion that was not acknowledged is repeated. */
const DELETIONS = 5

interface ZoneAnswer {
  serial: number
  /** The one that is served. */
  edited_serial: number
  dnssec: boolean
  nsec3param: string
  soa_edit_api: string
  api_rectify: boolean
  rrsets?: { name: string; type: string; ttl: number; records: { content: string }[] }[]
}

interface KeyAnswer {
  active: boolean
  published: boolean
  dnskey: string
  cds?: string[]
  flags: number
  keytype: string
}

/** PowerDNS Authoritative 4.7 or later, with one ECDSA key per zone and our own serial in every change (powerdns.md §0). */
export function createPowerDns(options: PowerDnsOptions): Nameserver {
  const api = new Api(options)
  let spell = (content: string) => content

  async function createZone(zone: string, version: number, rrsets: Sequence<PublishedRRset>): Promise<void> {
    function* contents() {
      yield replacement(soa(zone, version), spell)
      for (const rrset of rrsets) yield replacement(rrset, spell)
    }
    const settings = JSON.stringify({ name: zone, dnssec: true, ...SETTINGS, nameservers: [] })
    const body = await jsonText(
      { [Symbol.iterator]: contents },
      { before: `${settings.slice(0, -1)},"rrsets":`, after: '}' },
    )
    const creation = api.call('POST', '/zones?rrsets=false', answerTime(rrsets.length), body)
    // What it refuses may be there nevertheless, in part (powerdns.md §2.3).
    await orHalfDone(creation, 'refused')
    await orHalfDone(flush(zone), 'refused', 'absent', 'unreachable')
  }

  async function deleteZone(zone: string): Promise<void> {
    // A deletion that failed, in whatever words, may be half done: only "absent" is certain.
    for (let left = DELETIONS; ; left--) {
      const deletion = api.call('DELETE', path(zone), answerTime(0))
      try {
        await (left === DELETIONS
          ? orHalfDone(deletion, 'refused', 'conflict')
          : orHalfDone(deletion, 'refused', 'conflict', 'unreachable'))
        break
      } catch (error) {
        const kind = error instanceof NameserverFailure ? error.kind : undefined
        if (kind === 'absent') break
        if (kind !== 'failed' || left === 1) throw error
        await sleep(50)
      }
    }
  }

  async function publish(
    zone: string,
    version: number,
    rrsets: Sequence<PublishedRRset>,
    rectify: boolean,
  ): Promise<void> {
    // PowerDNS applies the changes in order and checks each against those before it, so removals come first.
    function* changes() {
      for (const rrset of rrsets) if (isRemoval(rrset)) yield replacement(rrset, spell)
      yield replacement(soa(zone, version), spell)
      for (const rrset of rrsets) if (!isRemoval(rrset)) yield replacement(rrset, spell)
      if (rectify) yield* forgotten(zone, rrsets)
    }
    const body = await jsonText({ [Symbol.iterator]: changes }, { before: '{"rrsets":', after: '}' })
    await api.call('PATCH', path(zone), answerTime(rrsets.length), body)
  }

  async function setRectify(zone: string, rectify: boolean): Promise<void> {
    await api.call('PUT', path(zone), answerTime(0), { api_rectify: rectify })
  }

  async function configure(zone: string): Promise<void> {
    await api.call('PUT', path(zone), answerTime(0), SETTINGS)
  }

  async function keys(zone: string): Promise<Key[]> {
    const answer = (await api.call('GET', `${path(zone)}/cryptokeys`, answerTime(0))) as KeyAnswer[]
    return answer
      .filter((key) => key.active && key.published)
      .map(({ dnskey, cds = [], flags, keytype }) => ({ dnskey, ds: cds, flags, keytype }))
  }

  async function head(zone: string): Promise<ZoneAnswer | undefined> {
    return ifPresent(api.call('GET', `${path(zone)}?rrsets=false`, answerTime(0)) as Promise<ZoneAnswer>)
  }

  async function serial(zone: string): Promise<number | undefined> {
    return (await head(zone))?.serial
  }

  async function servedSoa(zone: string, version: number): Promise<PublishedRRset> {
    const query = `rrset_name=${encodeURIComponent(zone)}&rrset_type=SOA`
    const answer = (await api.call('GET', `${path(zone)}?${query}`, answerTime(0))) as ZoneAnswer
    const [rrset] = answer.rrsets ?? []
    if (rrset === undefined) throw new NameserverFailure('failed', 'the zone has no SOA')
    const records = rrset.records.map(({ content }) => {
      const [primary, mailbox, , ...times] = content.split(' ')
      return [primary, mailbox, version + answer.edited_serial - answer.serial, ...times].join(' ')
    })
    return { name: zone, type: 'SOA', ttl: rrset.ttl, records }
  }

  async function read(zone: string): Promise<PublishedZone | undefined> {
    const size = 100_000
    const answer = await ifPresent(api.call('GET', path(zone), answerTime(size)) as Promise<ZoneAnswer>)
    if (answer === undefined) return undefined
    const zoneKeys = await ifPresent(keys(zone))
    const rrsets = (answer.rrsets ?? []).map(({ name, type, ttl, records }) => ({
      name,
      type,
      ttl,
      records: records.map(({ content }) => content),
    }))
    const hasSoa = rrsets.some(({ type }) => type === 'SOA')
    return {
      serial: hasSoa ? answer.serial : undefined,
      rectify: answer.api_rectify,
      // More keys than one: somebody is changing them, and would lose them all if this counted as broken.
      complete: hasSoa && answer.dnssec && (zoneKeys ?? []).length > 0,
      configured: answer.nsec3param === NSEC3PARAM && answer.soa_edit_api === '',
      rrsets: rrsets.filter(({ type }) => type !== 'SOA'),
    }
  }

  async function serials(): Promise<Map<string, number>> {
    const answer = (await api.call('GET', '/zones?dnssec=false', answerTime(100_000))) as {
      name: string
      serial: number
    }[]
    return new Map(answer.map(({ name, serial }) => [name, serial]))
  }

  async function ready(): Promise<void> {
    await api.call('GET', '', 5_000)
  }

  async function probe(): Promise<void> {
    const zone = `probe-${randomBytes(8).toString('hex')}.zoneplane.invalid.`
    const probed = { name: zone, type: 'TXT', ttl: SOA_TTL, records: ['"a\\"b"'] }
    const rrsets = [soa(zone, 1), probed].map((rrset) => replacement(rrset, (content) => content))
    try {
      await api.call('POST', '/zones?rrsets=false', answerTime(0), {
        name: zone,
        kind: 'Native',
        nameservers: [],
        rrsets,
      })
    } catch (error) {
      if (!(error instanceof NameserverFailure && error.kind === 'refused')) throw error
      spell = escapedTwice
      return
    }
    await deleteZone(zone)
  }

  /**
   * Forgets answers about the zone's names. Without it a name that was asked for before the zone existed stays refused
   * while the packet cache remembers (powerdns.md §1.4).
   */
  async function flush(zone: string): Promise<void> {
    await api.call('PUT', `/cache/flush?domain=${encodeURIComponent(zone)}`, answerTime(0))
  }

  function soa(zone: string, version: number): PublishedRRset {
    const content = `${options.primary} hostmaster.${zone} ${version} ${SOA_TIMES}`
    return { name: zone, type: 'SOA', ttl: SOA_TTL, records: [content] }
  }

  return {
    createZone,
    deleteZone,
    publish,
    setRectify,
    configure,
    keys,
    serial,
    servedSoa,
    read,
    serials,
    ready,
    probe,
    close: () => api.close(),
  }
}

function isRemoval({ records }: PublishedRRset): boolean {
  return records.length === 0
}

/** The state an RRset shall have, never a step: repeating it is harmless. PowerDNS wants a TTL for removals, too. */
function replacement({ name, type, ttl, records }: PublishedRRset, spell: (content: string) => string): object {
  return {
    name,
    type,
    ttl,
    changetype: 'REPLACE',
    records: records.map((content) => ({ content: spell(content), disabled: false })),
  }
}

/**
 * Removes what LMDB before 5.0 keeps of the places in the chain of denials when names go: a pair of entries for each,
 * by its name and by its hash, which would make their denial contradict itself for ever. The names that removals leave
 * empty go with them. Of names that stay, rectifying makes the entries anew.
 */
function* forgotten(zone: string, rrsets: Iterable<PublishedRRset>): Generator<object> {
  const names = new Set<string>()
  for (const rrset of rrsets) {
    if (!isRemoval(rrset)) continue
    for (let rest = rrset.name; rest.endsWith(`.${zone}`); rest = rest.slice(rest.indexOf('.') + 1)) {
      if (names.has(rest)) break
      names.add(rest)
      yield { name: rest, type: 'NSEC3', changetype: 'DELETE' }
      yield { name: `${nsec3Label(rest)}.${zone}`, type: 'NSEC3', changetype: 'DELETE' }
    }
  }
}

/**
 * A content for a PowerDNS that takes escapes away once before it reads the content, as 5.1 does (powerdns.md §4):
 * escapes of characters that mean something must survive that, those of octets that cannot be printed need not.
 */
export function escapedTwice(content: string): string {
  return content.replace(/\\([0-9]{3}|[^])/g, (escape, escaped: string) =>
    /^[0-9]{3}$/.test(escaped) && !['034', '046', '092'].includes(escaped) ? escape : escape.replaceAll('\\', '\\\\'),
  )
}

/** PowerDNS' zone id; our zone names hold neither `/` nor `=`. */
function path(zone: string): string {
  return `/zones/${zone.replaceAll('_', '=5F')}`
}

/** Lets failures of these kinds say no more than that it failed: something may have been done nevertheless. */
async function orHalfDone<T>(answer: Promise<T>, ...kinds: FailureKind[]): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof NameserverFailure) || !kinds.includes(error.kind)) throw error
    throw new NameserverFailure('failed', error.message, { cause: error })
  }
}

/** The answer, or undefined if the zone is absent. */
async function ifPresent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NameserverFailure && error.kind === 'absent') return undefined
    throw error
  }
}
