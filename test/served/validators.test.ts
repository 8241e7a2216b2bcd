import test from 'ava'
import { transfer, verifyByBind, verifyTransfer, verifyZone } from '../support/dns/dns.ts'
import { validateByBoth } from '../support/dns/validators.ts'
import { Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'
import { changeAtPowerDns } from '../support/state/behind-our-back.ts'

// The other tests rely on these validators (delv, unbound, ldns-verify-zone and dnssec-verify), so they must reject invalid data.

const service = useService({ THROTTLE: 'off' })
const ELSEWHERE = `1 13 2 ${'ab'.repeat(32)}`

async function signedZone(name: string): Promise<Zone> {
  const zone = await Zone.create(service(), (await service().account()).api, name)
  await zone.put('host', 'A', ['192.0.2.1'])
  await zone.put('*.wild', 'A', ['192.0.2.1'])
  return zone
}

async function ask(zone: Zone, name: string, type: string, ds = zone.ds): Promise<string> {
  return validateByBoth(service().powerDns, zone.name, ds, name, type)
}

/** Calls PowerDNS' API directly. */
async function powerDns(method: string, path: string, body?: object): Promise<void> {
  const { status, json } = await service().pdns(method, path, body)
  if (status >= 300) throw new Error(JSON.stringify(json))
}

test('answers and denials are fully validated with the DS of the zone’s key', async (t) => {
  const zone = await signedZone('good.test')
  await zone.put('alias', 'CNAME', ['absent.good.test.'])
  t.is(await ask(zone, 'host.good.test', 'A'), 'fully validated')
  t.is(await ask(zone, 'any.wild.good.test', 'A'), 'fully validated')
  t.is(await ask(zone, 'alias.good.test', 'A'), 'fully validated')
  t.is(await ask(zone, 'host.good.test', 'TXT'), 'negative response, fully validated')
  t.is(await ask(zone, 'absent.good.test', 'A'), 'negative response, fully validated')
})

test('with the DS of another key, or without DS, nothing is validated', async (t) => {
  const zone = await signedZone('strange.test')
  t.is(await ask(zone, 'host.strange.test', 'A', [ELSEWHERE]), 'failed: broken trust chain')
  t.is(await ask(zone, 'absent.strange.test', 'A', [ELSEWHERE]), 'failed: broken trust chain')
  t.regex(await ask(zone, 'host.strange.test', 'A', []), /^failed: /)
})

test('an unsigned zone is not validated', async (t) => {
  const soa = 'ns1.zoneplane.test. hostmaster.bare.test. 1 3600 600 1209600 3600'
  await powerDns('POST', '/zones', {
    name: 'bare.test.',
    kind: 'Native',
    nameservers: ['ns1.zoneplane.test.'],
    rrsets: [{ name: 'bare.test.', type: 'SOA', ttl: 60, records: [{ content: soa, disabled: false }] }],
  })
  for (const type of ['NS', 'A']) {
    t.regex(await validateByBoth(service().powerDns, 'bare.test', [ELSEWHERE], 'bare.test', type), /^failed: /)
  }
  await t.throwsAsync(verifyTransfer(service().powerDns, 'bare.test'))
  await powerDns('DELETE', '/zones/bare.test.')
})

test('answers below a delegation count as unsigned without DS, and are validated with it', async (t) => {
  const { api } = await service().account()
  const parent = await Zone.create(service(), api, 'parent.test')
  const child = await Zone.create(service(), api, 'child.parent.test')
  await parent.put('child', 'NS', ['ns1.zoneplane.test.'])
  t.is(await ask(parent, 'child.parent.test', 'NS'), 'unsigned answer')
  t.is(await ask(parent, 'absent.child.parent.test', 'A'), 'negative response, unsigned answer')
  await parent.put('child', 'DS', child.ds)
  t.is(await ask(parent, 'child.parent.test', 'NS'), 'fully validated')
  t.is(await ask(parent, 'absent.child.parent.test', 'A'), 'negative response, fully validated')
  await parent.put('child', 'DS', [ELSEWHERE])
  t.is(await ask(parent, 'child.parent.test', 'NS'), 'failed: broken trust chain')
})

test('a denial without its NSEC3 proof is not validated', async (t) => {
  const zone = await signedZone('proof.test')
  await powerDns('PUT', '/zones/proof.test.', { api_rectify: false })
  await changeAtPowerDns(service(), 'proof.test', ['new', 'A', 60, '192.0.2.1'])
  t.is(await ask(zone, 'new.proof.test', 'A'), 'fully validated')
  t.regex(await ask(zone, 'new.proof.test', 'TXT'), /^failed: /)
})

test('a name outside the server’s zones is not validated', async (t) => {
  const zone = await signedZone('own.test')
  t.is(await ask(zone, 'foreign.example', 'A'), 'failed: failure')
})

test('a transferred zone is rejected if a record is changed, missing or added', async (t) => {
  const zone = await signedZone('axfr.test')
  await zone.put('alias', 'CNAME', ['host.axfr.test.'])
  const text = await transfer(service().powerDns, 'axfr.test')
  await verifyZone(text, 'axfr.test', zone.ds)
  await verifyByBind(text, 'axfr.test')
  const line = (pattern: RegExp) => text.split('\n').find((row) => pattern.test(row))!
  const corrupted: [string, string][] = [
    ['an address', text.replace('192.0.2.1', '192.0.2.2')],
    ['a signature', text.replace(line(/^host.*RRSIG\sA\s/) + '\n', '')],
    ['a denial', text.replaceAll(new RegExp(`^${line(/IN\sNSEC3\s/).split('.')[0]!}.*\n`, 'gm'), '')],
    ['a name', text.replaceAll(/^alias\..*\n/gm, '')],
    ['an RRset too much', `${text}more.axfr.test. 60 IN A 192.0.2.1\n`],
    ['the key', text.replace(line(/IN\sDNSKEY\s/) + '\n', '')],
  ]
  for (const [what, other] of corrupted) {
    t.not(other, text, what)
    await t.throwsAsync(verifyZone(other, 'axfr.test'), undefined, what)
    await t.throwsAsync(verifyByBind(other, 'axfr.test'), undefined, what)
  }
})

test('a transferred zone is rejected if its key does not match the DS', async (t) => {
  await signedZone('key.test')
  await t.throwsAsync(verifyTransfer(service().powerDns, 'key.test', [ELSEWHERE]))
})

test('the verification of a zone fails if its transfer fails', async (t) => {
  await t.throwsAsync(verifyTransfer(service().powerDns, 'nowhere.test'), { message: 'no transfer of nowhere.test' })
})
