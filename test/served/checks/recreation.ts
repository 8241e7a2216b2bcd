import type { ExecutionContext } from 'ava'
import { verifyTransfer } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import type { TestService } from '../../support/harness.ts'
import { Zone } from '../../support/dns/zone.ts'
import { query, servedSerial } from '../../support/dns/wire.ts'

/**
 * Creates, writes and deletes a domain `lives` times without a pause. In each life it gets so many writes that its
 * version runs ahead of the clock. DNS queries in between let PowerDNS cache answers, which must not outlive a life.
 */
export async function recreate(
  t: ExecutionContext,
  service: TestService,
  name: string,
  { lives, writes }: { lives: number; writes: number },
): Promise<void> {
  const { api } = await service.account()
  const keys = new Set<string>()
  let serial = 0
  let before: string[] = []
  for (let life = 1; life <= lives; life++) {
    const zone = await Zone.create(service, api, name)
    keys.add(zone.ds[0]!)
    t.is(keys.size, life, 'the key is new')
    t.true((await servedSerial(service.powerDns, name)) > serial, 'the serial grows')
    await zone.answers(t, [
      [zone.at(''), 'NS'],
      [zone.at('host'), 'A'],
      [zone.at(`host${life - 1}`), 'A'],
    ])
    for (const ds of zone.ds) {
      t.is(await validate(service.powerDns, name, [ds], name, 'NS'), 'fully validated')
    }
    await zone.validates(t, [
      [zone.at('host'), 'A'],
      [zone.at(`host${life - 1}`), 'A'],
    ])
    if (life > 1) t.is(await validate(service.powerDns, name, before, name, 'SOA'), 'failed: broken trust chain')
    before = zone.ds

    for (let i = 1; i <= writes; i++) await zone.put('host', 'A', [`192.0.2.${i}`])
    await zone.put(`host${life}`, 'A', ['192.0.2.1'])
    await zone.answers(t, [
      [zone.at('host'), 'A'],
      [zone.at(`host${life}`), 'A'],
      [zone.at('other'), 'A'],
    ])
    await zone.validates(t, [[zone.at('host'), 'A']])
    if (life === lives) await verifyTransfer(service.powerDns, name, zone.ds)
    serial = await servedSerial(service.powerDns, name)

    t.is((await zone.delete()).status, 204)
    for (const asked of [name, `host.${name}`]) {
      t.is((await query(service.powerDns, asked, 'A')).rcode, 'REFUSED')
    }
  }
}
