import test from 'ava'
import { contentsAreServed } from '../served/checks/contents.ts'
import { recreate } from '../served/checks/recreation.ts'
import { useTwoProcesses } from '../served/checks/two-processes.ts'
import { domainsShowAtOnce, writesShowAtOnce } from '../served/checks/visibility.ts'
import { writeSideBySide } from '../served/checks/writers.ts'
import { isConsistent } from '../support/dns/zone.ts'

const { service, clients } = useTwoProcesses()
const LIMIT = 10 * 60_000

test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  t.timeout(LIMIT)
  await writesShowAtOnce(t, service(), 'seen.test', 600)
  await domainsShowAtOnce(t, service(), 'parent.test', 100)
})

test.serial('16 writers on one zone lose no update', async (t) => {
  t.timeout(LIMIT)
  await writeSideBySide(t, service(), await clients(), ['one.test'], 500)
})

test.serial('16 writers on 16 zones lose no update', async (t) => {
  t.timeout(LIMIT)
  const names = Array.from({ length: 16 }, (_, i) => `z${i}.test`)
  await writeSideBySide(t, service(), await clients(), names, 500)
})

test.serial('a deleted domain can be created again at once, each time with a new key', async (t) => {
  t.timeout(LIMIT)
  await recreate(t, service(), 'again.test', { lives: 50, writes: 8 })
})

test.serial('DNS serves, octet for octet, the records that the API shows', async (t) => {
  t.timeout(LIMIT)
  await contentsAreServed(t, service(), 'contents.no-random-name', 2000)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  t.timeout(LIMIT)
  await isConsistent(t, service())
})
