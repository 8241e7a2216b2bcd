import test from 'ava'
import { SMALL_ZONE } from '../../src/service/zone/rectification.ts'
import { newRRset, succeeded } from '../support/clients/api.ts'
import { commandsOn } from '../support/command-line.ts'
import { depth } from '../support/depth.ts'
import { transfer, verifyTransfer } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { isConsistent, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'
import { changeAtRandom } from './checks/sequences.ts'

// DENIAL=nsec: zones with NSEC, which PowerDNS needs not rectify for most names that appear or disappear.

const service = useService({ THROTTLE: 'off', DENIAL: 'nsec' })
const zoneplane = commandsOn(() => service().system)

test.serial('answers and denials of a small zone are correct and validate after every change', async (t) => {
  await changeAtRandom(t, service(), { zone: 'small.test', size: 0, steps: depth(20, 250), validated: 2 })
})

test.serial('the same holds for a large zone, which is rectified only when it must be', async (t) => {
  await changeAtRandom(t, service(), { zone: 'large.test', size: SMALL_ZONE + 20, steps: 24, validated: 2 })
})

test.serial('the same holds for a zone that grows and shrinks across the limit between small and large', async (t) => {
  await changeAtRandom(t, service(), {
    zone: 'between.test',
    size: SMALL_ZONE - 4,
    steps: depth(20, 150),
    validated: 2,
  })
})

for (const denial of ['nsec3', 'nsec'] as const) {
  test.serial(`set-denial makes a zone with names one with ${denial}, also of a large zone`, async (t) => {
    const { api } = await service().account()
    for (const [name, size] of [
      [`few-${denial}.test`, 3],
      [`many-${denial}.test`, SMALL_ZONE + 20],
    ] as const) {
      const zone = await Zone.create(service(), api, name)
      const names = Array.from({ length: size }, (_, i) => ({
        subname: `n${i}`,
        type: 'A',
        ttl: 60,
        records: ['192.0.2.1'],
      }))
      succeeded(await api.patch(`/domains/${name}/rrsets/`, names), 200)
      if (denial === 'nsec') await zoneplane('domain', 'set-denial', name, 'nsec3')
      t.deepEqual(await zoneplane('domain', 'set-denial', name, denial), [true, `${name}: ${denial}\n`])
      for (const subname of ['added', 'b.added']) await newRRset(api, name, { subname })
      succeeded(await api.delete(`/domains/${name}/rrsets/n1/A/`), 204)
      t.regex(await transfer(service().powerDns, name), denial === 'nsec' ? /\sNSEC\s/ : /\sNSEC3\s/)
      await verifyTransfer(service().powerDns, name, zone.ds)
      const verdict = (subname: string, type: string) =>
        validate(service().powerDns, name, zone.ds, zone.at(subname), type)
      t.is(await verdict('n0', 'A'), 'fully validated')
      for (const [subname, type] of [
        ['n1', 'A'],
        ['b.added', 'TXT'],
        ['no.such', 'A'],
      ] as const) {
        t.is(await verdict(subname, type), 'negative response, fully validated')
      }
    }
  })
}

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
