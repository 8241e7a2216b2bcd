import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseRdata } from '../../../src/dns/rdata.ts'
import { EXAMPLES } from '../../dns/examples/index.ts'
import { freshName, newDomain, newLargeDomain, newRRset, newZone } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { hold, plainRequest } from '../../support/clients/raw.ts'
import { lookUp, type Server, transfer } from '../../support/dns/dns.ts'
import { eventually } from '../../support/eventually.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'

// Contract §7.8.

const service = useService({ NAMESERVERS: 'ns1.example.net, ns2.example.net' })
const run = promisify(execFile)

const path = (name: string) => `/domains/${name}/zonefile/`

/** The lines of an export. */
async function exported(api: Client, name: string): Promise<string[]> {
  const { status, text } = await api.get(path(name))
  if (status !== 200 || !text.endsWith('\n')) throw new Error(`${status} ${text}`)
  return text.slice(0, -1).split('\n')
}

test('an export has a comment, the SOA as served, and a line for each record', async (t) => {
  const { api, domain: name } = await newZone(service())
  await newRRset(api, name, { subname: 'b', type: 'TXT', ttl: 60, records: ['"one;" "t\\"wo"', '"ß"'] })
  await newRRset(api, name, { subname: 'a', type: 'NS', records: ['ns.a.test.'] })
  await newRRset(api, name, { subname: 'a', type: 'DS', records: [`1 13 2 ${'ab'.repeat(32)}`] })
  const { status, headers, text } = await api.get(path(name))
  t.is(status, 200)
  t.is(headers['content-type'], 'text/dns')
  t.is(headers['cache-control'], 'no-cache')
  t.is(headers['allow'], 'GET, PUT, HEAD, OPTIONS')
  t.is(headers['transfer-encoding'], 'chunked')
  const [comment, ...lines] = text.split('\n')
  t.regex(
    comment!,
    /^; Zonefile for d\d+\.test exported from 127\.0\.0\.1 at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\+00:00$/,
  )
  t.true(comment!.startsWith(`; Zonefile for ${name} exported`))
  const [soa] = await lookUp(service().powerDns, name, 'SOA')
  t.deepEqual(lines, [
    `${name}.\t300\tIN\tSOA\t${soa}`,
    `${name}.\t3600\tIN\tNS\tns1.example.net.`,
    `${name}.\t3600\tIN\tNS\tns2.example.net.`,
    `a.${name}.\t3600\tIN\tDS\t1 13 2 ${'ab'.repeat(32)}`,
    `a.${name}.\t3600\tIN\tNS\tns.a.test.`,
    `b.${name}.\t60\tIN\tTXT\t"one;" "t\\"wo"`,
    `b.${name}.\t60\tIN\tTXT\t"\\195\\159"`,
    '',
  ])
})

test('an export omits the types of DNSSEC, generated or written', async (t) => {
  const { api, domain: name } = await newZone(service())
  const key = `257 3 13 ${Buffer.alloc(64, 1).toString('base64')}`
  const digest = `1 13 2 ${'ab'.repeat(32)}`
  for (const [type, content] of [
    ['DNSKEY', key],
    ['CDNSKEY', key],
    ['CDS', digest],
  ] as const) {
    await newRRset(api, name, { subname: '', type, records: [content] })
  }
  await newRRset(api, name, { subname: 'sub', type: 'CDS', records: [digest] })
  const types = (await exported(api, name)).slice(1).map((line) => line.split('\t')[3])
  t.deepEqual(types, ['SOA', 'NS', 'NS'])
})

test('the comment names the public host', async (t) => {
  await withService({ PUBLIC_URL: 'https://dns.example.org:8443/' }, async (other) => {
    const { api } = await other.account()
    const name = await newDomain(api)
    t.regex((await exported(api, name))[0]!, /exported from dns\.example\.org at/)
  })
  const { api, domain: name } = await newZone(service())
  const { text } = await api.get(path(name), { headers: { host: 'api.example.net:8080' } })
  t.regex(text.split('\n')[0]!, /exported from api\.example\.net at/)
})

test('HEAD returns only headers', async (t) => {
  const { api, domain: name } = await newZone(service())
  const { status, headers, text } = await api.send('HEAD', path(name))
  t.deepEqual([status, headers['content-type'], text], [200, 'text/dns', ''])
})

test('a large export is whole, and one that its client leaves makes room for the next', async (t) => {
  const { api, secret } = await service().account()
  const name = await newLargeDomain(service(), api)
  for (let i = 0; i < 8; i++) {
    const request = plainRequest(`GET /api/v1${path(name)}`, [`Authorization: Token ${secret}`])
    const { socket, answer } = await hold(service().url, request)
    await once(socket, 'readable')
    socket.destroy()
    await answer
  }
  t.is(new Set(await exported(api, name)).size, 2 + 2 + 400 * 240)
})

