import { newDomain, newRRset, rrset as bodyOf, shared, succeeded } from '../support/clients/api.ts'
import { asked, keyFor, nsupdate, transferred } from '../support/clients/dns-update.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { entriesOf } from '../support/state/history.ts'

// Contract §21: DNS UPDATE with BIND's nsupdate and dig.

const service = useService({ DNS_UPDATE_PORT: '0' })
const account = shared(() => service().account({ limitDomains: null }))

async function newUpdater(...rrsets: Record<string, unknown>[]) {
  const { api, tokenId } = await account()
  const zone = await newDomain(api)
  for (const rrset of rrsets) await newRRset(api, zone, rrset)
  const key = await keyFor(api, tokenId)
  const port = service().updatePort!
  const update = async (...lines: string[]) => nsupdate({ port, key, zone }, ...lines)
  const shown = async () => {
    const { json } = await api.get(`/domains/${zone}/rrsets/`)
    const rows = json as { subname: string; type: string; ttl: number; records: string[] }[]
    return Object.fromEntries(
      rows
        .filter(({ type, subname }) => !(type === 'NS' && subname === ''))
        .map(({ subname, type, ttl, records }) => [`${subname} ${type}`, [ttl, ...records.toSorted()]]),
    )
  }
  return { api, zone, key, port, update, shown, tokenId }
}

test('an update adds, changes and removes records, as one write that is served', async (t) => {
  const { api, zone, update, shown, tokenId } = await newUpdater({ subname: 'old' })
  const before = (await entriesOf(api, zone)).length
  t.is(
    await update(
      `add www.${zone} 300 A 192.0.2.1`,
      `add www.${zone} 300 A 192.0.2.2`,
      `add mail.${zone} 600 MX 10 mx.example.net.`,
      `add t.${zone} 600 TXT "a b" "c"`,
      `delete old.${zone} A`,
    ),
    'NOERROR',
  )
  t.deepEqual(await shown(), {
    'www A': [300, '192.0.2.1', '192.0.2.2'],
    'mail MX': [600, '10 mx.example.net.'],
    't TXT': [600, '"a b" "c"'],
  })
  t.deepEqual((await lookUp(service().powerDns, `www.${zone}`, 'A')).toSorted(), ['192.0.2.1', '192.0.2.2'])
  const entries = await entriesOf(api, zone)
  t.is(entries.length, before + 1)
  t.like(entries[0], { source: 'update', count: 4 })
  t.like(entries[0]!.token, { id: tokenId })
})

test('without a zone, nsupdate asks for it, signed, and updates it', async (t) => {
  const { zone, key, port, shown } = await newUpdater()
  t.is(await nsupdate({ port, key }, `add www.new.${zone} 300 A 192.0.2.1`), 'NOERROR')
  t.is(await nsupdate({ port, key }, `add ${zone} 300 A 192.0.2.2`), 'NOERROR')
  t.deepEqual(Object.keys(await shown()).toSorted(), [' A', 'www.new A'])
})

test('all five prerequisites decide, and nothing is done if one does not hold', async (t) => {
  const { zone, update, shown } = await newUpdater({ subname: 'www', records: ['192.0.2.1', '192.0.2.2'] })
  const cases: [string[], string][] = [
    [[`yxdomain none.${zone}`], 'NXDOMAIN'],
    [[`nxdomain www.${zone}`], 'YXDOMAIN'],
    [[`yxrrset www.${zone} AAAA`], 'NXRRSET'],
    [[`nxrrset www.${zone} A`], 'YXRRSET'],
    [[`yxrrset www.${zone} A 192.0.2.2`, `yxrrset www.${zone} A 192.0.2.1`], 'NOERROR'],
    [[`nxdomain x\\.${zone}`], 'NOTZONE'],
    [[`nxdomain x\\\\.${zone}`], 'NOERROR'],
  ]
  for (const [position, [prerequisites, rcode]] of cases.entries()) {
    const name = `done-${position}`
    const lines = prerequisites.map((line) => `prereq ${line}`)
    t.is(await update(...lines, `add ${name}.${zone} 3600 A 192.0.2.9`), rcode, prerequisites.join())
    t.is(`${name} A` in (await shown()), rcode === 'NOERROR')
  }
})

test('what the API refuses is refused as a whole, and the log says why', async (t) => {
  const { zone, update, shown } = await newUpdater()
  const refused: [string, RegExp][] = [
    [`add www.${zone} 1 A 192.0.2.1`, /ttl: Ensure this value is greater than or equal to/],
    [`add www.${zone} 3600 CNAME a!b.example.`, /RRset www\..*IN CNAME.*invalid target/],
    [`add www.${zone} 3600 TYPE65280 \\# 1 00`, /Generic type format is not supported/],
    [`add www.${zone} 3600 DNSKEY 257 3 13 AAAA`, /RRset must have empty subname|malformed/],
  ]
  for (const [line, text] of refused) {
    t.is(await update(`add ok.${zone} 3600 A 192.0.2.1`, line), 'REFUSED', line)
    t.regex(service().logged().split('\n').at(-2)!, text)
  }
  t.deepEqual(await shown(), {})
})

