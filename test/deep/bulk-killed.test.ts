import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDomain, type ShownRRset, succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { type TestProcess, useServers } from '../support/harness.ts'

// The service or PowerDNS is killed during a write of 1,000 RRsets, at moments spread over the whole write.

const servers = useServers()
const SIZE = 1000
const KILLS = depth(6, 30)
let service: TestProcess
let domain: string
let address = 1
let took: number

const path = () => `/domains/${domain}/rrsets/`
const many = (last: number) =>
  Array.from({ length: SIZE }, (_, i) => ({ subname: `n${i}`, type: 'A', ttl: 60, records: [`192.0.2.${last}`] }))

test.serial.before('a zone is filled', async () => {
  service = await servers().start()
  domain = await newDomain(service.api)
  succeeded(await service.api.post(path(), many(address)), 201)
  const start = performance.now()
  succeeded(await service.api.put(path(), many(++address)), 200)
  took = performance.now() - start
})

for (let kill = 0; kill < KILLS; kill++) {
  const what = kill % 2 === 0 ? 'the service' : 'PowerDNS'
  test.serial(`if ${what} is killed during a bulk write, all or nothing is written: kill ${kill + 1}`, async (t) => {
    const write = service.api.put(path(), many(address + 1)).then(
      ({ status }) => status,
      () => undefined,
    )
    await sleep((took * (kill + 1)) / KILLS)
    if (what === 'the service') {
      await service.kill()
      service = await servers().start()
    } else {
      process.kill(servers().powerDns.pid, 'SIGKILL')
      await servers().restartPowerDns()
    }
    const status = await write
    t.true([200, 503, undefined].includes(status), String(status))
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    const { records } = succeeded(await service.api.get(`${path()}n0/A/`), 200).json as ShownRRset
    const now = Number(records[0]!.split('.')[3])
    if (status === 200) t.is(now, address + 1)
    else if (status === 503) t.is(now, address)
    else t.true(now === address || now === address + 1, String(now))
    for (const i of [1, 500, 999]) {
      const shown = succeeded(await service.api.get(`${path()}n${i}/A/`), 200).json as ShownRRset
      t.deepEqual(shown.records, records)
      t.deepEqual(await lookUp(servers().powerDns, `n${i}.${domain}`, 'A'), records)
    }
    address = now
  })
}
