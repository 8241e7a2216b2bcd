import { createHash } from 'node:crypto'
import { domainOf, newDomain } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

/** The octets of a DNSKEY record's data (RFC 4034 §2.1). */
function keyData(dnskey: string): Buffer {
  const [flags, protocol, algorithm, ...key] = dnskey.split(' ')
  const head = Buffer.from([Number(flags) >> 8, Number(flags) & 255, Number(protocol), Number(algorithm)])
  return Buffer.concat([head, Buffer.from(key.join(''), 'base64')])
}

/** RFC 4034, appendix B. */
function keyTag(data: Buffer): number {
  const sum = data.reduce((total, octet, i) => total + (i % 2 === 0 ? octet << 8 : octet), 0)
  return (sum + (sum >> 16)) & 0xffff
}

/** The contents of the DS records with SHA-256 and SHA-384 (RFC 4034 §5.1.4, RFC 4509, RFC 6605). */
function dsOf(name: string, dnskey: string): string[] {
  const data = keyData(dnskey)
  const owner = name.split('.').map((label) => Buffer.from(String.fromCharCode(label.length) + label))
  const signed = Buffer.concat([...owner, Buffer.from([0]), data])
  const digest = (algorithm: string) => createHash(algorithm).update(signed).digest('hex')
  return [`${keyTag(data)} 13 2 ${digest('sha256')}`, `${keyTag(data)} 13 4 ${digest('sha384')}`]
}

test('a domain has one generated ECDSA P-256 key', async (t) => {
  const { api } = await service().account()
  const { keys } = await domainOf(api, await newDomain(api))
  t.is(keys.length, 1)
  const { dnskey, flags, keytype, managed } = keys[0]!
  t.regex(dnskey, /^257 3 13 [A-Za-z0-9+/]{86}==$/)
  t.deepEqual({ flags, keytype, managed }, { flags: 257, keytype: 'csk', managed: true })
})

test('the DS records have digest types 2 and 4 of the DNSKEY, in this order, in lower-case hex', async (t) => {
  const { api } = await service().account()
  for (const name of [await newDomain(api), await newDomain(api, 'a-b_c.1.d2.xn--p1acf.keys.test')]) {
    const [key] = (await domainOf(api, name)).keys
    t.deepEqual(key!.ds, dsOf(name, key!.dnskey))
  }
})

test('the key in DNS is the one that the API shows', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const [key] = (await domainOf(api, name)).keys
  const spaceless = (lines: string[]) => lines.map((line) => line.replace(/ (?=\S+$)/, '').replaceAll(' ', ''))
  const contents = key!.dnskey.replaceAll(' ', '')
  t.deepEqual(spaceless(await lookUp(service().powerDns, name, 'DNSKEY')), [contents])
  t.deepEqual(spaceless(await lookUp(service().powerDns, name, 'CDNSKEY')), [contents])
  const cds = (await lookUp(service().powerDns, name, 'CDS')).map((line) => line.toLowerCase().replaceAll(' ', ''))
  t.deepEqual(
    cds,
    key!.ds.map((ds) => ds.replaceAll(' ', '')),
  )
})

test('every domain has its own key', async (t) => {
  const { api } = await service().account()
  const names = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const keys = await Promise.all(names.map(async (name) => (await domainOf(api, name)).keys[0]!.dnskey))
  t.is(new Set(keys).size, 3)
})