test('a foreign and an absent zone are answered alike; a name within a domain stands for it', async (t) => {
  const { zone, key, port, shown } = await newUpdater()
  const foreign = await newDomain((await service().account()).api)
  for (const other of [foreign, `absent-${zone}`])
    t.is(await nsupdate({ port, key, zone: other }, `add www.${other} 3600 A 192.0.2.1`), 'NOTAUTH')
  t.is(await nsupdate({ port, key, zone: `sub.${zone}` }, `add www.sub.${zone} 3600 A 192.0.2.1`), 'NOERROR')
  t.is(await nsupdate({ port, key, zone }, `add www.${foreign} 3600 A 192.0.2.1`), 'NOTZONE')
  t.deepEqual(Object.keys(await shown()), ['www.sub A'])
})

test('all three algorithms, and TCP', async (t) => {
  const { zone, key, port, shown } = await newUpdater()
  for (const algorithm of ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'])
    t.is(
      await nsupdate({ port, key, zone, algorithm, tcp: true }, `add ${algorithm}.${zone} 3600 A 192.0.2.1`),
      'NOERROR',
    )
  t.is(Object.keys(await shown()).length, 3)
})

test('a question with a key gets the RRset that the API shows', async (t) => {
  const { zone, key, port } = await newUpdater(
    { subname: 'www', records: ['192.0.2.1', '192.0.2.2'] },
    { subname: 'alias', type: 'CNAME', records: ['x.example.'] },
    { subname: 'sub', type: 'NS', records: ['ns.example.'] },
  )
  const ask = async (name: string, type: string) => {
    const [code, ...records] = await asked({ port, key }, name, type)
    return [code, ...records.map((line) => line.replaceAll(`${zone}.`, 'ZONE').replace(/ SOA .*/, ' SOA'))]
  }
  const none = ['NOERROR', 'ZONE 300 IN SOA']
  const found = await ask(`www.${zone}`, 'A')
  t.deepEqual(found.toSorted(), ['NOERROR', 'www.ZONE 3600 IN A 192.0.2.1', 'www.ZONE 3600 IN A 192.0.2.2'])
  t.deepEqual(await ask(`alias.${zone}`, 'A'), ['NOERROR', 'alias.ZONE 3600 IN CNAME x.example.'])
  t.deepEqual(await ask(`sub.${zone}`, 'NS'), ['NOERROR', 'sub.ZONE 3600 IN NS ns.example.'])
  t.deepEqual(await ask(`www.${zone}`, 'AAAA'), none)
  t.deepEqual(await ask(`none.${zone}`, 'A'), none)
  t.deepEqual(await ask(`alias.${zone}`, 'SOA'), none)
  t.deepEqual(await ask(zone, 'SOA'), none)
  t.is((await ask(zone, 'NS')).length, 3)
  t.deepEqual(await ask(zone, 'NSEC'), ['REFUSED'])
  const foreign = await newDomain((await service().account()).api)
  t.deepEqual(await ask(foreign, 'A'), ['NOTAUTH'])
})

test('a transfer has the records that the API shows, between the SOA', async (t) => {
  const { zone, key, port } = await newUpdater({ subname: 'www' }, { subname: 't', type: 'TXT', records: ['"a b"'] })
  const lines = (await transferred({ port, key, zone })).map((line) => line.split(/\s+/))
  const types = lines.map(([name, , , type]) => `${name} ${type}`).toSorted()
  t.deepEqual(types, [`${zone}. NS`, `${zone}. NS`, `${zone}. SOA`, `t.${zone}. TXT`, `www.${zone}. A`].toSorted())
  t.regex((await transferred({ port, key, zone: `sub.${zone}` })).join('\n'), /Transfer failed/)
})

test('a transfer of a large zone has all of it, in several messages', async (t) => {
  const { api, zone, key, port } = await newUpdater()
  const rrsets = Array.from({ length: 2_000 }, (_, i) => bodyOf({ subname: `n${i}`, type: 'TXT', records: [`"${'x'.repeat(50)}"`] })) // prettier-ignore
  succeeded(await api.post(`/domains/${zone}/rrsets/`, rrsets), 201)
  const lines = await transferred({ port, key, zone })
  t.is(lines.filter((line) => line.includes('TXT')).length, 2_000)
})