test('if Postgres breaks an export off, the client gets no complete answer', async (t) => {
  const { api, secret } = await service().account()
  const name = await newLargeDomain(service(), api)
  const request = plainRequest(`GET /api/v1${path(name)}`, [`Authorization: Token ${secret}`])
  const { socket, answer } = await hold(service().url, request)
  await eventually(() => socket.bytesRead > 0)
  socket.pause()
  const ended = await eventually(async () => {
    const sql = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'fetch % from portions'`
    return (await service().sql(sql)).length > 0
  })
  socket.resume()
  const { status, body } = await answer
  t.deepEqual([ended, status, body.endsWith('\r\n0\r\n\r\n')], [true, 200, false])
})

/** A type and an accepted record of it, canonical. */
type Example = [type: string, text: string]

const ALL: Example[] = [...EXAMPLES].flatMap(([type, { accepted }]) =>
  ['DNSKEY', 'CDS', 'CDNSKEY'].includes(type)
    ? []
    : accepted.map((example): Example => [
        type,
        parseRdata(type, typeof example === 'string' ? example : example[1]).text,
      ]),
)

/** A domain with these records, each at its own name. */
async function makeMixed(api: Client, records = ALL): Promise<string> {
  const name = freshName()
  const lines = records.map(([type, text], i) => `${type.toLowerCase()}-${i}.${name}. ${60 + i} IN ${type} ${text}\n`)
  const answer = await api.post('/domains/', { name, zonefile: lines.join('') })
  if (answer.status !== 201) throw new Error(answer.text)
  return name
}

/** A domain's RRsets without their times. */
async function rrsetsOf(name: string): Promise<unknown[]> {
  return service().sql(
    `select subname, type, ttl, records from rrsets join domains on domains.id = domain_id where name = :name
     order by subname, type`,
    { name },
  )
}

test('an imported export has the same RRsets', async (t) => {
  const { api } = await service().account()
  const name = await makeMixed(api)
  const rrsets = await rrsetsOf(name)
  t.true(rrsets.length > 39)
  const { text } = await api.get(path(name))
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.is((await api.post('/domains/', { name, zonefile: text })).status, 201)
  t.deepEqual(await rrsetsOf(name), rrsets)
})

/** Another program that reads zones. */
interface Other {
  /** Its output for a zone transfer. */
  transfer: (server: Server, zone: string) => Promise<string>
  /** Its output for a zone file. */
  read: (file: string, zone: string) => Promise<string>
  /** Examples that it does not accept. */
  refuses: (type: string, text: string) => boolean
}

const lax = ['-i', 'none', ...['-k', '-m', '-n', '-r', '-M', '-S', '-T', '-W'].flatMap((check) => [check, 'ignore'])]

const others: Record<string, Other> = {
  BIND: {
    transfer,
    read: (file, zone) => output('named-compilezone', ...lax, '-j', '-q', '-s', 'full', '-o', '-', zone, file),
    // Fingerprints whose length does not fit their type, and substitutions with a group that the expression lacks.
    refuses: (type, text) =>
      (type === 'SSHFP' && /^\S+ [12] (?!(.{40}|.{64})$)/.test(text)) || (type === 'NAPTR' && text.includes('\\\\+')),
  },
  ldns: {
    transfer: ({ dnsHost, dnsPort }, zone) => output('drill', '-p', String(dnsPort), `@${dnsHost}`, 'AXFR', zone),
    read: (file) => output('ldns-read-zone', '-c', '-z', file),
    // CSYNC without types, and commas in ALPN ids, which it prints differently than it reads them.
    refuses: (type, text) => (type === 'CSYNC' && /^\d+ \d+$/.test(text)) || text.includes('\\\\,'),
  },
}

async function output(program: string, ...args: string[]): Promise<string> {
  return (await run(program, args, { maxBuffer: 2 ** 28 })).stdout
}

/** A record in one line, as both tools print it. */
const RECORD = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/

/** Types whose names are compressed in messages, which can change their case (RFC 4343 §4.1). */
const COMPRESSED = ['CNAME', 'MX', 'NS', 'PTR', 'SOA']

/** The records that it reads in a zone as text, sorted, without those of DNSSEC. */
async function readBy({ read }: Other, text: string, zone: string): Promise<string[]> {
  const file = join(newFolder(), 'zone')
  writeFileSync(file, text)
  const records = (await read(file, zone)).split('\n').flatMap((line) => {
    const [, name = '', ttl = '', type = '', content = ''] = RECORD.exec(line) ?? []
    if (/^($|DNSKEY|CDS|CDNSKEY|RRSIG|NSEC)/.test(type)) return []
    return [[name, ttl, type, COMPRESSED.includes(type) ? content.toLowerCase() : content].join(' ')]
  })
  return records.sort()
}

for (const [who, other] of Object.entries(others)) {
  test(`${who} reads the same records from an export and from a transfer`, async (t) => {
    const { api } = await service().account()
    const records = ALL.filter(([type, text]) => !other.refuses(type, text))
    const name = await makeMixed(api, records)
    const [ours, theirs] = await Promise.all([
      readBy(other, (await api.get(path(name))).text, name),
      readBy(other, await other.transfer(service().powerDns, name), name),
    ])
    // One more for the SOA and two for the apex NS records.
    t.is(ours.length, records.length + 3)
    t.deepEqual(ours, theirs)
  })
}

test('every example is read by at least one of the programs', (t) => {
  const unread = ALL.filter(([type, text]) => Object.values(others).every(({ refuses }) => refuses(type, text)))
  t.deepEqual(unread, [])
})
