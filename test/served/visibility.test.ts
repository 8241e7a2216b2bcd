import test from 'ava'
import { currentTime, unixTime } from '../../src/time.ts'
import { query as sql } from '../../src/store/database.ts'
import { depth } from '../support/depth.ts'
import { useService } from '../support/harness.ts'
import { servedSerial } from '../support/dns/wire.ts'
import { isConsistent, Zone } from '../support/dns/zone.ts'
import { recreate } from './checks/recreation.ts'
import { domainsShowAtOnce, writesShowAtOnce } from './checks/visibility.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  await writesShowAtOnce(t, service(), 'seen.test', depth(40, 600))
})

test.serial('a new domain is served, and a deleted one no longer, when the response arrives', async (t) => {
  await domainsShowAtOnce(t, service(), 'parent.test', depth(8, 100))
})

test.serial('a deleted domain can be created again at once, each time with a new key', async (t) => {
  await recreate(t, service(), 'again.test', { lives: depth(4, 50), writes: depth(5, 8) })
})

test.serial('the serial of a domain created again grows, even if it was ahead of the clock', async (t) => {
  const { api } = await service().account()
  const first = await Zone.create(service(), api, 'ahead.test')
  const ahead = unixTime(currentTime()) + 3600
  await sql(service().system.db, `update domains set version = :ahead where name = 'ahead.test'`, { ahead })
  await first.put('host', 'A', ['192.0.2.1'])
  const serial = await servedSerial(service().powerDns, 'ahead.test')
  // The deletion has a version, too, in the domain's history.
  await first.delete()
  const second = await Zone.create(service(), api, 'ahead.test')
  t.is(await servedSerial(service().powerDns, 'ahead.test'), serial + 3)
  await second.put('host', 'A', ['192.0.2.2'])
  t.is(await servedSerial(service().powerDns, 'ahead.test'), serial + 4)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
