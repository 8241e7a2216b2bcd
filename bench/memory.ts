import { resident } from '../test/support/servers/resident.ts'
import { state } from './support/measure.ts'
import type { Service, Setup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

/** The largest bodies that the RRset collection, and the creation of a domain, take; and the most items and records. */
const COLLECTION = 4 * 1024 * 1024
const CREATION = 16 * 1024 * 1024
const ITEMS = 20_000
const RECORDS = 250_000

/** Requests to the RRset collection, as large as the limits allow: what their items look like. */
const ITEM: Record<string, (i: number) => unknown> = {
  'that creates RRsets': (i) => host(i, i),
  'that changes them': (i) => host(i, i + 1),
  'of long records': (i) => ({ ...rrset(`text${i}`, i), type: 'TXT', records: [`"${'x'.repeat(130)}"`] }),
  'of names with many labels': (i) => rrset(`n${i}.${deep(i)}`, i),
  'that deletes what is absent': (i) => ({ ...rrset(`absent${i}`, i), records: [] }),
  'of one subname and type': () => rrset('www', 1),
  'of blank types': () => ({ type: ' ' }),
  'of wrong fields': (i) => ({ type: ` ${i}`, subname: i, ttl: `x${i}`, records: [i, null, ''] }),
  'of malformed records': (i) => ({ ...rrset(`www${i}`, i), records: Array(20).fill('x') }),
}

/** Bodies as large as the route takes, whatever JSON they are. */
const BODY: Record<string, [method: string, path: string, body: (name: string) => string]> = {
  'the collection: too many numbers': ['PUT', 'rrsets/', () => filled('[', '0,', '0]', COLLECTION)],
  'the collection: too many arrays': ['PUT', 'rrsets/', () => filled('[', '[],', '[]]', COLLECTION)],
  'the collection: an item of many numbers': ['PUT', 'rrsets/', () => filled('[{"zzz":[', '0,', '0]}]', COLLECTION)],
  'the collection: an item of many records': [
    'PUT',
    'rrsets/',
    () => filled('[{"type":"A","ttl":60,"records":[', '"",', '""]}]', COLLECTION),
  ],
  'a domain: a zone file of 250,000 records': [
    'POST',
    '',
    (name) => JSON.stringify({ name: `import.${name}`, zonefile: zoneFile(RECORDS) }),
  ],
  'a domain: a zone file of 250,000 RRsets': [
    'POST',
    '',
    (name) => JSON.stringify({ name: `large.${name}`, zonefile: addresses(RECORDS) }),
  ],
  'a domain: a zone file of long lines': [
    'POST',
    '',
    (name) => JSON.stringify({ name: `long.${name}`, zonefile: texts(CREATION - 200_000) }),
  ],
  'a domain: a zone file of blank lines': [
    'POST',
    '',
    (name) => JSON.stringify({ name: `blank.${name}`, zonefile: '\n'.repeat(8_000_000) }),
  ],
  'a domain: many numbers': ['POST', '', () => filled('{"zzz":[', '0,', '0]}', CREATION)],
  'a domain: many arrays': ['POST', '', () => filled('{"zzz":[', '[],', '[]]}', CREATION)],
  'a domain: many objects': ['POST', '', () => filled('{"zzz":[', '{"a":0},', '0]}', CREATION)],
}

/** What the largest requests cost the process, and how long they block its event loop. */
export async function memory(setup: Setup): Promise<void> {
  const name = zone('memory')
  await setup.api('POST', '/domains/', { name })
  for (const [what, item] of Object.entries(ITEM)) {
    const body = items(item)
    await measured(setup, `${(body.length / 1024 / 1024).toFixed(1)} MiB: a PUT ${what}`, (service) =>
      service.send('PUT', `/domains/${name}/rrsets/`, body),
    )
  }
  for (const [what, [method, path, body]] of Object.entries(BODY)) {
    await measured(setup, what, (service) =>
      service.send(method, path === '' ? '/domains/' : `/domains/${name}/${path}`, body(name)),
    )
  }
}

async function measured(setup: Setup, what: string, send: (service: Service) => Promise<number>): Promise<void> {
  const service = await setup.another({})
  // It has done something before.
  const warm = Array.from({ length: 1800 }, (_, i) => host(i, i))
  await service.api('PUT', `/domains/${zone('memory')}/rrsets/`, warm)
  const before = resident(service.pid, 'VmRSS')
  await service.inside()
  const start = performance.now()
  const status = await send(service)
  const took = performance.now() - start
  const { blocked } = await service.inside()
  const grown = resident(service.pid, 'VmHWM') - before
  state(`${what}: ${status}`, `${(took / 1000).toFixed(1)} s`)
  state('  the process grows by', `${Math.round(grown / 1024)} MiB`)
  state('  and its event loop is blocked for at most', `${Math.round(blocked)} ms`)
}

function host(i: number, first: number) {
  return { ...rrset(`host${i}`, i), records: [address(first), address(first + 1)] }
}

function deep(i: number): string {
  return Array.from({ length: 40 }, (_, label) => ((i * 41 + label) % 46_656).toString(36)).join('.')
}

/** The JSON of as many items as a request may have, or its body has room for. */
function items(item: (i: number) => unknown): string {
  const texts: string[] = []
  for (let i = 0, length = 2; i < ITEMS; i++) {
    const text = JSON.stringify(item(i))
    length += text.length + 1
    if (length > COLLECTION) break
    texts.push(text)
  }
  return `[${texts.join()}]`
}

function filled(head: string, filler: string, tail: string, size: number): string {
  return head + filler.repeat(Math.floor((size - head.length - tail.length) / filler.length)) + tail
}

/** A zone file of so many records, as zones are: mostly addresses, some of several records, mail, aliases, strings. */
export function zoneFile(records: number): string {
  const kinds = [
    (i: number) => `host${i} 3600 IN A 192.0.2.${i % 256}\n`,
    (i: number) => `host${i - 1} 3600 IN AAAA 2001:db8::${(i % 65_536).toString(16)}\n`,
    (i: number) => `mail${i} 3600 IN MX 10 mx1.example.net.\n`,
    (i: number) => `mail${i - 1} 3600 IN MX 20 mx2.example.net.\n`,
    (i: number) => `alias${i} 3600 IN CNAME host${i}\n`,
    (i: number) => `text${i} 3600 IN TXT "v=spf1 include:spf.example.net -all" "${i}"\n`,
  ]
  return Array.from({ length: records }, (_, i) => kinds[i % kinds.length]!(i)).join('')
}

function addresses(records: number): string {
  return Array.from({ length: records }, (_, i) => `host${i} 3600 IN A ${address(i % 65_536)}\n`).join('')
}

function texts(size: number): string {
  const line = (i: number) => `text${i} 3600 IN TXT ${`"${'x'.repeat(250)}" `.repeat(8)}\n`
  return Array.from({ length: Math.floor(size / (line(1).length + 30)) }, (_, i) => line(i)).join('')
}
