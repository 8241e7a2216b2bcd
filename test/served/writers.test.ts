import test from 'ava'
import { isConsistent } from '../support/dns/zone.ts'
import { useTwoProcesses } from './checks/two-processes.ts'
import { writeSideBySide } from './checks/writers.ts'

const { service, clients } = useTwoProcesses()

test.serial('16 writers on one zone lose no update', async (t) => {
  await writeSideBySide(t, service(), await clients(), ['one.test'], 160)
})

test.serial('16 writers on 16 zones lose no update', async (t) => {
  const names = Array.from({ length: 16 }, (_, i) => `z${i}.test`)
  await writeSideBySide(t, service(), await clients(), names, 160)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
